import { plural } from '#console/src/messages/format.ts';
import type { RunStatus, Step } from '#client/index.ts';

/** The states of runs and steps. */
export const states = {
  pending: 'Pending',
  running: 'Running',
  paused: 'Paused',
  success: 'Success',
  failed: 'Failed',
  rejected: 'Rejected',
  skipped: 'Skipped',
  cancelled: 'Cancelled',
  unrecorded: 'Unrecorded',
  overBudget: 'Stopped by budget',
  queued: 'Queued',
} as const satisfies Record<
  RunStatus | Step['status'] | 'rejected' | 'overBudget' | 'queued',
  string
>;

/** The label of a run that executes a draft. */
export const draft = 'Draft';

/** Of the items of a map or the iterations of a loop. */
export const failedCount = (failed: number) =>
  plural(failed, { one: '# failed', other: '# failed' });

/** The label of a run without effects. */
export const rehearsal = 'Rehearsal';

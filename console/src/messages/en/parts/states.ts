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
} as const satisfies Record<RunStatus | Step['status'] | 'rejected', string>;

/** The label of a run without effects. */
export const rehearsal = 'Rehearsal';

import { checkWait, openWait } from '#shared/operations/waits/open.ts';
import type { ControlActivities } from '#shared/execution.ts';
import { type ChildDeps, executionId } from './children.ts';

/** The local activities of steps that wait for a time or an event. */
export const createWaitActivities = ({
  db,
  frames,
}: Pick<ChildDeps, 'db' | 'frames'>): Pick<ControlActivities, 'openWait' | 'checkWait'> => ({
  openWait: async (call) => {
    const report = await openWait(db, { ...call, execution: executionId() });
    frames.wakeNow(call.run_id);
    return report;
  },
  checkWait: async (call) => {
    const report = await checkWait(db, { ...call, execution: executionId() });
    frames.wakeNow(call.run_id);
    return report;
  },
});

import { checkWait, openWait } from '#shared/operations/waits/open.ts';
import type { Woken } from '#shared/operations/waits/woken.ts';
import type { Config } from '#shared/platform/config.ts';
import type { ControlActivities } from '#shared/execution.ts';
import { type ChildDeps, executionId } from './children.ts';

/** The local activities of steps that wait for a time, an event or a callback. */
export const createWaitActivities = ({
  db,
  frames,
  config,
  metrics,
  woken,
}: Pick<ChildDeps, 'db' | 'frames' | 'metrics'> & {
  config: Pick<Config, 'alerts'>;
  woken: Woken;
}): Pick<ControlActivities, 'openWait' | 'checkWait'> => ({
  openWait: async (call) => {
    const { report, ended } = await openWait(db, { ...call, execution: executionId() });
    frames.wakeNow(call.run_id);
    if (ended !== undefined) metrics?.waited(ended);
    return report;
  },
  checkWait: async (call) => {
    const alerts = config.alerts.channels.length > 0;
    const look = await checkWait(db, { ...call, execution: executionId(), alerts });
    woken.read(call);
    frames.wakeNow(call.run_id);
    if (look.ended !== undefined) metrics?.waited(look.ended);
    return look.report;
  },
});

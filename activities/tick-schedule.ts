import { ApplicationFailure } from '@temporalio/activity';
import { messageOf } from '#shared/errors.ts';
import type { ScheduleActivities } from '#shared/execution.ts';
import type { RunDeps } from '#shared/operations/runs/runs.ts';
import { runTick } from '#shared/operations/schedules/ticks.ts';

/**
 * One tick of a schedule, as a local activity. It may run twice: after a crash between its commit and the completion of
 * the workflow task, it finds the run that it started.
 */
export function createTickSchedule(deps: RunDeps): ScheduleActivities['tickSchedule'] {
  return async (call) => {
    try {
      return await runTick(deps, call);
    } catch (error) {
      deps.log.warn({ err: error, scheduleId: call.schedule_id }, 'could not process a tick');
      // Without the cause: the history stores failures completely.
      throw ApplicationFailure.retryable(messageOf(error), 'TickFailed');
    }
  };
}

import { activityInfo, ApplicationFailure } from '@temporalio/activity';
import type { ControlActivities } from '../shared/execution.ts';
import { lookAtChild, startChild } from '../shared/operations/runs/children.ts';
import type { RunDeps } from '../shared/operations/runs/runs.ts';
import type { FrameNotifier } from './frame-notifier.ts';

/** The local activities of steps that wait for a run of their own. */
export function createChildActivities(
  deps: RunDeps & { frames: FrameNotifier },
): Pick<ControlActivities, 'startChild' | 'lookAtChild'> {
  return {
    startChild: async (call) => {
      const report = await startChild(deps, { ...call, execution: executionId() });
      deps.frames.wakeNow(call.run_id);
      return report;
    },
    lookAtChild: async (call) => {
      const report = await lookAtChild(deps, { ...call, execution: executionId() });
      deps.frames.wakeNow(call.run_id);
      return report;
    },
  };
}

/** The Temporal run id of the execution that calls the activity. */
export function executionId(): string {
  const { workflowExecution } = activityInfo();
  if (workflowExecution === undefined) {
    throw ApplicationFailure.nonRetryable('Only a workflow may call this activity');
  }
  return workflowExecution.runId;
}

import type { Pool } from '../shared/db/pool.ts';
import type { ControlActivities, StepActivities } from '../shared/execution.ts';
import type { Logger } from '../shared/platform/logger.ts';
import { createControlActivities } from './control.ts';
import { createExecuteNode, type StepMetrics } from './execute-node.ts';
import { createFrameNotifier } from './frame-notifier.ts';
import type { NodeRunners } from './nodes/runners.ts';
import { createPolicyCache } from './policies.ts';

export interface ActivityDeps {
  db: Pool;
  log: Logger;
  runners: NodeRunners;
  metrics?: StepMetrics;
}

export interface Activities {
  control: ControlActivities;
  steps: StepActivities;
  /** Sends what is still to be sent. */
  close(): Promise<void>;
}

/** Every activity of a worker, apart by task queue. */
export function createActivities(deps: ActivityDeps): Activities {
  const frames = createFrameNotifier(deps.db, deps.log);
  const policies = createPolicyCache(deps.db);
  return {
    control: createControlActivities({ db: deps.db, frames }),
    steps: { executeNode: createExecuteNode({ ...deps, frames, policies }) },
    close: () => frames.close(),
  };
}

import type {
  BackgroundActivities,
  DeliveryActivities,
  ScheduleActivities,
  ShortStepActivities,
  StepActivities,
} from '#shared/execution.ts';
import { createConnectionTokens } from '#shared/operations/connections/tokens.ts';
import type { DispatchDeps } from '#shared/operations/runs/executions.ts';
import { findRunnable } from '#shared/operations/runs/find-runnable.ts';
import type { Egress } from '#shared/platform/egress/egress.ts';
import type { Mailer } from '#shared/platform/mailer.ts';
import type { Sealer } from '#shared/crypto/sealing.ts';
import { createDeltaNotifier } from './agents/delta-notifier.ts';
import { createRecentCalls } from './agents/recent-calls.ts';
import { currentAttempt } from './attempt.ts';
import { createControlActivities, type WorkerControlActivities } from './control.ts';
import { createJobActivities } from './background/jobs.ts';
import { createDeliverAlert } from './background/deliver-alert.ts';
import { createAttemptDelivery } from './deliver-webhook.ts';
import { createExecuteNode } from './execute-node.ts';
import type { StepMetrics } from './step-context.ts';
import { createFrameNotifier } from './frame-notifier.ts';
import type { NodeRunners } from './nodes/node-runners.ts';
import { createPolicyCache } from './policies.ts';
import { createExecuteShortStep } from './short-step.ts';
import { type StepShares, withinShare } from './step-shares.ts';
import type { Woken } from '#shared/operations/waits/woken.ts';
import { createAddresses } from './step-secrets.ts';
import { createSweepRetention } from './background/sweep-retention.ts';
import { createTickSchedule } from './tick-schedule.ts';

export interface ActivityDeps extends DispatchDeps {
  runners: NodeRunners;
  egress: Egress;
  mailer: Mailer | undefined;
  sealer: Sealer | undefined;
  shares: StepShares;
  woken: Woken;
  metrics?: StepMetrics;
}

export interface Activities {
  control: WorkerControlActivities & ScheduleActivities & ShortStepActivities & StepActivities;
  overflow: StepActivities;
  background: BackgroundActivities;
  deliveries: DeliveryActivities;
  /** Sends pending notifications. */
  close(): Promise<void>;
}

/** All activities of a worker, by task queue. */
export function createActivities(deps: ActivityDeps): Activities {
  const frames = createFrameNotifier(deps.db, deps.log);
  const deltas = createDeltaNotifier(deps.db, deps.log);
  const policies = createPolicyCache(deps.db);
  const connectionTokens = createConnectionTokens({
    ...deps,
    publicUrl: deps.config.api.publicUrl,
  });
  const execute = createExecuteNode({
    ...deps,
    frames,
    deltas,
    policies,
    addressOf: createAddresses(deps.config),
    connectionTokens,
    recentCalls: createRecentCalls(),
  });
  const executeNode: StepActivities['executeNode'] = (call) =>
    execute(call, currentAttempt(call.costly === true ? 'thread' : 'here-first'));
  const steps = {
    executeNode: withinShare(deps.shares, executeNode),
  };
  return {
    control: {
      ...steps,
      ...createControlActivities({
        ...deps,
        frames,
        policies,
        findRunnable,
        publicUrl: deps.config.api.publicUrl,
      }),
      tickSchedule: createTickSchedule({ ...deps, findRunnable }),
      executeShortStep: createExecuteShortStep(execute, deps.log),
    },
    overflow: { executeNode },
    background: {
      deliverAlert: createDeliverAlert({ ...deps, connectionTokens }),
      sweepRetention: createSweepRetention(deps),
      ...createJobActivities({ ...deps, findRunnable }),
    },
    deliveries: { attemptDelivery: createAttemptDelivery(deps) },
    close: async () => {
      await Promise.all([frames.close(), deltas.close()]);
    },
  };
}

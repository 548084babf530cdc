import {
  type ActivitySlotInfo,
  type FixedSizeSlotSupplier,
  NativeConnection,
  type SlotSupplier,
  type TunerHolder,
  Worker,
  type WorkerOptions,
  type WorkflowBundleOption,
} from '@temporalio/worker';
import { type Activities, createActivities } from '#activities/index.ts';
import { createNodeRunners } from '#activities/nodes/runners.ts';
import { createStepShares, type StepShares } from '#activities/step-shares.ts';
import type { Pool } from '#shared/db/pool.ts';
import type { WorkerMetrics } from './metrics.ts';
import { requireActivities } from './required-activities.ts';
import { startBookkeeping } from '#shared/operations/bookkeeping.ts';
import { startDeliveryDispatch } from '#shared/operations/webhooks/delivery-dispatch.ts';
import { startJobWatch } from '#shared/operations/jobs/dispatch.ts';
import type { EventName } from '#shared/db/waits/awaited-events.ts';
import { compareChanges, compareSoon } from '#shared/operations/events/events.ts';
import { startEventCancels } from '#shared/operations/events/cancels.ts';
import { startEventStarts } from '#shared/operations/events/starts.ts';
import { findRunnable } from '#shared/operations/runs/find-runnable.ts';
import { releaseDueRuns } from '#shared/operations/gates/due-gates.ts';
import { startChildStarts, startReconciler } from '#shared/operations/runs/reconcile.ts';
import { startQueues } from '#shared/operations/limits/queues.ts';
import { startMatching } from '#shared/operations/waits/matching.ts';
import { startWakes } from '#shared/operations/waits/wakes.ts';
import { createWoken, type Woken } from '#shared/operations/waits/woken.ts';
import { startScheduleSync } from '#shared/operations/schedules/sync.ts';
import type { Config } from '#shared/platform/config.ts';
import { createEgress } from '#shared/platform/egress/egress.ts';
import type { ServiceAddress } from '#shared/platform/egress/own.ts';
import { ownServices } from '#shared/platform/egress/own-services.ts';
import type { Logger } from '#shared/platform/logger.ts';
import { createMailer } from '#shared/platform/mailer.ts';
import { createSealer } from '#shared/crypto/sealing.ts';
import { connectOptions, dataConverter, type TemporalLink } from '#shared/platform/temporal.ts';
import { watchWorkflowThreads } from './workflow-threads.ts';

export interface WorkerDeps {
  config: Config;
  db: Pool;
  log: Logger;
  temporal: TemporalLink;
  bundle: WorkflowBundleOption;
  metrics?: WorkerMetrics;
  /** Servers of this process that are not in the configuration, and that steps must not call. */
  ownServices?: readonly ServiceAddress[];
}

export interface RunningWorker {
  /** Rejects when a worker fails permanently. The process should then end and be restarted. */
  finished: Promise<void>;
  /**
   * Stops polling, lets steps in progress end for up to `SHUTDOWN_GRACE_SECONDS`, then hands them over, and closes its
   * connections.
   */
  stop(): Promise<void>;
}

/**
 * When a stop is requested, alerts, sweeps and jobs hand over: another worker continues them without repeating much.
 */
const BACKGROUND_GRACE_MS = 1_000;
/** The time from cancelling what is still running until the worker abandons it. */
const HAND_OVER_MS = 2_000;
/** Workflow tasks that are being computed or wait for their local activities. */
const WORKFLOW_TASK_SLOTS = 100;
const STEP_POLLERS = { type: 'autoscaling', minimum: 2, initial: 5, maximum: 20 } as const;
/** The minimum interval between two heartbeats of a step to the server. */
const HEARTBEAT_THROTTLE_MS = 2_000;
/** Slots of the overflow queue that do not depend on how busy the machine is. */
const OVERFLOW_MINIMUM = 5;
/** Alerts only wait for the network; a receiver that hangs occupies a slot for half a minute. */
const BACKGROUND_SLOTS = 50;
/** Like `BACKGROUND_SLOTS`, for deliveries. An endpoint uses at most its own slots of these. */
const DELIVERY_SLOTS = 400;

/** The workers' activities, and what they share in this process. */
function prepareActivities(deps: WorkerDeps, shared: { shares: StepShares; woken: Woken }) {
  const { config, db, log, temporal } = deps;
  const egress = createEgress({
    allow: config.egressAllow,
    own: [...ownServices(config), ...(deps.ownServices ?? [])],
  });
  const mailer = createMailer(config.email, egress);
  const onEvent = (name: EventName) =>
    compareSoon({ db, temporal, log, config, findRunnable }, name);
  const activities = createActivities({
    db,
    log,
    temporal,
    config,
    egress,
    mailer,
    sealer: createSealer(config),
    ...shared,
    metrics: deps.metrics?.steps,
    queueWaited: deps.metrics?.queueWaited,
    runners: createNodeRunners({
      ...{ db, config, egress, mailer, onEvent },
      onChange: (workspaceId) => compareChanges({ db, log, onEvent }, workspaceId),
    }),
  });
  return { activities, egress, mailer };
}

/**
 * Workflow tasks, bookkeeping as local activities, and steps. While there are free slots, a workflow task that
 * schedules steps gets them in the response to its completion, without a dispatch, which costs the server as much as
 * the step.
 */
function controlOptions({ config, bundle }: WorkerDeps): Partial<WorkerOptions> {
  return {
    workflowBundle: bundle,
    maxCachedWorkflows: config.worker.maxCachedWorkflows,
    // If a run is evicted from the cache while its workflow task waits for local activities, it loses them, and the
    // task times out. The oldest runs are evicted first: with twice the size, those are not waiting.
    maxConcurrentWorkflowTaskExecutions: Math.min(
      WORKFLOW_TASK_SLOTS,
      Math.floor(config.worker.maxCachedWorkflows / 2),
    ),
    maxConcurrentLocalActivityExecutions: 100,
    workflowTaskPollerBehavior: { type: 'autoscaling', minimum: 2, initial: 5, maximum: 20 },
    maxConcurrentActivityTaskExecutions: config.worker.maxConcurrentSteps,
    activityTaskPollerBehavior: STEP_POLLERS,
    maxHeartbeatThrottleInterval: HEARTBEAT_THROTTLE_MS,
    // The runs of a killed worker wait this long for it before another worker takes them. The default is 10 s.
    stickyQueueScheduleToStartTimeout: '2s',
  };
}

type Slots = SlotSupplier<ActivitySlotInfo>;

const fixed = (numSlots: number): FixedSizeSlotSupplier => ({ type: 'fixed-size', numSlots });

/**
 * Beyond a few, slots are only used while the machine, or the container, has processor time and memory to spare, so
 * that what one workspace uses beyond its share hardly slows down the runs of others.
 */
const whileIdle = (most: number): Slots => ({
  type: 'resource-based',
  tunerOptions: { targetCpuUsage: 0.6, targetMemoryUsage: 0.9 },
  minimumSlots: Math.min(OVERFLOW_MINIMUM, most),
  maximumSlots: most,
  rampThrottle: '20ms',
});

/** For a worker that only executes activities. The type requires the other slots, but they are unused. */
const activityTuner = (slots: Slots): TunerHolder => ({
  activityTaskSlotSupplier: slots,
  workflowTaskSlotSupplier: fixed(1),
  localActivityTaskSlotSupplier: fixed(1),
  nexusTaskSlotSupplier: fixed(1),
});

/**
 * A worker that is being stopped takes no new tasks, lets its current ones end for this long, and then cancels them.
 */
const stopTimes = (graceMs: number): Partial<WorkerOptions> => ({
  shutdownGraceTime: graceMs,
  shutdownForceTime: graceMs + HAND_OVER_MS,
});

/** The workers, one per task queue, not yet running. */
async function createWorkers(
  deps: WorkerDeps,
  connection: NativeConnection,
  activities: Activities,
): Promise<Worker[]> {
  const { config, db, temporal } = deps;
  requireActivities(activities);
  const shared = {
    connection,
    namespace: connectOptions(config).namespace,
    dataConverter: dataConverter(db),
    ...stopTimes(config.worker.shutdownGraceMs),
  };
  const { maxConcurrentSteps } = config.worker;
  const forActivities = (
    queue: 'overflow' | 'background' | 'deliveries',
    slots: Slots,
    pollers: { minimum: number; initial: number; maximum: number },
    graceMs = config.worker.shutdownGraceMs,
  ): Promise<Worker> =>
    Worker.create({
      ...shared,
      ...stopTimes(graceMs),
      taskQueue: temporal.queues[queue],
      activities: { ...activities[queue] },
      tuner: activityTuner(slots),
      activityTaskPollerBehavior: { type: 'autoscaling', ...pollers },
      maxHeartbeatThrottleInterval: HEARTBEAT_THROTTLE_MS,
    });
  return [
    await Worker.create({
      ...shared,
      ...controlOptions(deps),
      taskQueue: temporal.queues.control,
      activities: { ...activities.control },
    }),
    await forActivities('overflow', whileIdle(maxConcurrentSteps), {
      minimum: 1,
      initial: 1,
      maximum: 20,
    }),
    await forActivities(
      'background',
      fixed(BACKGROUND_SLOTS),
      { minimum: 1, initial: 1, maximum: 5 },
      BACKGROUND_GRACE_MS,
    ),
    await forActivities('deliveries', fixed(DELIVERY_SLOTS), {
      minimum: 1,
      initial: 2,
      maximum: 10,
    }),
  ];
}

/**
 * The workers of a process: control (workflow tasks, bookkeeping, steps), overflow (further steps), background (alerts,
 * sweeps, jobs) and deliveries (webhooks of the data API). The process also runs the reconciler, the starts of
 * children, the audit log's sealer, the usage rollup, the schedule sync, the invitation mailer, the delivery dispatcher,
 * the watch of jobs, the queues of limits, the matching of events, and the starts and cancels by them. The workers are separate, so that an alert whose receiver hangs uses no slot of a step.
 * Workflow tasks, local activities and steps have separate slots in any case, so gates open and runs end immediately,
 * even with many slow steps.
 */
export async function createWorker(deps: WorkerDeps): Promise<RunningWorker> {
  const { config, db, log, temporal } = deps;
  const stuck = watchWorkflowThreads();
  const connection = await NativeConnection.connect(connectOptions(config).connection);
  const shares = createStepShares(config.worker.maxConcurrentSteps);
  const woken = createWoken();
  const { activities, egress, mailer } = prepareActivities(deps, { shares, woken });
  const workers = await createWorkers(deps, connection, activities);
  const reconciler = startReconciler({ db, temporal, log, config }, deps.metrics?.reconciler);
  const starts = startChildStarts({ db, temporal, log, config });
  const bookkeeping = startBookkeeping({ db, config, log, mailer });
  const scheduleSync = startScheduleSync({ db, temporal, log, config });
  const dispatch = startDeliveryDispatch({ db, temporal, log, config });
  const queues = startQueues({
    ...{ db, temporal, log, config },
    queueWaited: deps.metrics?.queueWaited,
  });
  const jobs = startJobWatch({ db, temporal, log, config });
  const wakes = startWakes({ db, temporal, log, config, shares, woken });
  const matching = startMatching({ db, temporal, log, config, findRunnable });
  const eventStarts = startEventStarts({ db, temporal, log, config, findRunnable });
  const eventCancels = startEventCancels({ db, temporal, log, config });
  const ended = Promise.all(workers.map((worker) => worker.run())).then(() => undefined);
  const finished = Promise.race([ended, stuck]);
  const released = releaseDueRuns({ db, temporal, log });
  let stopping: Promise<void> | undefined;
  const stop = async (): Promise<void> => {
    for (const worker of workers) if (worker.getState() === 'RUNNING') worker.shutdown();
    const loops = [
      reconciler,
      starts,
      bookkeeping,
      scheduleSync,
      dispatch,
      queues,
      jobs,
      wakes,
      matching,
      eventStarts,
      eventCancels,
    ];
    await Promise.allSettled([finished, released, ...loops.map((loop) => loop.stop())]);
    await activities.close();
    await connection.close();
    await egress.close();
  };
  return { finished, stop: () => (stopping ??= stop()) };
}

import { isDeepStrictEqual } from 'node:util';
import {
  ScheduleAlreadyRunning,
  type ScheduleDescription,
  type ScheduleOptions,
  ScheduleOverlapPolicy,
} from '@temporalio/client';
import { SWEEP_WORKFLOW, type SweepInput } from '#shared/execution.ts';
import type { Logger } from '#shared/platform/logger.ts';
import type { TemporalLink } from '#shared/platform/temporal.ts';

/** One per installation. Several installations can share a namespace, but not the names of their task queues. */
export const sweepScheduleId = (taskQueuePrefix: string): string =>
  `${taskQueuePrefix}-retention-sweep`;

/**
 * Ensures that the sweep is scheduled every 24 hours in the version of this build, and triggers one now. Any number of
 * workers can do this concurrently: there is one schedule, and it skips while a sweep is in progress.
 */
async function scheduleSweep(link: TemporalLink, taskQueuePrefix: string): Promise<void> {
  const { schedule: client } = link.client;
  const scheduleId = sweepScheduleId(taskQueuePrefix);
  const wanted = scheduleOptions(link, scheduleId);
  const handle = client.getHandle(scheduleId);
  try {
    await link.withTimeout(() => client.create({ ...wanted, scheduleId }));
  } catch (error) {
    if (!(error instanceof ScheduleAlreadyRunning)) throw error;
    const current = await link.withTimeout(() => handle.describe());
    // An update writes the state that was read, so a pause by an operator between the two would be lost.
    if (!isDeepStrictEqual(settingsOf(current), settingsOf(wanted))) {
      await link.withTimeout(() => handle.update(({ state }) => ({ ...wanted, state })));
    }
  }
  await link.withTimeout(() => handle.trigger(ScheduleOverlapPolicy.SKIP));
}

const DAY_MS = 86_400_000;
const MINUTE_MS = 60_000;

type SweepOptions = ReturnType<typeof scheduleOptions>;

/** The settings of the schedule that a build can change. */
const settingsOf = ({ spec, policies, action }: ScheduleDescription | SweepOptions) => ({
  every: spec.intervals?.map(({ every }) => every),
  overlap: policies.overlap,
  catchupWindow: policies.catchupWindow,
  workflowType: action.workflowType,
  taskQueue: action.taskQueue,
  args: action.args,
});

function scheduleOptions(link: TemporalLink, scheduleId: string) {
  const input: SweepInput = { task_queue: link.queues.background };
  return {
    spec: { intervals: [{ every: DAY_MS }] },
    policies: {
      overlap: ScheduleOverlapPolicy.SKIP,
      // The start of a worker triggers a sweep anyway, so there is nothing to catch up on.
      catchupWindow: MINUTE_MS,
    },
    action: {
      type: 'startWorkflow',
      workflowType: SWEEP_WORKFLOW,
      workflowId: scheduleId,
      taskQueue: link.queues.control,
      args: [input],
    },
  } satisfies Omit<ScheduleOptions, 'scheduleId'>;
}

export interface SweepSchedule {
  /** Resolves when the current attempt, if any, has ended. */
  stop(): Promise<void>;
}

const MAX_PAUSE_MS = MINUTE_MS;

/** Schedules the sweep in the background, and retries until it succeeds. No run has to wait for it. */
export function startSweepSchedule(
  link: TemporalLink,
  taskQueuePrefix: string,
  log: Logger,
): SweepSchedule {
  let stopped = false;
  let wake: () => void = () => undefined;
  const loop = async (): Promise<void> => {
    for (let pauseMs = 500; !stopped; pauseMs = Math.min(pauseMs * 2, MAX_PAUSE_MS)) {
      try {
        await scheduleSweep(link, taskQueuePrefix);
        return;
      } catch (error) {
        log.warn({ err: error }, 'could not schedule the retention sweep; will try again');
      }
      await new Promise<void>((resolve) => {
        const timer = setTimeout(resolve, pauseMs);
        wake = () => {
          clearTimeout(timer);
          resolve();
        };
        if (stopped) wake();
      });
    }
  };
  const running = loop();
  return {
    stop: async () => {
      stopped = true;
      wake();
      await running;
    },
  };
}

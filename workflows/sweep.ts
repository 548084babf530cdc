import {
  ApplicationFailure,
  continueAsNew,
  proxyActivities,
  sleep,
  workflowInfo,
} from '@temporalio/workflow';
import type { BackgroundActivities, SweepInput } from '#shared/execution.ts';
import type { SweepPart, SweepProgress, SweepTotals } from '#shared/values/sweep.ts';
import { hasFields, isAmount, isText, optional, requireInput } from './received.ts';

const inputFields = {
  task_queue: isText,
  progress: optional(
    hasFields({
      done: hasFields({ cancelled: isAmount, runs: isAmount, audit: isAmount, payloads: isAmount }),
      waiting: isAmount,
      failed: isAmount,
      waits: isAmount,
      after: optional(isText),
    }),
  ),
};

/**
 * The maximum number of further iterations for runs whose executions are about to end. The rest waits for the next
 * sweep.
 */
const MAX_WAITS = 6;
const WAIT = '10s';

/**
 * One retention sweep. Each activity call works for a bounded time and returns where the next one continues, so that a
 * first sweep over years of runs takes many short calls.
 */
export async function sweep(input: SweepInput): Promise<SweepTotals> {
  requireInput('sweep', inputFields, input);
  const { sweepRetention } = proxyActivities<Pick<BackgroundActivities, 'sweepRetention'>>({
    taskQueue: input.task_queue,
    startToCloseTimeout: '10 minutes',
    heartbeatTimeout: '15s',
    retry: {
      initialInterval: '1s',
      backoffCoefficient: 2,
      maximumInterval: '1 minute',
      maximumAttempts: 10,
    },
  });
  let progress: SweepProgress = input.progress ?? {
    done: NOTHING,
    waiting: 0,
    failed: 0,
    waits: 0,
  };
  for (;;) {
    const part: SweepPart = await sweepRetention(
      progress.after === undefined ? {} : { after: progress.after },
    );
    progress = add(progress, part);
    if (part.after === undefined) {
      const { done, waiting, failed, waits } = progress;
      if (waiting === 0 && failed === 0) return done;
      if (waits === MAX_WAITS) {
        if (failed === 0) return done;
        throw ApplicationFailure.nonRetryable(
          `${failed} workspaces could not be swept`,
          'SweepIncomplete',
          done,
        );
      }
      await sleep(WAIT);
      progress = { done, waiting: 0, failed: 0, waits: waits + 1 };
    }
    if (workflowInfo().continueAsNewSuggested) {
      return continueAsNew<typeof sweep>({ task_queue: input.task_queue, progress });
    }
  }
}

const NOTHING: SweepTotals = { cancelled: 0, runs: 0, audit: 0, payloads: 0 };

function add({ done, waiting, failed, waits }: SweepProgress, part: SweepPart): SweepProgress {
  return {
    done: {
      cancelled: done.cancelled + part.cancelled,
      runs: done.runs + part.runs,
      audit: done.audit + part.audit,
      payloads: done.payloads + part.payloads,
    },
    waiting: waiting + part.waiting,
    failed: failed + part.failed,
    waits,
    ...(part.after === undefined ? {} : { after: part.after }),
  };
}

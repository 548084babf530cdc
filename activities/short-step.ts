import { ApplicationFailure, CancelledFailure } from '@temporalio/activity';
import { ApplicationFailureCategory } from '@temporalio/common';
import { messageOf } from '../shared/errors.ts';
import {
  FAILURE_MOVES,
  type ShortStepActivities,
  SHORT_ATTEMPT_MS,
  type StepCall,
  type WorkedSpan,
} from '../shared/execution.ts';
import type { Json } from '../shared/json.ts';
import { CostlyError } from '../shared/platform/threads/untrusted.ts';
import { type Attempt, shortAttempt } from './attempt.ts';
import { createShortLane } from './short-lane.ts';

/**
 * Runs an attempt in the short lane once it has a slot. Fails permanently when the step does; every other failure
 * becomes FAILURE_MOVES, with a MoveToLongLane for the workflow.
 */
export function createExecuteShortStep(
  execute: (call: StepCall, attempt: Attempt) => Promise<Json>,
): ShortStepActivities['executeShortStep'] {
  const lane = createShortLane();
  return async (call) => {
    const { workspace_id: workspaceId, step_key } = call;
    const started_ms = Date.now();
    const span = (): WorkedSpan => ({ started_ms, ended_ms: Date.now() });
    const { attempt, clear } = shortAttempt(SHORT_ATTEMPT_MS);
    let leave: (() => void) | undefined;
    try {
      leave = await lane.enter(workspaceId, attempt.signal);
      if (leave === undefined) {
        throw moves('The short lane has no room for more steps of this workspace', span());
      }
      return { step_key, output: await execute(call, attempt), ...span() };
    } catch (error) {
      if (error instanceof CancelledFailure) throw error;
      if (error instanceof ApplicationFailure && error.nonRetryable === true) throw error;
      throw moves(messageOf(error), span(), error);
    } finally {
      clear();
      leave?.();
    }
  };
}

/** Benign: the step continues, so this failure is not logged. */
function moves(message: string, span: WorkedSpan, cause?: unknown): ApplicationFailure {
  // In milliseconds, as executeNode sets it.
  const delay: unknown = cause instanceof ApplicationFailure ? cause.nextRetryDelay : undefined;
  return ApplicationFailure.create({
    message,
    type: FAILURE_MOVES,
    nonRetryable: true,
    details: [
      {
        ...span,
        delay_ms: typeof delay === 'number' ? delay : 0,
        costly: cause instanceof CostlyError,
      },
    ],
    category: ApplicationFailureCategory.BENIGN,
    ...(cause instanceof Error ? { cause } : {}),
  });
}

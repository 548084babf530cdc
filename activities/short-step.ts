import { ApplicationFailure, CancelledFailure } from '@temporalio/activity';
import { ApplicationFailureCategory } from '@temporalio/common';
import { messageOf } from '#shared/errors.ts';
import {
  FAILURE_MOVES,
  type ShortStepActivities,
  SHORT_ATTEMPT_MS,
  type StepCall,
  type WorkedSpan,
} from '#shared/execution.ts';
import type { Json } from '#shared/json.ts';
import type { Logger } from '#shared/platform/logger.ts';
import { CostlyError } from '#shared/platform/threads/untrusted.ts';
import { type Attempt, shortAttempt } from './attempt.ts';
import { createShortLane } from './short-lane.ts';

/**
 * Runs an attempt in the short lane once it has a slot. Fails permanently when the step does; every other failure
 * becomes FAILURE_MOVES, with a MoveToLongLane for the workflow. An attempt that is late moves even if its node ignores
 * the signal: the server then counts the attempt as lost, and the next one finds or awaits its result in the ledger.
 */
export function createExecuteShortStep(
  execute: (call: StepCall, attempt: Attempt) => Promise<Json>,
  log: Logger,
): ShortStepActivities['executeShortStep'] {
  const lane = createShortLane();
  const warned = new Set<string>();
  // Logged once per tool, since all its steps can be late, for example when a database is slow.
  const warnLate = ({ node, run_id: runId, step_key: stepKey }: StepCall): void => {
    const tool = node.kind === 'tool' ? node.tool_name : node.kind;
    if (warned.has(tool)) return;
    warned.add(tool);
    log.warn(
      { tool, runId, stepKey },
      `a short step took longer than ${SHORT_ATTEMPT_MS} ms; it continues in the long lane`,
    );
  };
  return async (call) => {
    const { workspace_id: workspaceId, step_key } = call;
    const started_ms = Date.now();
    const span = (): WorkedSpan => ({ started_ms, ended_ms: Date.now() });
    let leave: (() => void) | undefined;
    const { attempt, clear } = shortAttempt(SHORT_ATTEMPT_MS, () => {
      if (leave !== undefined) warnLate(call);
    });
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

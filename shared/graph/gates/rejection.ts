import type { CaughtError } from '#shared/graph/caught-error.ts';
import type { GateDecision } from './gate-decision.ts';

/**
 * The error of a gate, or of a step that was not approved, as its error edges see it. Texts contain it as JSON, so its
 * fields always have this order.
 */
export function refusal(
  label: string,
  { timed_out, reason, round }: Pick<GateDecision, 'timed_out' | 'reason' | 'round'>,
): CaughtError {
  return timed_out === 'fail'
    ? { message: timeoutError(reason), kind: 'timeout', attempts: round }
    : { message: rejectionError(label, reason), kind: 'rejected', attempts: round };
}

/** The error of a rejection that fails a run. */
export const rejectionError = (label: string, reason: string | undefined): string =>
  `Rejected at gate '${label}'${reason === undefined ? '' : `: ${reason}`}`;

/** The result of a rejected call, for the model. `by` null: a key without a member. */
export const rejectedCall = (by: string | null, reason: string | null | undefined): string =>
  `Rejected by ${by ?? 'an API key'}${reason ? `: ${reason}` : ''}`;

/** The reason of a decision made by the deadline. */
export const timeoutReason = (seconds: number): string =>
  `no decision within ${seconds} ${seconds === 1 ? 'second' : 'seconds'}`;

/** The error of a gate that fails at its deadline, for this reason. */
export const timeoutError = (reason: string | undefined): string =>
  reason === undefined ? 'Timed out' : `Timed out: ${reason}`;

/** Why a call is not made despite its approval. The model reads it, and can call again. */
export const outdatedApproval = (tool = ''): string =>
  `The approval of the call of '${tool}' no longer fits: the tool has changed since. Call it again to be asked again`;

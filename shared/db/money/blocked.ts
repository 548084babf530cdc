import { z } from 'zod';
import type { PolicyVerdict } from '#shared/contract/policies/governance.ts';
import { AppError } from '#shared/errors.ts';
import type { JsonObject } from '#shared/json.ts';
import { toDollars, usd } from '#shared/money/money.ts';
import { refusalOf } from '#shared/db/pool.ts';

/** Why a run cannot start or continue because of a cap or a budget. */
export interface Blocked {
  /** Null: the run's own cap. */
  budgetId: string | null;
  name: string | null;
  committedMicros: number;
  limitMicros: number;
  /** The hold that the run would need. Only set for a run that has not started. */
  estimateMicros?: number | null;
  /** The possible cost of the step that does not fit. */
  requestMicros?: number;
  /** For the budget of an experiment: the step's possible cost, null if unknown. */
  experiment?: { most: number | null };
}

/**
 * The message for the caller or the failed run. When the limit is not yet reached, the message includes what does not
 * fit: the run's estimate, or the possible cost of its next request.
 */
export function blockedText(blocked: Blocked): string {
  const { name, committedMicros, limitMicros, estimateMicros, requestMicros } = blocked;
  const amounts = `$${usd(committedMicros)} of $${usd(limitMicros)}`;
  if (blocked.experiment !== undefined) return experimentText(amounts, blocked.experiment.most);
  const isFull = committedMicros >= limitMicros;
  const remedy =
    isFull || requestMicros === undefined
      ? ''
      : `; the next request may cost $${usd(requestMicros)}, and $${usd(limitMicros - committedMicros)} is left: ` +
        `raise the ${name === null ? 'cap' : 'limit'}, or lower max_output_tokens of the agent`;
  if (name === null) {
    return isFull
      ? `Run cost cap reached: ${amounts} spent`
      : `Run cost cap has no room: ${amounts} spent${remedy}`;
  }
  const text = `Budget '${name}' exhausted: ${amounts} committed`;
  if (estimateMicros == null || isFull) return `${text}${remedy}`;
  return `${text}; this run needs an estimate of $${usd(estimateMicros)}`;
}

const experimentText = (amounts: string, most: number | null): string =>
  most === null
    ? `The budget of the experiment covers no step of unknown cost (${amounts} spent): set max_output_tokens of the agent`
    : `The budget of the experiment has no room: ${amounts} spent, and the step may cost $${usd(most)}`;

/** The evidence of a governance event. */
export const blockedEvidence = (blocked: Blocked): JsonObject => ({
  ...(blocked.budgetId === null ? {} : { budget_id: blocked.budgetId, budget: blocked.name }),
  committed_usd: toDollars(blocked.committedMicros),
  limit_usd: toDollars(blocked.limitMicros),
  ...(blocked.estimateMicros == null ? {} : { estimate_usd: toDollars(blocked.estimateMicros) }),
  ...(blocked.requestMicros === undefined ? {} : { request_usd: toDollars(blocked.requestMicros) }),
});

/** The verdict of a cap or a budget. */
export const blockedVerdict = (blocked: Blocked): PolicyVerdict =>
  stoppedVerdict(blockedText(blocked), blockedEvidence(blocked));

/** The same verdict from the text and evidence that an execution returned. */
export const stoppedVerdict = (reason: string, evidence: JsonObject): PolicyVerdict => ({
  type: 'budget_blocked',
  policy: 'budget',
  decision: 'blocked',
  reason,
  evidence,
});

const budgetFacts = z.object({
  budget_id: z.string(),
  name: z.string(),
  limit_micros: z.number(),
  committed_micros: z.number(),
  estimate_micros: z.number().nullable(),
});

/** AppError `budget_exceeded` with the cap or budget. */
export class BudgetExceeded extends AppError {
  readonly blocked: Blocked;

  constructor(blocked: Blocked) {
    super('budget_exceeded', blockedText(blocked));
    this.blocked = blocked;
  }
}

/** The error to throw for a budget refusal; other errors unchanged. */
export function asBudgetError(error: unknown): unknown {
  const refusal = refusalOf(error);
  if (refusal?.reason !== 'budget') return error;
  const facts = budgetFacts.parse(refusal.facts);
  return new BudgetExceeded({
    budgetId: facts.budget_id,
    name: facts.name,
    limitMicros: facts.limit_micros,
    committedMicros: facts.committed_micros,
    estimateMicros: facts.estimate_micros,
  });
}

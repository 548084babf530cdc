import type { RefusalReason } from '#shared/contract/inbound/inbound-event.ts';
import type { LoggedEvent } from '#shared/db/inbound/log.ts';
import { LimitReached } from '#shared/db/runs/admission.ts';
import { type ErrorCode, errorTable } from '#shared/errors.ts';
import { classify } from '#api/http/error-handler.ts';
import { SignatureRefusal } from './signature.ts';

/** The maximum stored length of a refusal, in characters. */
const MAX_DETAIL = 500;

/** Why an event was refused, by error code. */
const reasonsByCode: Readonly<Partial<Record<ErrorCode, RefusalReason>>> = {
  invalid: 'invalid_body',
  too_large: 'too_large',
  rate_limited: 'rate_limited',
  quota_exceeded: 'quota_exceeded',
  budget_exceeded: 'budget_exceeded',
  graph_invalid: 'graph_invalid',
  input_invalid: 'input_invalid',
  idempotency_mismatch: 'id_reused',
  conflict: 'too_many_events',
  unavailable: 'unavailable',
  internal: 'internal',
};

/** What is logged about a refusal; undefined if the workflow no longer exists. */
export function refusalOf(
  error: unknown,
): Pick<LoggedEvent, 'status' | 'reason' | 'detail'> | undefined {
  const { code, detail } = classify(error);
  const signature = error instanceof SignatureRefusal ? error.reason : undefined;
  const limit = error instanceof LimitReached ? 'limit_reached' : undefined;
  const reason = signature ?? limit ?? reasonsByCode[code];
  if (reason === undefined) return undefined;
  return {
    status: errorTable[code].status,
    reason,
    // Postgres stores no NUL.
    detail: detail.replaceAll('\0', '').slice(0, MAX_DETAIL).toWellFormed(),
  };
}

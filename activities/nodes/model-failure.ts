import { APICallError, InvalidResponseDataError, JSONParseError, TypeValidationError } from 'ai';
import { messageOf } from '#shared/errors.ts';
import { isRetryableStatus, retryAfterMs } from '#shared/platform/calls/outside.ts';
import { findModelError } from '#shared/platform/calls/model-error.ts';
import { findEgressError } from '#shared/platform/egress/egress.ts';
import type { SecretCutter } from '#shared/platform/secrets/secret-cutter.ts';
import { NodeError } from './node.ts';

/** One model's failure, and whether another model may succeed with the same request. */
export interface ModelFailure {
  model: string;
  error: NodeError;
  tryNext: boolean;
}

/** The SDK's error is not used as the cause, because it contains the prompt, and text that may contain a key. */
export function judgeFailure(model: string, error: unknown, keys: SecretCutter): ModelFailure {
  if (error instanceof NodeError) {
    // The mock acts as a provider, so its failures lead to the fallbacks; a bad response does not.
    return { model, error, tryNext: model === 'mock' };
  }
  const blocked = findEgressError(error);
  if (blocked !== undefined) {
    const text = `${model}: ${blocked.message}`;
    return { model, error: new NodeError(text, { retryable: blocked.retryable }), tryNext: true };
  }
  const reported = findModelError(error);
  if (reported !== undefined) {
    const text = `${model} answered with an error: ${keys.text(reported.message).slice(0, 500)}`;
    return refusedBy(model, text, { status: reported.status });
  }
  if (isUnreadable(error)) {
    return {
      model,
      error: new NodeError(`${model} returned a response that cannot be read`),
      tryNext: true,
    };
  }
  if (APICallError.isInstance(error) && error.statusCode !== undefined) {
    const { statusCode: status } = error;
    const text = `${model} answered ${status}: ${keys.text(error.message).slice(0, 500)}`;
    const wait = retryAfterMs(error.responseHeaders?.['retry-after']);
    return refusedBy(model, text, { status, definite: true, retryAfterMs: wait });
  }
  const text = `${model}: ${keys.text(messageOf(error)).slice(0, 500)}`;
  return { model, error: new NodeError(text), tryNext: true };
}

/** A refusal by the server. Without a status, it may be temporary. */
function refusedBy(
  model: string,
  text: string,
  { status, ...rest }: { status: number | undefined; definite?: boolean; retryAfterMs?: number },
): ModelFailure {
  const retryable = status === undefined || isRetryableStatus(status);
  // An invalid request would fail with every model, while a rejected key or model concerns only this provider.
  const tryNext = status === undefined || ![400, 413, 422].includes(status);
  return { model, error: new NodeError(text, { retryable, ...rest }), tryNext };
}

/** The errors of the SDK about the body of a successful response, or about an event of a stream. */
const isUnreadable = (error: unknown): boolean =>
  (APICallError.isInstance(error) && error.statusCode !== undefined && error.statusCode < 400) ||
  JSONParseError.isInstance(error) ||
  TypeValidationError.isInstance(error) ||
  InvalidResponseDataError.isInstance(error);

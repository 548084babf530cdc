import type { Json } from '#shared/json.ts';
import { NodeError } from '#shared/node-error.ts';
import { JsonLimitError, parseOutsideJson } from '#shared/outside-json.ts';
import { EgressError, type EgressResponse } from '#shared/platform/egress/egress.ts';

const EXCERPT_CHARACTERS = 500;

/** 408, 425, 429 and 5xx may be temporary; other errors are permanent. */
export const isRetryableStatus = (status: number): boolean =>
  status === 408 || status === 425 || status === 429 || status >= 500;

/**
 * Makes an external call. An abort becomes the signal's reason, so that a cancel never counts as the node's failure.
 * Errors of the egress guard or the network become a NodeError; other errors are rethrown.
 */
export async function callOutside<T>(signal: AbortSignal, work: () => Promise<T>): Promise<T> {
  signal.throwIfAborted();
  try {
    return await work();
  } catch (error) {
    if (signal.aborted) throw signal.reason;
    if (error instanceof EgressError) {
      // Without the cause, which reveals more about the network than a tenant should see.
      throw new NodeError(error.message, { retryable: error.retryable });
    }
    throw error;
  }
}

/**
 * The failure for a non-2xx response, which is final for its idempotency key. `redact` gets the text before it is
 * shortened, so that no part of a secret remains at its end.
 */
export function statusFailure(
  answer: EgressResponse,
  redact: (text: string) => string = (text) => text,
): NodeError {
  const said = redact(textOf(answer));
  const excerpt = said
    .slice(0, EXCERPT_CHARACTERS)
    .trim()
    .replaceAll('\0', '\ufffd')
    .toWellFormed();
  const text = `${new URL(answer.url).host} answered ${answer.status}`;
  return new NodeError(excerpt === '' ? text : `${text}: ${excerpt}`, {
    retryable: isRetryableStatus(answer.status),
    definite: true,
    status: answer.status,
    retryAfterMs: retryAfterMs(answer.headers['retry-after']),
  });
}

/** The longest wait that a service can request. */
const MAX_RETRY_AFTER_MS = 300_000;

/** The delay that a service requests with `Retry-After`, in ms, at most five minutes; 0 as for `retryAfterOf`. */
export const retryAfterMs = (header: string | null | undefined, now?: number): number =>
  Math.min(MAX_RETRY_AFTER_MS, retryAfterOf(header, now));

/** In ms from now, for seconds or a date. 0 without a header, for a date in the past, and for anything else. */
export function retryAfterOf(header: string | null | undefined, now = Date.now()): number {
  const text = header?.trim() ?? '';
  if (/^\d+(?:\.\d+)?$/.test(text)) return Math.ceil(Number(text) * 1000);
  if (!/\d:\d\d:\d\d/.test(text)) return 0;
  // One of HTTP's three date formats has no zone: it is also GMT.
  const at = Date.parse(/\b(?:GMT|UTC)$|[+-]\d{4}$/i.test(text) ? text : `${text} GMT`);
  return Number.isNaN(at) ? 0 : Math.max(0, at - now);
}

export const isSuccess = (status: number): boolean => status >= 200 && status < 300;

/**
 * The body as JSON when its content type says so and it is valid; as text otherwise. Throws a final NodeError for too
 * many levels or values.
 */
export function bodyOf(answer: EgressResponse): Json {
  const type = answer.headers['content-type'] ?? '';
  const text = textOf(answer);
  if (!isJson(type)) return text;
  try {
    return parseOutsideJson(text);
  } catch (error) {
    if (error instanceof SyntaxError) return text;
    if (!(error instanceof JsonLimitError)) throw error;
    throw new NodeError(`The JSON of ${new URL(answer.url).host} is too large: ${error.message}`, {
      retryable: false,
      definite: true,
    });
  }
}

/** Whether a content type is JSON. */
export const isJson = (type: string): boolean => /^\s*[^;\s]+[/+]json\s*(?:;|$)/i.test(type);

const textOf = ({ headers, body }: EgressResponse): string =>
  decoderFor(headers['content-type'] ?? '').decode(body);

function decoderFor(contentType: string) {
  const charset = /;\s*charset\s*=\s*"?([^";\s]+)/i.exec(contentType)?.[1];
  try {
    return new TextDecoder(charset ?? 'utf-8');
  } catch {
    return new TextDecoder();
  }
}

import type { Json } from '../../json.ts';
import { NodeError } from '../../node-error.ts';
import { JsonLimitError, parseOutsideJson } from '../../outside-json.ts';
import { EgressError, type EgressResponse } from '../egress/egress.ts';

const EXCERPT_CHARACTERS = 500;

/** 408, 425, 429 and 5xx may pass; other refusals are permanent. */
export const isRetryableStatus = (status: number): boolean =>
  status === 408 || status === 425 || status === 429 || status >= 500;

/**
 * Runs an external call. An abort becomes the signal's reason, so that a cancel never counts as the node's failure;
 * errors of the guard or the network become a NodeError; other errors pass.
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
 * The failure for a non-2xx response: final for its idempotency key. `redact` sees the text before it is shortened, so
 * that no part of a secret remains at its end.
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
  });
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

/** Whether a content type stands for JSON. */
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

import { isObject } from '#shared/graph/json-value.ts';
import { type Json, parsedJson } from '#shared/json.ts';

/** An error that a server reports in the body of a successful response. The message is the server's. */
export class ModelError extends Error {
  override readonly name = 'ModelError';
  /** The status it would have had as a separate response; undefined when the server gives none. */
  readonly status: number | undefined;

  constructor(message: string, status: number | undefined) {
    super(message);
    this.status = status;
  }
}

/** Throws ModelError for a JSON text that is an error: `{"error": ...}` or `{"object": "error", ...}`. */
export function requireNoError(text: string): void {
  if (!/"error"/.test(text)) return;
  const value = parsedJson(text);
  if (!isObject(value)) return;
  const error = value['object'] === 'error' ? value : value['error'];
  const message = messageIn(error);
  if (message === undefined) return;
  const { code, status } = isObject(error) ? error : value;
  throw new ModelError(message, [code, status].map(Number).find(isRefusal));
}

const isRefusal = (status: number): boolean => status >= 400 && status <= 599;

function messageIn(error: Json | undefined): string | undefined {
  if (typeof error === 'string' && error !== '') return error;
  if (!isObject(error)) return undefined;
  const { message } = error;
  if (typeof message === 'string' && message !== '') return message;
  return Object.keys(error).length === 0 ? undefined : JSON.stringify(error);
}

/** The server's error, which SDKs wrap in their own; undefined when there is none. */
export function findModelError(error: unknown): ModelError | undefined {
  let cause: unknown = error;
  for (let depth = 0; depth < 8 && cause !== null && typeof cause === 'object'; depth += 1) {
    if (cause instanceof ModelError) return cause;
    cause = (cause as { cause?: unknown }).cause;
  }
  return undefined;
}

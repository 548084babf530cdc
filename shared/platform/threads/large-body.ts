import { messageOf } from '#shared/errors.ts';
import { isObject } from '#shared/graph/json-value.ts';
import type { Json } from '#shared/json.ts';

/** A body without its document, and the document as text. */
export interface SplitBody {
  rest: Json;
  /** Undefined without the field. */
  text: string | undefined;
}

/** Parses a JSON body on a work thread. A document in `field` is not parsed further: its own reader limits it. */
export function splitBody(
  bytes: Uint8Array,
  field: string,
): { value: SplitBody } | { problem: string } {
  let body: Json;
  try {
    body = JSON.parse(new TextDecoder('utf-8', { fatal: true }).decode(bytes)) as Json;
  } catch (error) {
    return {
      problem:
        error instanceof SyntaxError ? `not valid JSON (${messageOf(error)})` : 'not valid UTF-8',
    };
  }
  if (!isObject(body)) return { problem: 'must be a JSON object' };
  const { [field]: document, ...rest } = body;
  if (document === undefined) return { value: { rest, text: undefined } };
  const text = typeof document === 'string' ? document : JSON.stringify(document);
  return { value: { rest, text } };
}

import type { Json } from '#shared/json.ts';
import { MAX_RESULT_CHARACTERS } from './loop.ts';

/** The result of a call as the model reads it: truncated if it is long. */
export function shortened(value: Json): Json {
  const text = typeof value === 'string' ? value : JSON.stringify(value);
  if (text.length <= MAX_RESULT_CHARACTERS) return value;
  const note = `\n[cut: ${MAX_RESULT_CHARACTERS} of ${text.length} characters]`;
  return (text.slice(0, MAX_RESULT_CHARACTERS) + note).toWellFormed();
}

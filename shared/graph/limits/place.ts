import { longestDebounce, MAX_KEY, type StoredLimits } from '#shared/contract/limits/limits.ts';
import { renderTemplate, TemplateError } from '#shared/graph/expression/template.ts';
import { typeName } from '#shared/graph/json-value.ts';
import type { Json, JsonObject } from '#shared/json.ts';

/** Where a run stands under the limits of its workflow, as stored with it. Null: there is no such limit. */
export interface Place {
  key: string | null;
  rate_key: string | null;
  priority: number;
  /** A trigger that joins a run with its key, or makes one that waits for further triggers. */
  debounce?: { key: string; seconds: number; max_seconds: number };
}

/** Why a run has no place. */
export class PlaceError extends Error {
  override readonly name = 'PlaceError';
}

/** The keys of a run with this input. Throws PlaceError. */
export const keysOf = (
  { concurrency, rate, debounce }: StoredLimits,
  input: JsonObject,
): Omit<Place, 'priority'> => ({
  key: concurrency == null ? null : keyOf('concurrency', concurrency.key, input),
  rate_key: rate == null ? null : keyOf('rate', rate.key, input),
  ...(debounce == null
    ? {}
    : {
        debounce: {
          key: keyOf('debounce', debounce.key, input),
          seconds: debounce.seconds,
          max_seconds: longestDebounce(debounce),
        },
      }),
});

const HIGHEST = 100;

/** The priority that a value of the expression means: a number, within the limits. Throws PlaceError. */
export function priorityOf(value: Json): number {
  if (typeof value === 'number') return Math.max(-HIGHEST, Math.min(HIGHEST, Math.round(value)));
  throw new PlaceError(
    `The priority must be a number, and is of type ${typeName(value)} with this input`,
  );
}

function keyOf(limit: string, template: string | null, input: JsonObject): string {
  if (template === null) return '';
  let value;
  try {
    value = renderTemplate(template, input);
  } catch (error) {
    if (!(error instanceof TemplateError)) throw error;
    throw new PlaceError(`The key of the limit '${limit}' cannot be filled in: ${error.message}`);
  }
  const key = typeof value === 'string' ? value : JSON.stringify(value);
  if (key.length > MAX_KEY) {
    throw new PlaceError(
      `The key of the limit '${limit}' has ${key.length} characters with this input; it can have ${MAX_KEY}`,
    );
  }
  if (key.includes('\0')) {
    throw new PlaceError(`The key of the limit '${limit}' contains a NUL character`);
  }
  return key;
}

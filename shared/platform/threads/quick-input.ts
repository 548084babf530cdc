import { isObject, weighJson } from '#shared/graph/json-value.ts';
import type { Json, JsonObject } from '#shared/json.ts';

/** The size of a schema that compiles in a few milliseconds, and of an input, in values and characters. */
const SMALL_SCHEMA = { values: 100, length: 5_000 };
const SMALL_INPUT = { values: 2_000, length: 50_000 };
/**
 * The values of the schema times the values of the input. Without references, a schema is a tree, so each part of it is
 * compared with each value at most once, even in choices. If all problems are collected, each comparison can add one,
 * which takes a hundred times as long.
 */
const MAX_COMPARISONS = { first: 200_000, all: 10_000 };

/** Keywords whose work is at most their own size times that of the value. */
const QUICK = new Set([
  ...['$schema', '$comment', 'title', 'description', 'default', 'examples', 'format'],
  ...['type', 'enum', 'const', 'properties', 'required', 'items', 'additionalProperties'],
  ...['minimum', 'maximum', 'exclusiveMinimum', 'exclusiveMaximum', 'multipleOf'],
  ...['minLength', 'maxLength', 'minItems', 'maxItems', 'minProperties', 'maxProperties'],
]);

const CHOICES = new Set(['anyOf', 'oneOf', 'allOf']);

/**
 * Whether a value can be compared with a schema directly, within milliseconds: both are small, and the schema has no
 * references or patterns, which can cause any amount of work in a few lines.
 */
export function isQuickInput(
  schema: JsonObject,
  value: Json,
  problems: keyof typeof MAX_COMPARISONS,
): boolean {
  const size = weighJson(schema, SMALL_SCHEMA.values);
  if (size.values > SMALL_SCHEMA.values || size.length > SMALL_SCHEMA.length) return false;
  const weight = weighJson(value, SMALL_INPUT.values);
  if (weight.values > SMALL_INPUT.values || weight.length > SMALL_INPUT.length) return false;
  const comparisons = size.values * weight.values;
  return comparisons <= MAX_COMPARISONS[problems] && isQuickSchema(schema);
}

function isQuickSchema(schema: Json): boolean {
  if (typeof schema === 'boolean') return true;
  if (!isObject(schema)) return false;
  return Object.entries(schema).every(([keyword, value]) => {
    if (keyword === 'properties') {
      return isObject(value) && Object.values(value).every(isQuickSchema);
    }
    if (CHOICES.has(keyword)) return Array.isArray(value) && value.every(isQuickSchema);
    if (keyword === 'items' || keyword === 'additionalProperties') return isQuickSchema(value);
    return QUICK.has(keyword);
  });
}

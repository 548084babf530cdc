import type { JsonObject } from '#shared/json.ts';
import { isObject } from './json-value.ts';

/** Keywords that allow an input to have fields that `properties` does not list. */
const OPEN_KEYWORDS = [
  ...['patternProperties', '$ref', '$dynamicRef', 'allOf', 'anyOf', 'oneOf', 'if', 'then', 'else'],
  ...['dependencies', 'dependentSchemas', 'unevaluatedProperties'],
];

/** The fields of an input, for the validation of a graph; empty if the schema does not list them all. */
export function inputKeysOf(schema: JsonObject | null): { inputKeys?: string[] } {
  if (schema === null || OPEN_KEYWORDS.some((keyword) => Object.hasOwn(schema, keyword))) return {};
  const { properties, additionalProperties = false } = schema;
  if (!isObject(properties) || additionalProperties !== false) return {};
  return { inputKeys: Object.keys(properties) };
}

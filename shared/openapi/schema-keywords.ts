import { isObject } from '#shared/graph/json-value.ts';
import type { Json, JsonObject } from '#shared/json.ts';
import { checkPattern, PatternError } from '#shared/values/pattern.ts';
import { toRe2 } from '#shared/values/schema-pattern.ts';
import { listIn, own, textIn } from './document.ts';

/** Keywords of a foreign schema without subschemas, as the validator of arguments takes them. */

const TYPES = new Set(['string', 'number', 'integer', 'boolean', 'array', 'object', 'null']);
const COUNTS = [
  ...['minLength', 'maxLength', 'minItems', 'maxItems', 'minProperties', 'maxProperties'],
  ...['minContains', 'maxContains'],
];
/** A larger number is not exact, so that the bound would be another than the document's. */
const MAX_EXACT = 2 ** 53;
const MAX_DEFAULT = 2_000;
const MAX_FORMAT = 40;

/** Types, values, bounds and descriptions. What the validator would refuse is left out. */
export function plainKeywords(node: JsonObject): JsonObject {
  const type = typeOf(node);
  const plain: JsonObject = { ...(type !== undefined && { type }), ...described(node) };
  const values = valuesOf(node, type);
  if (values !== undefined) plain['enum'] = values;
  if (Object.hasOwn(node, 'const')) plain['const'] = node['const'] ?? null;
  const fallback = own(node, 'default');
  if (fallback !== undefined && JSON.stringify(fallback).length <= MAX_DEFAULT) {
    plain['default'] = asTyped(fallback, type);
  }
  const format = textIn(node, 'format');
  const hasFormat = format !== undefined && format !== '' && format.length <= MAX_FORMAT;
  if (hasFormat) plain['format'] = format;
  const pattern = textIn(node, 'pattern');
  if (pattern !== undefined && isPattern(pattern)) plain['pattern'] = pattern;
  for (const name of COUNTS) {
    const count = own(node, name);
    if (Number.isSafeInteger(count) && Number(count) >= 0) plain[name] = Number(count);
  }
  if (own(node, 'uniqueItems') === true) plain['uniqueItems'] = true;
  const required = namesIn(node, 'required');
  if (required.length > 0) plain['required'] = required;
  const dependent = own(node, 'dependentRequired');
  if (isObject(dependent)) {
    plain['dependentRequired'] = Object.fromEntries(
      Object.keys(dependent).map((name) => [name, namesIn(dependent, name)]),
    );
  }
  return { ...plain, ...boundsOf(node) };
}

/** `title` and `description`. */
export function described(node: JsonObject): JsonObject {
  const texts = ['title', 'description'].flatMap((name) => {
    const text = textIn(node, name)?.trim() ?? '';
    return text === '' ? [] : [[name, text] as const];
  });
  return Object.fromEntries(texts);
}

/** The names of a list of names, each once. */
export const namesIn = (node: JsonObject, keyword: string): string[] => [
  ...new Set(listIn(node, keyword).filter((name) => typeof name === 'string')),
];

/** Whether null is allowed, too, in the form of OpenAPI 3.0 or Swagger. */
export const isNullable = (node: JsonObject): boolean =>
  own(node, 'nullable') === true || own(node, 'x-nullable') === true;

function typeOf(node: JsonObject): string | string[] | undefined {
  const given = own(node, 'type');
  const types = [...new Set([given ?? []].flat())].filter(
    (type): type is string => typeof type === 'string' && TYPES.has(type),
  );
  if (types.length === 0) return undefined;
  if (isNullable(node) && !types.includes('null')) types.push('null');
  return types.length === 1 ? types[0] : types;
}

function valuesOf(node: JsonObject, type: string | string[] | undefined): Json[] | undefined {
  const given = listIn(node, 'enum');
  if (given.length === 0) return undefined;
  const values = given.map((value) => asTyped(value, type));
  if (isNullable(node)) values.push(null);
  return [...new Map(values.map((value) => [JSON.stringify(value), value])).values()];
}

/** Of a text, YAML reads some values as numbers: `enum: [1, 2]`. */
const asTyped = (value: Json, type: string | string[] | undefined): Json =>
  type === 'string' && (typeof value === 'number' || typeof value === 'boolean')
    ? String(value)
    : value;

/** The bounds of numbers. In OpenAPI 3.0 and Swagger, `exclusiveMinimum` is a flag beside `minimum`. */
function boundsOf(node: JsonObject): JsonObject {
  const bounds: JsonObject = {};
  for (const [name, exclusiveName] of [
    ['minimum', 'exclusiveMinimum'],
    ['maximum', 'exclusiveMaximum'],
  ] as const) {
    const bound = exactIn(node, name);
    const exclusive = exactIn(node, exclusiveName);
    if (exclusive !== undefined) bounds[exclusiveName] = exclusive;
    if (bound === undefined) continue;
    bounds[own(node, exclusiveName) === true ? exclusiveName : name] = bound;
  }
  const step = own(node, 'multipleOf');
  if (typeof step === 'number' && step > 0 && step < MAX_EXACT) bounds['multipleOf'] = step;
  return bounds;
}

function exactIn(node: JsonObject, name: string): number | undefined {
  const value = own(node, name);
  return typeof value === 'number' && Math.abs(value) < MAX_EXACT ? value : undefined;
}

/** Whether RE2 takes a pattern of JavaScript. */
export function isPattern(pattern: string): boolean {
  try {
    checkPattern(toRe2(pattern));
    return true;
  } catch (error) {
    if (error instanceof PatternError) return false;
    throw error;
  }
}

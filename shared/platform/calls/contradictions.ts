import { isObject } from '#shared/graph/json-value.ts';
import type { Json, JsonObject } from '#shared/json.ts';

/**
 * Why no value can match a schema, with the location and what to do; undefined when no contradiction is found. It finds
 * common mistakes in the parts that every value must match: a required field that is forbidden, limits that exclude
 * each other, and choices of another type. It does not solve schemas: references, patterns and `not` are ignored.
 */
export function contradictionIn(schema: Json, path: readonly string[] = []): string | undefined {
  const place = ['input_schema', ...path].join('.');
  if (schema === false) return `${place} is false, which allows no value: remove it`;
  if (!isObject(schema)) return undefined;
  return (
    ofChoices(schema, place) ??
    ofLimits(schema, place) ??
    ofFields(schema, path, place) ??
    ofBranches(schema, path)
  );
}

type TypeName = 'string' | 'number' | 'integer' | 'array' | 'object' | 'boolean' | 'null';

const typesOf = ({ type }: JsonObject): string[] | undefined => {
  const types = [type ?? []].flat().filter((each) => typeof each === 'string');
  return types.length === 0 ? undefined : types;
};

function ofChoices(schema: JsonObject, place: string): string | undefined {
  const { enum: choices } = schema;
  const types = typesOf(schema);
  if (types === undefined) return undefined;
  const misfits = (values: readonly Json[]): boolean =>
    !values.some((value) => types.some((type) => isOfType(value, type)));
  if (Array.isArray(choices) && misfits(choices)) {
    return `${place}.enum has no value of the type ${types.join(' or ')}: add one, or change the type`;
  }
  return Object.hasOwn(schema, 'const') && misfits([schema['const']!])
    ? `${place}.const is not of the type ${types.join(' or ')}: change one of them`
    : undefined;
}

function isOfType(value: Json, type: string): boolean {
  switch (type as TypeName) {
    case 'integer':
      return Number.isInteger(value);
    case 'array':
      return Array.isArray(value);
    case 'object':
      return isObject(value);
    case 'null':
      return value === null;
    default:
      return typeof value === type;
  }
}

/** Pairs of keywords that exclude each other, with the types that they apply to. `strict`: also when they are equal. */
const LIMITS: readonly { types: TypeName[]; low: string; high: string; strict?: boolean }[] = [
  { types: ['number', 'integer'], low: 'minimum', high: 'maximum' },
  { types: ['number', 'integer'], low: 'exclusiveMinimum', high: 'maximum', strict: true },
  { types: ['number', 'integer'], low: 'minimum', high: 'exclusiveMaximum', strict: true },
  { types: ['number', 'integer'], low: 'exclusiveMinimum', high: 'exclusiveMaximum', strict: true },
  { types: ['string'], low: 'minLength', high: 'maxLength' },
  { types: ['array'], low: 'minItems', high: 'maxItems' },
  { types: ['object'], low: 'minProperties', high: 'maxProperties' },
];

/** Only if the type is given: a limit of numbers says nothing about strings. */
function ofLimits(schema: JsonObject, place: string): string | undefined {
  const types = typesOf(schema);
  if (types === undefined) return undefined;
  for (const { types: about, low, high, strict = false } of LIMITS) {
    if (!types.every((type) => about.includes(type as TypeName))) continue;
    const [least, most] = [schema[low], schema[high]];
    if (typeof least !== 'number' || typeof most !== 'number') continue;
    if (least < most || (least === most && !strict)) continue;
    return `${place}.${low} ${least} leaves nothing up to ${high} ${most}: change one of them`;
  }
  return undefined;
}

/** Checks the required fields of an object. The value of the whole schema is an object. */
function ofFields(schema: JsonObject, path: readonly string[], place: string): string | undefined {
  const { required, properties, additionalProperties, patternProperties } = schema;
  const isAnObject = path.length === 0 || typesOf(schema)?.join() === 'object';
  if (!isAnObject || !Array.isArray(required)) return undefined;
  for (const name of required) {
    if (typeof name !== 'string') continue;
    if (isObject(properties) && Object.hasOwn(properties, name)) {
      const found = contradictionIn(properties[name]!, [...path, 'properties', name]);
      if (found !== undefined) return found;
    } else if (additionalProperties === false && patternProperties === undefined) {
      return `${place}.required has '${name}', which additionalProperties: false forbids: add it to properties, or remove it from required`;
    }
  }
  return undefined;
}

/** Every part of `allOf` must match, and one of `anyOf` and `oneOf`. */
function ofBranches(schema: JsonObject, path: readonly string[]): string | undefined {
  for (const keyword of ['allOf', 'anyOf', 'oneOf']) {
    const branches = schema[keyword];
    if (!Array.isArray(branches) || branches.length === 0) continue;
    const found = branches.map((branch, at) =>
      contradictionIn(branch, [...path, keyword, String(at)]),
    );
    const fails = keyword === 'allOf' ? found.some(isText) : found.every(isText);
    if (fails) return found.find(isText);
  }
  return undefined;
}

const isText = (value: string | undefined): value is string => value !== undefined;

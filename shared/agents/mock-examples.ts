import { isObject } from '#shared/graph/json-value.ts';
import type { Json, JsonObject } from '#shared/json.ts';

/** The maximum number of branches that are tried per choice. */
const MAX_CHOICES = 8;
/** The maximum depth of an example, and the number of schemas that are visited for it: a schema can refer to itself. */
const MAX_DEPTH = 16;
const MAX_PARTS = 2_000;

const ECHO_LENGTH = 120;

/** The answer of the mock model to a prompt, without anything else to say. */
export function echoedPrompt(prompt: string): string {
  const line = prompt.replace(/\s+/g, ' ').trim();
  // By code points, so that no surrogate pair is split.
  const short = [...line].slice(0, ECHO_LENGTH).join('');
  return `Mock answer to: ${short}${short.length < line.length ? '...' : ''}`;
}

interface Wish {
  root: JsonObject;
  /** Which branch of each choice to take. */
  choice: number;
  /** Includes only required fields, with the default or example values from the schema. */
  plain: boolean;
  /** The number of schemas that can still be visited. */
  left: { parts: number };
}

/**
 * Values that may match a JSON Schema, most complete first, so that later nodes find their keys: first with every
 * field, then with the required fields and each branch of the schema's choices.
 */
export function examplesOf(schema: JsonObject): Json[] {
  const example = (choice: number, plain: boolean): Json =>
    exampleOf(schema, { root: schema, choice, plain, left: { parts: MAX_PARTS } }, 0);
  return [
    example(0, false),
    ...Array.from({ length: MAX_CHOICES }, (_, choice) => example(choice, true)),
  ];
}

function exampleOf(schema: Json | undefined, wish: Wish, depth: number): Json {
  if (!isObject(schema) || depth > MAX_DEPTH || wish.left.parts <= 0) return null;
  const part = joined(schema, wish, depth);
  if (part['const'] !== undefined) return part['const'];
  if (Array.isArray(part['enum'])) return part['enum'][0] ?? null;
  const { examples } = part;
  const given = part['default'] ?? (Array.isArray(examples) ? examples[0] : undefined);
  if (wish.plain && given !== undefined) return given;
  const type = Array.isArray(part['type']) ? part['type'][0] : part['type'];
  switch (type) {
    case 'string':
      return exampleText(part);
    case 'number':
    case 'integer':
      return exampleNumber(part);
    case 'boolean':
      return false;
    case 'array':
      return exampleList(part, wish, depth);
    case 'object':
      return exampleObject(part, wish, depth);
    default:
      return part['properties'] === undefined && part['required'] === undefined
        ? null
        : exampleObject(part, wish, depth);
  }
}

/** The schema merged with its references, all of `allOf`, and one branch of each choice. */
function joined(schema: JsonObject, wish: Wish, depth: number): JsonObject {
  wish.left.parts -= 1;
  if (depth > MAX_DEPTH || wish.left.parts <= 0) return schema;
  const { $ref, allOf, anyOf, oneOf, ...own } = schema;
  const chosen = [anyOf, oneOf].flatMap((branches) =>
    Array.isArray(branches) && branches.length > 0
      ? [branches[wish.choice % branches.length]!]
      : [],
  );
  const parts = [
    ...(typeof $ref === 'string' ? [referred(wish.root, $ref)] : []),
    ...(Array.isArray(allOf) ? allOf : []),
    ...chosen,
  ].flatMap((part) => (isObject(part) ? [joined(part, wish, depth + 1)] : []));
  return parts.reduce<JsonObject>(merged, own);
}

const merged = (left: JsonObject, right: JsonObject): JsonObject => ({
  ...left,
  ...right,
  ...(isObject(left['properties']) &&
    isObject(right['properties']) && {
      properties: { ...left['properties'], ...right['properties'] },
    }),
  ...(Array.isArray(left['required']) &&
    Array.isArray(right['required']) && { required: [...left['required'], ...right['required']] }),
});

/** The target of a reference within the schema, such as `#/$defs/order`. */
function referred(root: JsonObject, reference: string): Json | undefined {
  if (!reference.startsWith('#')) return undefined;
  const keys = reference.split('/').slice(1);
  return keys.reduce<Json | undefined>((part, key) => {
    const name = key.replaceAll('~1', '/').replaceAll('~0', '~');
    if (Array.isArray(part)) return part[Number(name)];
    return isObject(part) && Object.hasOwn(part, name) ? part[name] : undefined;
  }, root);
}

function exampleText({ minLength, maxLength }: JsonObject): string {
  const least = typeof minLength === 'number' ? Math.min(minLength, 1_000) : 0;
  const most = typeof maxLength === 'number' ? maxLength : Infinity;
  return 'mock'.padEnd(least, '.').slice(0, most);
}

function exampleNumber(schema: JsonObject): number {
  const { minimum, exclusiveMinimum, maximum, exclusiveMaximum, multipleOf } = schema;
  const step = typeof multipleOf === 'number' && multipleOf > 0 ? multipleOf : 1;
  if (typeof minimum === 'number') {
    return typeof multipleOf === 'number' ? Math.ceil(minimum / step) * step : minimum;
  }
  if (typeof exclusiveMinimum === 'number') return (Math.floor(exclusiveMinimum / step) + 1) * step;
  if (typeof maximum === 'number' && maximum < 0) return Math.floor(maximum / step) * step;
  if (typeof exclusiveMaximum === 'number' && exclusiveMaximum <= 0) {
    return (Math.ceil(exclusiveMaximum / step) - 1) * step;
  }
  return 0;
}

function exampleList(schema: JsonObject, wish: Wish, depth: number): Json[] {
  const { minItems, prefixItems, items } = schema;
  const least = typeof minItems === 'number' ? Math.min(Math.max(0, Math.floor(minItems)), 10) : 0;
  const places = [prefixItems, items].find((each) => Array.isArray(each)) as Json[] | undefined;
  return Array.from({ length: least }, (_, at) =>
    exampleOf(places?.[at] ?? (Array.isArray(items) ? undefined : items), wish, depth + 1),
  );
}

function exampleObject(schema: JsonObject, wish: Wish, depth: number): JsonObject {
  const properties = isObject(schema['properties']) ? schema['properties'] : {};
  const required = (Array.isArray(schema['required']) ? schema['required'] : []).filter(
    (name) => typeof name === 'string',
  );
  const names = wish.plain ? required : [...Object.keys(properties), ...required];
  return Object.fromEntries(
    [...new Set(names)].map((name) => [
      name,
      exampleOf(Object.hasOwn(properties, name) ? properties[name] : undefined, wish, depth + 1),
    ]),
  );
}

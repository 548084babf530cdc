import { Ajv } from 'ajv';
import { Ajv2019 } from 'ajv/dist/2019.js';
import { Ajv2020 } from 'ajv/dist/2020.js';
import { isObject } from '#shared/graph/json-value.ts';
import type { Json, JsonObject } from '#shared/json.ts';
import { mapSubschemas, schemasIn } from '#shared/values/schema-parts.ts';

/** The validators for the schemas of each draft. */
export type Validator = typeof Ajv | typeof Ajv2019 | typeof Ajv2020;

/** A schema in the form that its validator reads. */
export interface ReadSchema {
  validator: Validator;
  schema: JsonObject;
}

type Draft = 4 | 6 | 7 | 2019 | 2020;

const DRAFTS: Readonly<Record<string, Draft>> = {
  'draft-04': 4,
  'draft-06': 6,
  'draft-07': 7,
  'draft/2019-09': 2019,
  'draft/2020-12': 2020,
};
const DIALECT =
  /^https?:\/\/json-schema\.org\/(?:(draft-0[467]|draft\/20(?:19-09|20-12))\/)?schema#?$/;

/** The `$schema` is unknown, or the schema uses something that no validator here supports. */
export class DialectError extends Error {
  override readonly name = 'DialectError';
}

/**
 * Reads a schema according to its `$schema`. Without one, or if it does not name a draft, the schema counts as draft
 * 2020-12, unless a list as `items` shows that it is older. Its nesting depth must be limited. Throws DialectError.
 */
export function readSchema(schema: JsonObject): ReadSchema {
  const { draft, named } = draftOf(schema);
  const found = [...schemasIn(schema)];
  const parts = found.map((part) => part.schema);
  const reading: Reading = {
    draft,
    named,
    unevaluated: parts.some(
      (part) =>
        part['unevaluatedItems'] !== undefined || part['unevaluatedProperties'] !== undefined,
    ),
  };
  if (draft === 2020) checkDynamicAnchors(parts);
  if (reading.unevaluated) checkConditions(found.map(({ path }) => path));
  return {
    validator: draft === 2020 ? Ajv2020 : draft === 2019 ? Ajv2019 : Ajv,
    schema: read(schema, reading),
  };
}

/** The validator of a schema's draft. Throws DialectError. */
export function validatorOf(schema: JsonObject): Validator {
  const { draft } = draftOf(schema);
  return draft === 2020 ? Ajv2020 : draft === 2019 ? Ajv2019 : Ajv;
}

function draftOf(schema: JsonObject): { draft: Draft; named: boolean } {
  const { $schema } = schema;
  const found = typeof $schema === 'string' ? DIALECT.exec($schema) : null;
  if ($schema !== undefined && found === null) {
    throw new DialectError(
      "'$schema' must be that of draft 2020-12, 2019-09, 7, 6 or 4 of JSON Schema",
    );
  }
  const name = found?.[1];
  if (name !== undefined) return { draft: DRAFTS[name]!, named: true };
  const isOlder = [...schemasIn(schema)].some((part) => Array.isArray(part.schema['items']));
  return { draft: isOlder ? 2019 : 2020, named: false };
}

interface Reading {
  draft: Draft;
  named: boolean;
  /** Whether any part of the schema asks what was not evaluated. */
  unevaluated: boolean;
}

/** Keywords that a draft does not know and ignores. */
const UNKNOWN: Readonly<Record<Draft, readonly string[]>> = {
  4: ['$id', 'const', 'contains', 'propertyNames', 'if', 'then', 'else', '$schema'],
  6: ['if', 'then', 'else', '$schema'],
  7: ['$schema'],
  2019: ['$schema'],
  2020: ['$schema'],
};

function read(part: JsonObject, reading: Reading): JsonObject {
  const { draft } = reading;
  const inner = mapSubschemas(part, (each) => read(each, reading));
  const entries = new Map(Object.entries(inner).filter(([name]) => !UNKNOWN[draft].includes(name)));
  if (draft === 4 && typeof part['id'] === 'string') entries.set('$id', part['id']);
  entries.delete('id');
  if (draft === 4 || !reading.named) readExclusiveLimits(entries);
  readRequired(entries);
  readProto(entries);
  readReference(entries, draft);
  if (draft === 2020) readDynamicReference(entries);
  // OpenAPI's keyword, which only has a meaning next to a type.
  if (!entries.has('type')) entries.delete('nullable');
  if (reading.unevaluated) readUnevaluated(entries, draft);
  return Object.fromEntries(entries);
}

type Entries = Map<string, Json>;

/** Before draft 6, `exclusiveMaximum: true` made the `maximum` exclusive. */
function readExclusiveLimits(entries: Entries): void {
  for (const [limit, exclusive] of LIMITS) {
    const value = entries.get(exclusive);
    const most = entries.get(limit);
    if (typeof value !== 'boolean') continue;
    entries.delete(exclusive);
    if (!value || most === undefined) continue;
    entries.delete(limit);
    entries.set(exclusive, most);
  }
}

const LIMITS = [
  ['minimum', 'exclusiveMinimum'],
  ['maximum', 'exclusiveMaximum'],
] as const;

function readRequired(entries: Entries): void {
  const required = entries.get('required');
  if (Array.isArray(required)) entries.set('required', [...new Set(required)]);
}

/** The validator skips a property with this name, but not a pattern for it. */
function readProto(entries: Entries): void {
  const properties = entries.get('properties');
  if (!isObject(properties) || !Object.hasOwn(properties, '__proto__')) return;
  const { ['__proto__']: schema = true, ...others } = properties;
  const patterns = entries.get('patternProperties');
  entries.set('properties', others);
  entries.set('patternProperties', {
    ...(isObject(patterns) ? patterns : {}),
    '^__proto__$': schema,
  });
}

/**
 * Up to draft 7, keywords next to a reference are ignored. In later drafts, the validator would resolve a reference
 * next to an id incorrectly.
 */
function readReference(entries: Entries, draft: Draft): void {
  const $ref = entries.get('$ref');
  if (typeof $ref !== 'string') return;
  if (draft <= 7) {
    for (const name of entries.keys()) if (!BESIDE_REFERENCES.has(name)) entries.delete(name);
  } else if (entries.has('$id')) {
    entries.delete('$ref');
    addToAll(entries, { $ref });
  }
}

/** Possible targets of other references. */
const BESIDE_REFERENCES = new Set(['$ref', 'definitions', '$defs']);

/**
 * Replaces it by a plain reference to a plain anchor, which is equivalent if the anchor is the only one with its name.
 */
function readDynamicReference(entries: Entries): void {
  const reference = entries.get('$dynamicRef');
  const anchor = entries.get('$dynamicAnchor');
  entries.delete('$dynamicRef');
  entries.delete('$dynamicAnchor');
  if (anchor !== undefined) entries.set('$anchor', anchor);
  if (reference !== undefined) addToAll(entries, { $ref: reference });
}

function addToAll(entries: Entries, schema: JsonObject): void {
  const all = entries.get('allOf');
  entries.set('allOf', [...(Array.isArray(all) ? all : []), schema]);
}

/**
 * A dynamic reference equals a plain one if its anchor is unique. Otherwise it depends on the path that led to it,
 * which the validator does not follow in all cases.
 */
function checkDynamicAnchors(parts: readonly JsonObject[]): void {
  if (!parts.some((part) => part['$dynamicRef'] !== undefined)) return;
  const anchors = parts.flatMap(({ $dynamicAnchor }) => $dynamicAnchor ?? []);
  if (new Set(anchors).size === anchors.length) return;
  throw new DialectError(
    "'$dynamicRef' to one of several anchors of the same name is not supported",
  );
}

/** Each nested `if` doubles the compiled code. */
const MAX_NESTED_CONDITIONS = 6;

function checkConditions(paths: readonly (readonly string[])[]): void {
  const nested = paths.map((path) => path.filter((key) => key === 'if').length);
  if (nested.every((count) => count <= MAX_NESTED_CONDITIONS)) return;
  throw new DialectError(
    `more than ${MAX_NESTED_CONDITIONS} 'if' in each other are not supported with unevaluatedItems or unevaluatedProperties`,
  );
}

/**
 * The validator counts everything that an `if` examines as evaluated, even if it fails, and nothing if it is alone. For
 * `contains`, it counts all items, not just the matching ones. This rewrites them into equivalent keywords that are
 * evaluated correctly.
 */
function readUnevaluated(entries: Entries, draft: Draft): void {
  const condition = entries.get('if');
  if (condition !== undefined) {
    const chosen = (name: string): Json => entries.get(name) ?? true;
    addToAll(entries, {
      anyOf: [
        { allOf: [condition, chosen('then')] },
        { allOf: [{ not: condition }, chosen('else')] },
      ],
    });
    for (const name of ['if', 'then', 'else']) entries.delete(name);
  }
  const contains = entries.get('contains');
  if (contains === undefined) return;
  const names = ['contains', 'minContains', 'maxContains'];
  const moved = Object.fromEntries([...entries].filter(([name]) => names.includes(name)));
  for (const name of names) entries.delete(name);
  addToAll(entries, { not: { not: moved } });
  const rest = entries.get('unevaluatedItems');
  if (draft !== 2020 || rest === undefined) return;
  entries.set('unevaluatedItems', { anyOf: [contains, rest] });
}

import { isObject } from '#shared/graph/json-value.ts';
import type { Json, JsonObject } from '#shared/json.ts';
import { textHash } from '#shared/values/text-hash.ts';
import { type Dialect, own, textIn } from './document.ts';
import type { Part, References, Target } from './references.ts';
import { described, isNullable, isPattern, plainKeywords } from './schema-keywords.ts';
import { UnsupportedError } from './unsupported.ts';

/** What a schema describes: properties that are read-only are not sent, and those that are write-only not received. */
export type SchemaUse = 'request' | 'response';

/** A schema with references to `#/$defs/NAME`. */
export interface Fragment {
  schema: JsonObject;
  /** The definitions that it refers to. */
  uses: ReadonlySet<string>;
  /** Those that must hold for the same value, not for a part of it. */
  same: ReadonlySet<string>;
}

/** The schemas of a document, each converted once, when something refers to it. */
export interface Schemas {
  /** Throws UnsupportedError for a reference that leads nowhere. */
  convert: (part: Part) => Fragment;
  /** A definition that a fragment uses. Throws UnsupportedError. */
  definition: (name: string) => Fragment;
}

/** Levels of subschemas, two of JSON each. Deeper ones allow everything. */
const MAX_LEVELS = 16;
const MAX_CHAIN = 50;
const PLAIN_NAME = /^[A-Za-z0-9_.-]{1,60}$/;
const NAMED = /#\/(?:components\/schemas|definitions)\/[^/]+$/;

const SINGLE = [
  ...['items', 'additionalProperties', 'propertyNames', 'contains', 'unevaluatedProperties'],
  ...['unevaluatedItems'],
];
const SINGLE_SAME = ['not', 'if', 'then', 'else'];
const LISTS_SAME = ['allOf', 'anyOf', 'oneOf'];

interface Context {
  base: string;
  uses: Set<string>;
  same: Set<string>;
}

export function createSchemas(
  references: References,
  { dialect, use, rootBase }: { dialect: Dialect; use: SchemaUse; rootBase: string },
): Schemas {
  const places = new Map<string, Part>();
  const converted = new Map<string, Fragment>();
  const named = new Map<string, string>();

  const convert = (part: Part): Fragment => {
    const context = { base: part.base, uses: new Set<string>(), same: new Set<string>() };
    const schema = convertNode(part.value, context, 0, true);
    return { schema: schema === false ? { not: {} } : schema, ...context };
  };

  /** A subschema. `isSame`: of the value of the whole fragment. */
  const convertNode = (
    node: Json,
    context: Context,
    level: number,
    isSame: boolean,
  ): JsonObject | false => {
    if (node === false) return false;
    if (!isObject(node) || level > MAX_LEVELS) return {};
    const ref = textIn(node, '$ref');
    if (ref === undefined) return convertKeywords(node, context, level, isSame);
    const name = define(ref, context.base);
    context.uses.add(name);
    if (isSame) context.same.add(name);
    const reference = { $ref: `#/$defs/${name}` };
    // Only since OpenAPI 3.1, other keywords count beside a reference. Descriptions do no harm.
    const beside =
      dialect === '3.1' ? convertKeywords(node, context, level, isSame) : described(node);
    return isNullable(node)
      ? { ...described(node), anyOf: [reference, { type: 'null' }] }
      : { ...beside, ...reference };
  };

  const convertKeywords = (
    node: JsonObject,
    context: Context,
    level: number,
    isSame: boolean,
  ): JsonObject => {
    const inner = (part: Json, same = false) =>
      convertNode(part, context, level + 1, same && isSame);
    const schema = plainKeywords(node);
    for (const name of [...SINGLE, ...SINGLE_SAME]) {
      const part = own(node, name);
      if (!isObject(part) && typeof part !== 'boolean') continue;
      schema[name] = inner(part, SINGLE_SAME.includes(name));
    }
    for (const name of LISTS_SAME) {
      const parts = own(node, name);
      if (!Array.isArray(parts) || parts.length === 0) continue;
      schema[name] = parts.map((part) => inner(part, true));
    }
    const tuple = own(node, 'prefixItems') ?? own(node, 'items');
    if (Array.isArray(tuple) && tuple.length > 0) {
      schema['prefixItems'] = tuple.map((part) => inner(part));
    }
    Object.assign(schema, convertMembers(node, schema, context, inner));
    const open = schema['type'] === undefined && schema['enum'] === undefined;
    const { title, description, ...rest } = schema;
    return isNullable(node) && open && Object.keys(rest).length > 0
      ? { ...described(node), anyOf: [rest, { type: 'null' }] }
      : schema;
  };

  /** The maps of schemas, without properties that are only for the other direction. */
  const convertMembers = (
    node: JsonObject,
    { required }: JsonObject,
    context: Context,
    inner: (part: Json, same?: boolean) => JsonObject | false,
  ): JsonObject => {
    const members: JsonObject = {};
    const properties = own(node, 'properties');
    const hidden = new Set<string>();
    if (isObject(properties)) {
      for (const [name, value] of Object.entries(properties)) {
        if (isHidden({ value, base: context.base })) hidden.add(name);
      }
      const shown = Object.entries(properties).filter(([name]) => !hidden.has(name));
      members['properties'] = Object.fromEntries(shown.map(([name, part]) => [name, inner(part)]));
    }
    if (Array.isArray(required) && hidden.size > 0) {
      members['required'] = required.filter((name) => !hidden.has(String(name)));
    }
    const patterns = own(node, 'patternProperties');
    if (isObject(patterns)) {
      const good = Object.entries(patterns).filter(([pattern]) => isPattern(pattern));
      members['patternProperties'] = Object.fromEntries(
        good.map(([pattern, part]) => [pattern, inner(part)]),
      );
    }
    const dependent = own(node, 'dependentSchemas');
    if (isObject(dependent)) {
      members['dependentSchemas'] = Object.fromEntries(
        Object.entries(dependent).map(([name, part]) => [name, inner(part, true)]),
      );
    }
    return members;
  };

  const isHidden = (property: Part): boolean => {
    const flag = use === 'request' ? 'readOnly' : 'writeOnly';
    if (!isObject(property.value)) return false;
    if (own(property.value, flag) === true) return true;
    const ref = textIn(property.value, '$ref');
    if (ref === undefined) return false;
    const { value } = references.target(ref, property.base);
    return isObject(value) && own(value, flag) === true;
  };

  /** The name of the definition for a reference. It depends on nothing else, so that it is the same in each import. */
  const define = (ref: string, base: string): string => {
    const target = endOf(references.target(ref, base));
    const known = named.get(target.key);
    if (known !== undefined) return known;
    const last = target.key.slice(target.key.lastIndexOf('/') + 1);
    const isOwn = NAMED.test(target.key) && target.base === rootBase && PLAIN_NAME.test(last);
    const slug = last.replaceAll(/[^A-Za-z0-9_.-]+/g, '_').slice(0, 40);
    let name = isOwn ? last : `${slug}-${textHash(target.key)}`;
    while (places.has(name)) name = `${name}_`;
    named.set(target.key, name);
    places.set(name, target);
    return name;
  };

  /** Follows references that say nothing else. */
  const endOf = (first: Target): Target => {
    let target = first;
    for (let steps = 0; steps < MAX_CHAIN; steps += 1) {
      const { value, base } = target;
      if (!isObject(value) || Object.keys(value).length > 1) return target;
      const ref = textIn(value, '$ref');
      if (ref === undefined) return target;
      target = references.target(ref, base);
    }
    throw new UnsupportedError('a schema of it refers only to itself');
  };

  const definition = (name: string): Fragment => {
    const known = converted.get(name);
    if (known !== undefined) return known;
    const place = places.get(name);
    if (place === undefined) throw new Error(`No definition ${name}`);
    const fragment = convert(place);
    converted.set(name, fragment);
    return fragment;
  };

  return { convert, definition };
}

import { isObject } from '#shared/graph/json-value.ts';
import type { Json, JsonObject } from '#shared/json.ts';
import { type Dialect, own, textIn } from './document.ts';
import { createSchemaNames } from './schema-names.ts';
import type { Part, References } from './references.ts';
import { described, isNullable, isPattern, plainKeywords } from './schema-keywords.ts';

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

const SINGLE = [
  ...['items', 'additionalProperties', 'propertyNames', 'contains', 'unevaluatedProperties'],
  ...['unevaluatedItems'],
];
const SINGLE_SAME = ['not', 'if', 'then', 'else'];
const LISTS_SAME = ['allOf', 'anyOf', 'oneOf'];

/** What the schemas of a document have in common. */
interface Source {
  references: References;
  dialect: Dialect;
  use: SchemaUse;
  /** The name of the definition for a reference. */
  define: (ref: string, base: string) => string;
}

/** The fragment that is being converted. */
interface Context extends Source {
  base: string;
  uses: Set<string>;
  same: Set<string>;
}

/** Where a subschema is. `isSame`: it is of the value of the whole fragment. */
interface Place {
  level: number;
  isSame: boolean;
}

export function createSchemas(
  references: References,
  { dialect, use, rootBase }: { dialect: Dialect; use: SchemaUse; rootBase: string },
): Schemas {
  const names = createSchemaNames(references, rootBase);
  const source: Source = { references, dialect, use, define: names.define };
  const converted = new Map<string, Fragment>();
  return {
    convert: (part) => convert(source, part),
    definition: (name) => {
      const known = converted.get(name);
      if (known !== undefined) return known;
      const fragment = convert(source, names.place(name));
      converted.set(name, fragment);
      return fragment;
    },
  };
}

function convert(source: Source, { value, base }: Part): Fragment {
  const [uses, same] = [new Set<string>(), new Set<string>()];
  const schema = convertNode(value, { ...source, base, uses, same }, { level: 0, isSame: true });
  return { schema: schema === false ? { not: {} } : schema, uses, same };
}

function convertNode(node: Json, context: Context, place: Place): JsonObject | false {
  if (node === false) return false;
  if (!isObject(node) || place.level > MAX_LEVELS) return {};
  const ref = textIn(node, '$ref');
  if (ref === undefined) return convertKeywords(node, context, place);
  const name = context.define(ref, context.base);
  context.uses.add(name);
  if (place.isSame) context.same.add(name);
  const reference = { $ref: `#/$defs/${name}` };
  if (isNullable(node)) return { ...described(node), anyOf: [reference, { type: 'null' }] };
  // Only since OpenAPI 3.1, other keywords count beside a reference. Descriptions do no harm.
  const beside =
    context.dialect === '3.1' ? convertKeywords(node, context, place) : described(node);
  return { ...beside, ...reference };
}

/** Converts a subschema. `same`: one of the same value. */
type Inner = (part: Json, same?: boolean) => JsonObject | false;

function convertKeywords(node: JsonObject, context: Context, place: Place): JsonObject {
  const inner: Inner = (part, same = false) =>
    convertNode(part, context, { level: place.level + 1, isSame: same && place.isSame });
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
  Object.assign(schema, convertProperties(node, schema, context, inner), convertMaps(node, inner));
  const open = schema['type'] === undefined && schema['enum'] === undefined;
  const { title: _title, description: _description, ...rest } = schema;
  return isNullable(node) && open && Object.keys(rest).length > 0
    ? { ...described(node), anyOf: [rest, { type: 'null' }] }
    : schema;
}

/** The properties, without those that are only for the other direction. */
function convertProperties(
  node: JsonObject,
  { required }: JsonObject,
  context: Context,
  inner: Inner,
): JsonObject {
  const properties = own(node, 'properties');
  if (!isObject(properties)) return {};
  const hidden = new Set<Json>();
  for (const [name, value] of Object.entries(properties)) {
    if (isHidden({ value, base: context.base }, context)) hidden.add(name);
  }
  const shown = Object.entries(properties).filter(([name]) => !hidden.has(name));
  return {
    properties: Object.fromEntries(shown.map(([name, part]) => [name, inner(part)])),
    ...(Array.isArray(required) && { required: required.filter((name) => !hidden.has(name)) }),
  };
}

function isHidden(property: Part, { use, references }: Context): boolean {
  const flag = use === 'request' ? 'readOnly' : 'writeOnly';
  if (!isObject(property.value)) return false;
  if (own(property.value, flag) === true) return true;
  const ref = textIn(property.value, '$ref');
  if (ref === undefined) return false;
  const { value } = references.target(ref, property.base);
  return isObject(value) && own(value, flag) === true;
}

function convertMaps(node: JsonObject, inner: Inner): JsonObject {
  const maps: JsonObject = {};
  const patterns = own(node, 'patternProperties');
  if (isObject(patterns)) {
    const good = Object.entries(patterns).filter(([pattern]) => isPattern(pattern));
    maps['patternProperties'] = Object.fromEntries(
      good.map(([pattern, part]) => [pattern, inner(part)]),
    );
  }
  const dependent = own(node, 'dependentSchemas');
  if (isObject(dependent)) {
    maps['dependentSchemas'] = Object.fromEntries(
      Object.entries(dependent).map(([name, part]) => [name, inner(part, true)]),
    );
  }
  return maps;
}

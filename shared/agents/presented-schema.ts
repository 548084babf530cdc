import { isObject } from '#shared/graph/json-value.ts';
import type { Json, JsonObject } from '#shared/json.ts';
import { canonicalJson } from '#shared/values/canonical-json.ts';

/** Keywords that providers and clients reject at the top of a tool's schema, and keywords that depend on them. */
const CHOICES = [
  ...['anyOf', 'oneOf', 'allOf', 'not', 'enum', 'const', 'if', 'then', 'else'],
  ...['dependentSchemas', 'dependencies'],
];
const REFERENCES = ['$ref', '$dynamicRef', '$recursiveRef', 'unevaluatedProperties'];
const LEFT_OUT = new Set([...CHOICES, ...REFERENCES]);
/** Matches references into parts of the schema that are left out. */
const LOST = new RegExp(`"\\$ref":"#/(?:${CHOICES.join('|')})/`);
/** Field names that providers accept. */
const PLAIN_NAME = /^[a-zA-Z0-9_.-]{1,64}$/;
/** The number of schemas to visit, because references can be circular. */
const MAX_PARTS = 500;
/** The number of references to follow from the top. */
const MAX_STEPS = 10;
const MAX_TEXT = 2_000;

/**
 * The schema of a tool's arguments as models and clients get it: of type `object`, with properties, and without a
 * choice or a reference at the top. The fields of the choices are among its properties, and its description says what
 * they require. It is for display: arguments are validated against the original schema.
 */
export function presentedSchema(schema: JsonObject): JsonObject {
  const whole = withoutReference(schema);
  const { required, ...fields } = fieldsOf(whole, { root: schema, parts: MAX_PARTS });
  const { description, additionalProperties, ...rest } = Object.fromEntries(
    Object.entries(whole).filter(([name]) => !LEFT_OUT.has(name) && name !== 'required'),
  );
  const own = objectIn(whole, 'properties');
  const allowed = [...fields.schemas].filter(
    ([name]) => additionalProperties !== false || Object.hasOwn(own, name),
  );
  const plain = allowed.filter(([name]) => PLAIN_NAME.test(name));
  const odd = allowed.filter(([name]) => !PLAIN_NAME.test(name));
  const needed = plain.flatMap(([name]) => (required.has(name) ? [name] : []));
  const closed = additionalProperties === false || whole['unevaluatedProperties'] === false;
  const text = [
    typeof description === 'string' ? description : '',
    textOf('Must also fit this JSON Schema', pick(whole, CHOICES)),
    textOf('Has these fields, too, by their exact names', shownFields(odd)),
  ].filter((part) => part !== '');
  return {
    ...rest,
    type: 'object',
    properties: shownFields(plain),
    ...(needed.length > 0 && { required: needed }),
    ...(text.length > 0 && { description: text.join('\n\n') }),
    ...(closed && odd.length === 0 && { additionalProperties: false }),
    ...(!closed && additionalProperties !== undefined && { additionalProperties }),
  };
}

/** Like `presentedSchema`, for a schema of answers, which need not be objects. */
export const presentedAnswer = (schema: JsonObject): JsonObject =>
  schema['type'] === 'object' ? presentedSchema(schema) : schema;

/** The schema with the reference at its top resolved. */
function withoutReference(schema: JsonObject): JsonObject {
  let whole = schema;
  for (let step = 0; step < MAX_STEPS && typeof whole['$ref'] === 'string'; step += 1) {
    const { $ref, ...own } = whole;
    const target = referred(schema, $ref as string);
    whole = isObject(target)
      ? { ...target, ...own, ...('$ref' in target && pick(target, ['$ref'])) }
      : own;
  }
  return whole;
}

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

/** The fields of an object: the possible schemas of each, and the required ones. */
interface Fields {
  schemas: Map<string, Json[]>;
  required: Set<string>;
}

interface Looking {
  root: JsonObject;
  /** How many more schemas can be visited. */
  parts: number;
}

function fieldsOf(part: Json | undefined, looking: Looking): Fields {
  const all: Fields = { schemas: new Map(), required: new Set() };
  looking.parts -= 1;
  if (!isObject(part) || looking.parts < 0) return all;
  const add = (name: string, schema: Json): void =>
    void all.schemas.set(name, [...(all.schemas.get(name) ?? []), schema]);
  for (const [name, schema] of Object.entries(objectIn(part, 'properties'))) add(name, schema);
  for (const name of listIn(part, 'required')) {
    if (typeof name === 'string') all.required.add(name);
  }
  const join = (other: Fields): void =>
    other.schemas.forEach((schemas, name) => {
      for (const schema of schemas) add(name, schema);
    });
  const { $ref } = part;
  const referredTo = typeof $ref === 'string' ? [referred(looking.root, $ref)] : [];
  for (const each of [...referredTo, ...listIn(part, 'allOf')]) {
    const fields = fieldsOf(each, looking);
    join(fields);
    for (const name of fields.required) all.required.add(name);
  }
  for (const choices of choicesIn(part)) {
    const branches = choices.map((each) => fieldsOf(each, looking));
    branches.forEach(join);
    const [first, ...others] = branches.map((branch) => branch.required);
    for (const name of first ?? []) {
      if (others.every((names) => names.has(name))) all.required.add(name);
    }
  }
  const dependent = ['dependentSchemas', 'dependencies'].flatMap((name) =>
    Object.values(objectIn(part, name)),
  );
  for (const each of [part['if'], part['then'], part['else'], ...dependent]) {
    join(fieldsOf(each, looking));
  }
  for (const name of all.required) {
    if (!all.schemas.has(name)) all.schemas.set(name, [{}]);
  }
  return all;
}

/** Lists of schemas: a value matches one schema of each list. `properties` counts as a schema. */
function choicesIn(part: JsonObject): Json[][] {
  const values = [listIn(part, 'enum'), part['const'] === undefined ? [] : [part['const']]];
  const ofValues = values.map((list) =>
    list.filter(isObject).map((value): Json => ({
      properties: Object.fromEntries(
        Object.entries(value).map(([name, each]) => [name, { const: each }]),
      ),
      required: Object.keys(value),
    })),
  );
  const lists = [listIn(part, 'anyOf'), listIn(part, 'oneOf'), ...ofValues];
  return lists
    .map((list) => list.filter((each) => each !== false))
    .filter(({ length }) => length > 0);
}

const shownFields = (fields: readonly (readonly [string, Json[]])[]): JsonObject =>
  Object.fromEntries(fields.map(([name, schemas]) => [name, fieldOf(schemas)]));

/** Combines the schemas of a field into one. Some clients do not accept `true` or `false` as a schema. */
function fieldOf(schemas: readonly Json[]): JsonObject {
  const shown = schemas.map((schema) =>
    isObject(schema) ? schema : schema === false ? { not: {} } : {},
  );
  const distinct = new Map(shown.map((schema) => [canonicalJson(schema), schema]));
  if (distinct.size > 1) distinct.delete('{}');
  const found = [...distinct].map(([text, schema]) => (LOST.test(text) ? {} : schema));
  return found.length === 1 ? found[0]! : { anyOf: found };
}

function textOf(what: string, schema: JsonObject): string {
  if (Object.keys(schema).length === 0) return '';
  const text = JSON.stringify(schema);
  const short = text.length > MAX_TEXT ? `${text.slice(0, MAX_TEXT)}…`.toWellFormed() : text;
  return `${what}: ${short}`;
}

const pick = (schema: JsonObject, names: readonly string[]): JsonObject =>
  Object.fromEntries(Object.entries(schema).filter(([name]) => names.includes(name)));

function objectIn(schema: JsonObject, key: string): JsonObject {
  const value = schema[key];
  return isObject(value) ? value : {};
}

function listIn(schema: JsonObject, key: string): Json[] {
  const value = schema[key];
  return Array.isArray(value) ? value : [];
}

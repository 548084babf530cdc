import type { Json, JsonObject } from '#shared/json.ts';

/** Keywords whose value is a map of schemas, a list of schemas, or a schema. */
const MAPS = new Set([
  ...['properties', 'patternProperties', '$defs', 'definitions', 'dependentSchemas'],
  'dependencies',
]);
const LISTS = new Set(['allOf', 'anyOf', 'oneOf', 'prefixItems', 'items']);
const SINGLE = new Set([
  ...['items', 'additionalProperties', 'additionalItems', 'propertyNames', 'contains', 'not', 'if'],
  ...['then', 'else', 'unevaluatedProperties', 'unevaluatedItems', 'contentSchema'],
]);
/** Keywords whose value is a limit of a number. */
const LIMITS = new Set(['minimum', 'maximum', 'exclusiveMinimum', 'exclusiveMaximum']);

const isObject = (value: Json | undefined): value is JsonObject =>
  typeof value === 'object' && value !== null && !Array.isArray(value);

/** The schema with each of its direct subschemas changed. Values in place of schemas that are not objects are kept. */
export function mapSubschemas(
  schema: JsonObject,
  change: (inner: JsonObject) => JsonObject,
): JsonObject {
  const changed = (value: Json): Json => (isObject(value) ? change(value) : value);
  return Object.fromEntries(
    Object.entries(schema).map(([name, value]) => {
      if (MAPS.has(name) && isObject(value)) {
        const inner = Object.entries(value).map(([key, each]) => [key, changed(each)] as const);
        return [name, Object.fromEntries(inner)];
      }
      if (LISTS.has(name) && Array.isArray(value)) return [name, value.map(changed)];
      return [name, SINGLE.has(name) ? changed(value) : value];
    }),
  );
}

/** A schema and all schemas in it, each with its path. Recursive: limit the depth first. */
export function* schemasIn(
  schema: Json | undefined,
  path: readonly string[] = [],
): Generator<{ path: readonly string[]; schema: JsonObject }> {
  if (!isObject(schema)) return;
  yield { path, schema };
  for (const [name, value] of Object.entries(schema)) {
    if (MAPS.has(name) && isObject(value)) {
      for (const [key, inner] of Object.entries(value)) {
        yield* schemasIn(inner, [...path, name, key]);
      }
    } else if (LISTS.has(name) && Array.isArray(value)) {
      for (const [at, inner] of value.entries()) {
        yield* schemasIn(inner, [...path, name, String(at)]);
      }
    } else if (SINGLE.has(name)) yield* schemasIn(value, [...path, name]);
  }
}

/** Where requests contain a JSON Schema: of a workflow, a gate, an answer, a tool, or an agent's tool entry. */
const SCHEMAS = new Set(['input_schema', 'response_schema']);
/** Fields that contain no schema, but may have fields of the same names. */
const DATA = new Set(['input', 'state', 'payload', 'params', 'fixed', 'mock']);

/** Whether a path in a request leads to a limit of numbers in a schema: `input_schema.properties.id.maximum`. */
export function isSchemaLimit(path: readonly string[]): boolean {
  // A tool call's arguments have the form of a request.
  const from = path[0] === 'params' && path[1] === 'arguments' ? 2 : 0;
  const at = path.findIndex(
    (key, place) => SCHEMAS.has(key) || (key === 'parameters' && path[place - 2] === 'tools'),
  );
  if (at < 0 || path.slice(from, at).some((key) => DATA.has(key))) return false;
  return isLimitOfNumbers(path.slice(at + 1));
}

function isLimitOfNumbers(path: readonly string[]): boolean {
  for (let at = 0; at < path.length; at += 1) {
    const name = path[at] ?? '';
    if (at === path.length - 1) return LIMITS.has(name);
    const inList = LISTS.has(name) && /^\d+$/.test(path[at + 1] ?? '');
    if (MAPS.has(name) || inList) at += 1;
    else if (!SINGLE.has(name)) return false;
  }
  return false;
}

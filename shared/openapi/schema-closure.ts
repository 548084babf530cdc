import type { Json, JsonObject } from '#shared/json.ts';
import { mapSubschemas } from '#shared/values/schema-parts.ts';
import { textIn } from './document.ts';
import type { Fragment, Schemas } from './schemas.ts';
import { UnsupportedError } from './unsupported.ts';

/** The longest schema of a tool as JSON, in characters, and of what a response is shortened to. */
const MAX_SCHEMA = 65_536;
const MAX_RESPONSE_SCHEMA = 16_384;
/** The depth to which schemas keep their descriptions when they are shortened. */
const DESCRIBED_LEVELS = 2;
/** Levels of JSON to which definitions that are used once are put in place; the validator takes 40. */
const MAX_DEPTH = 36;
/** Each level of subschemas is at most two of JSON. */
const PER_LEVEL = 2;
/** Definitions that one schema can reach. Beyond, it is too long in any case. */
const MAX_DEFINITIONS = 2_000;

const ANNOTATIONS = new Set(['title', 'description', 'default', '$ref']);
const PREFIX = '#/$defs/';

/**
 * A schema with the definitions that it refers to, put in place where that makes it simpler. Without the inner
 * descriptions if it is longer than allowed with them. Throws UnsupportedError if it is too long even then, or if a
 * value could never be compared with it.
 */
export function closedSchema(whole: Fragment, schemas: Schemas): JsonObject {
  const full = within(whole, schemas, MAX_SCHEMA, (schema) => schema);
  const closed =
    full ??
    within(whole, schemas, MAX_SCHEMA, (schema, isDefinition) =>
      withoutDescriptions(schema, isDefinition ? 0 : DESCRIBED_LEVELS),
    );
  if (closed === undefined) {
    throw new UnsupportedError(
      `the schema of its arguments is longer than ${MAX_SCHEMA.toLocaleString('en-US')} characters`,
    );
  }
  return closed;
}

/** Like `closedSchema`, but definitions that find no room allow everything. Undefined if it is too long even then. */
export function cutSchema(whole: Fragment, schemas: Schemas): JsonObject | undefined {
  const brief = withoutDescriptions(whole.schema, DESCRIBED_LEVELS);
  let room = MAX_RESPONSE_SCHEMA - JSON.stringify(brief).length;
  if (room < 0) return undefined;
  const definitions = new Map<string, JsonObject>();
  const waiting = [...whole.uses];
  for (const name of waiting) {
    if (definitions.has(name)) continue;
    const { schema, uses } = definitionOr(schemas, name);
    const short = withoutDescriptions(schema, 0);
    const length = JSON.stringify(short).length + name.length;
    const fits = length <= room;
    definitions.set(name, fits ? short : {});
    room -= fits ? length : name.length;
    if (!fits) continue;
    for (const next of uses) waiting.push(next);
  }
  return inPlace(brief, definitions);
}

/** A definition, or one that allows everything where a reference of a response leads nowhere. */
function definitionOr(schemas: Schemas, name: string): Fragment {
  try {
    return schemas.definition(name);
  } catch (error) {
    if (!(error instanceof UnsupportedError)) throw error;
    return { schema: {}, uses: new Set(), same: new Set() };
  }
}

/** The schema with its definitions, each changed, if they are not longer than allowed. */
function within(
  whole: Fragment,
  schemas: Schemas,
  most: number,
  change: (schema: JsonObject, isDefinition: boolean) => JsonObject,
): JsonObject | undefined {
  const top = change(whole.schema, false);
  let length = JSON.stringify(top).length;
  const definitions = new Map<string, JsonObject>();
  const fragments = new Map<string, Fragment>();
  const waiting = [...whole.uses];
  for (const name of waiting) {
    if (definitions.has(name)) continue;
    const fragment = schemas.definition(name);
    fragments.set(name, fragment);
    const schema = change(fragment.schema, true);
    definitions.set(name, schema);
    length += JSON.stringify(schema).length + name.length + 4;
    if (length > most || definitions.size > MAX_DEFINITIONS) return undefined;
    for (const next of fragment.uses) waiting.push(next);
  }
  refuseEndless(fragments);
  const closed = inPlace(top, definitions);
  return JSON.stringify(closed).length > most ? undefined : closed;
}

/** Throws UnsupportedError where a definition requires itself for the same value: comparing would not end. */
function refuseEndless(fragments: ReadonlyMap<string, Fragment>): void {
  const left = new Map([...fragments].map(([name, { same }]) => [name, new Set(same)]));
  // Takes away, again and again, what refers to nothing that is left.
  const users = new Map<string, string[]>();
  for (const [name, same] of left) {
    for (const used of same) users.set(used, [...(users.get(used) ?? []), name]);
  }
  const free = [...left].flatMap(([name, same]) => (same.size === 0 ? [name] : []));
  for (const name of free) {
    left.delete(name);
    for (const user of users.get(name) ?? []) {
      const same = left.get(user);
      same?.delete(name);
      if (same?.size === 0) free.push(user);
    }
  }
  const [endless] = left.keys();
  if (endless === undefined) return;
  throw new UnsupportedError(
    `its schema '${endless}' requires itself, so that no value can be compared with it`,
  );
}

/** Definitions that are used once stand where they are used, unless the schema becomes too deep; the others in `$defs`. */
function inPlace(top: JsonObject, definitions: ReadonlyMap<string, JsonObject>): JsonObject {
  const counts = new Map<string, number>();
  for (const schema of [top, ...definitions.values()]) countUses(schema, counts);
  const kept = new Map<string, JsonObject>();
  const waiting: string[] = [];
  const placed = (schema: JsonObject, depth: number): JsonObject => {
    const ref = textIn(schema, '$ref');
    const name = ref?.startsWith(PREFIX) === true ? ref.slice(PREFIX.length) : undefined;
    const target = name === undefined ? undefined : definitions.get(name);
    if (name !== undefined && target !== undefined) {
      const alone = Object.keys(schema).every((key) => ANNOTATIONS.has(key));
      if (alone && counts.get(name) === 1 && depth + depthOf(target) <= MAX_DEPTH) {
        const { $ref: _there, ...beside } = schema;
        return { ...placed(target, depth), ...beside };
      }
      waiting.push(name);
    }
    return mapSubschemas(schema, (inner) => placed(inner, depth + PER_LEVEL));
  };
  const closed = placed(top, 0);
  for (const name of waiting) {
    if (kept.has(name)) continue;
    // Before what it refers to is looked at: it may refer to itself.
    kept.set(name, {});
    kept.set(name, placed(definitions.get(name) ?? {}, PER_LEVEL));
  }
  return kept.size === 0 ? closed : { ...closed, $defs: Object.fromEntries(kept) };
}

function countUses(schema: JsonObject, counts: Map<string, number>): void {
  const ref = textIn(schema, '$ref');
  if (ref !== undefined) {
    const name = ref.slice(PREFIX.length);
    counts.set(name, (counts.get(name) ?? 0) + 1);
  }
  mapSubschemas(schema, (inner) => {
    countUses(inner, counts);
    return inner;
  });
}

/** Levels of JSON, at least. Values such as `default` are few. */
function depthOf(schema: Json): number {
  if (typeof schema !== 'object' || schema === null) return 0;
  const parts = Array.isArray(schema) ? schema : Object.values(schema);
  return 1 + parts.reduce<number>((most, part) => Math.max(most, depthOf(part)), 0);
}

/** The schema without descriptions below a level of subschemas. */
function withoutDescriptions(schema: JsonObject, levels: number): JsonObject {
  const inner = mapSubschemas(schema, (part) => withoutDescriptions(part, levels - 1));
  if (levels > 0) return inner;
  const rest = Object.entries(inner).filter(([name]) => name !== 'title' && name !== 'description');
  return Object.fromEntries(rest);
}

import type { JsonObject } from '#client/index.ts';
import { membersOf } from '#console/src/parts/consequences/argument-rows.ts';
import { isRecord } from '#console/src/parts/data/record.ts';
import { isContainer, pathOf } from '#console/src/parts/json/json-rows.ts';
import { fieldAt } from './schema-fields.ts';

type Path = readonly (string | number)[];

/** A place of a value among arguments. */
export interface ArgumentPlace {
  /** Like `body.items[0]`. */
  path: string;
  at: Path;
}

/**
 * The places of the values in a call and in what is sent instead, and of those that the schema of the tool has besides. A
 * value with a place has no other places within it.
 */
export function argumentPlaces(
  given: JsonObject,
  edited: JsonObject,
  schema: unknown,
): ArgumentPlace[] {
  const own = placesIn(given);
  const paths = new Set(own.map(({ path }) => path));
  const isNew = ({ path, at }: ArgumentPlace): boolean =>
    !paths.has(path) && valueAt(given, at) === undefined && !isWithin(own, at);
  const added = edited === given ? [] : placesIn(edited).filter(isNew);
  const properties = isRecord(schema) && isRecord(schema['properties']) ? schema['properties'] : {};
  const possible = Object.keys(properties)
    .filter((name) => !Object.hasOwn(given, name) && !Object.hasOwn(edited, name))
    .map((name) => ({ path: pathOf('', name, false), at: [name] }))
    // Whole lists and objects can be added as JSON.
    .filter(({ at }) => fieldAt(schema, at, undefined).input !== 'json');
  return [...own, ...added, ...possible];
}

/** The places of the values in arguments, without the objects and lists around them. */
function placesIn(given: JsonObject): ArgumentPlace[] {
  const walk = (value: unknown, at: Path, path: string): ArgumentPlace[] => {
    const members = membersOf(value);
    if (members === undefined || (members.length === 0 && at.length > 0)) return [{ path, at }];
    return members.flatMap(([key, member]) =>
      walk(member, [...at, key], pathOf(path, String(key), Array.isArray(value))),
    );
  };
  return walk(given, [], '');
}

/** Whether a place is inside one of these, which was no list or object with values before. */
const isWithin = (places: readonly ArgumentPlace[], at: Path): boolean =>
  places.some(
    (place) => place.at.length < at.length && place.at.every((part, n) => part === at[n]),
  );

/** The value at a place; undefined if there is none. */
export const valueAt = (of: unknown, at: Path): unknown =>
  at.reduce<unknown>(
    (outer, part) =>
      isContainer(outer) && Object.hasOwn(outer, part)
        ? (outer as Record<string | number, unknown>)[part]
        : undefined,
    of,
  );

/** The same arguments with another value at a place. Undefined removes it; in a list it becomes null. */
export function withValueAt(of: JsonObject, at: Path, value: unknown): JsonObject {
  const set = (outer: unknown, [part, ...inner]: Path): unknown => {
    if (part === undefined) return value;
    if (Array.isArray(outer)) {
      return outer.map((each: unknown, n) => (n === part ? (set(each, inner) ?? null) : each));
    }
    const { [String(part)]: before, ...others } = isRecord(outer) ? outer : {};
    const next = set(before, inner);
    if (next === undefined) return others;
    // In its place, as the order of the keys is the one that people have read.
    return isRecord(outer) && Object.hasOwn(outer, part)
      ? Object.fromEntries(
          Object.entries(outer).map(([key, own]) => [key, key === part ? next : own]),
        )
      : { ...others, [part]: next };
  };
  return set(of, at) as JsonObject;
}

import type { Effect, JsonObject } from '#client/index.ts';
import { isContainer, pathOf, pathText } from '#console/src/parts/json/json-rows.ts';

/** One value among the arguments of an effect. */
export interface ArgumentRow {
  /** Like `body.items[0]`. */
  path: string;
  value: unknown;
  /** For a value that is not known yet: what it reads of the state. */
  reads?: string[];
}

/** The values of arguments, one by one, without the objects and lists around them. */
export function argumentRows(given: JsonObject, unknown: Effect['unknown']): ArgumentRow[] {
  const readsAt = new Map(unknown.map(({ path, reads }) => [JSON.stringify(path), reads]));
  const walk = (value: unknown, path: (string | number)[], name: string): ArgumentRow[] => {
    const reads = readsAt.get(JSON.stringify(path));
    if (reads !== undefined) {
      readsAt.delete(JSON.stringify(path));
      return [{ path: name, value, reads }];
    }
    const members = membersOf(value);
    if (members === undefined || members.length === 0) return [{ path: name, value }];
    return members.flatMap(([key, member]) =>
      walk(member, [...path, key], pathOf(name, String(key), Array.isArray(value))),
    );
  };
  const rows = Object.entries(given).flatMap(([key, value]) =>
    walk(value, [key], pathOf('', key, false)),
  );
  // What is left has no place among the arguments yet.
  const others = unknown.filter(({ path }) => readsAt.has(JSON.stringify(path)));
  return [
    ...rows,
    ...others.map(({ path, reads }) => ({ path: pathText(path), value: null, reads })),
  ];
}

/** The values in a list or object, with their indexes or keys; undefined for any other value. */
export function membersOf(value: unknown): [string | number, unknown][] | undefined {
  if (!isContainer(value)) return undefined;
  return Array.isArray(value) ? [...value.entries()] : Object.entries(value);
}

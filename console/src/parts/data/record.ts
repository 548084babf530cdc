/** A part of a graph, as an object that is not validated. */
export type JsonRecord = Record<string, unknown>;

export const isRecord = (value: unknown): value is JsonRecord =>
  typeof value === 'object' && value !== null && !Array.isArray(value);

/** The value at a dotted path, like `retry.max_attempts`. */
export function valueAt(record: JsonRecord, path: string): unknown {
  return path
    .split('.')
    .reduce<unknown>(
      (value, name) => (isRecord(value) && Object.hasOwn(value, name) ? value[name] : undefined),
      record,
    );
}

/** The record with a new value at the path. Undefined removes the value, and objects that become empty. */
export function withAt(record: JsonRecord, path: string, value: unknown): JsonRecord {
  const [name = '', ...rest] = path.split('.');
  const inner = record[name];
  const next =
    rest.length === 0 ? value : withAt(isRecord(inner) ? inner : {}, rest.join('.'), value);
  const gone = next === undefined || (rest.length > 0 && isEmpty(next));
  if (!gone) return { ...record, [name]: next };
  const { [name]: _, ...others } = record;
  return others;
}

const isEmpty = (value: unknown): boolean => isRecord(value) && Object.keys(value).length === 0;

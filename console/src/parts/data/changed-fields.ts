import { canonicalJson } from '#shared/graph/diff.ts';
import type { Json } from '#shared/json.ts';

/** A field that two objects do not share; undefined where an object does not have it. */
export interface ChangedField {
  name: string;
  before: unknown;
  after: unknown;
}

/** The fields in which two JSON objects differ, in the order of the first. */
export function changedFields(
  before: Readonly<Record<string, unknown>>,
  after: Readonly<Record<string, unknown>>,
): ChangedField[] {
  return [...new Set([...Object.keys(before), ...Object.keys(after)])]
    .map((name) => ({ name, before: before[name], after: after[name] }))
    .filter((field) => !same(field.before, field.after));
}

const same = (one: unknown, other: unknown): boolean =>
  one === undefined || other === undefined
    ? one === other
    : canonicalJson(one as Json) === canonicalJson(other as Json);

import { createHash } from 'node:crypto';
import { canonicalJson } from '#shared/values/canonical-json.ts';

/** Characters of a tag: 132 bits. */
const TAG_LENGTH = 22;

/**
 * The entity tag of a record, without the quotes of the header. Equal records have equal tags. `apart` names fields to
 * ignore: those that change without an edit, such as statistics, and those that another field already identifies.
 */
export function etagOf(record: object, apart: readonly string[] = []): string {
  const edited = Object.fromEntries(
    Object.entries(record).filter(([field]) => !apart.includes(field)),
  );
  const digest = createHash('sha256').update(canonicalJson(edited)).digest('base64url');
  return digest.slice(0, TAG_LENGTH);
}

/** The record with its entity tag. */
export const withEtag = <Fields extends object>(
  record: Fields,
  apart?: readonly (keyof Fields & string)[],
): Fields & { etag: string } => ({ ...record, etag: etagOf(record, apart) });

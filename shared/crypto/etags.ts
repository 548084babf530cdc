import { createHash } from 'node:crypto';
import { canonicalJson } from '../values/canonical-json.ts';

/** Characters of a tag: 132 bits. */
const TAG_LENGTH = 22;

/**
 * The record with its entity tag, without the quotes of the header. Equal records have equal tags. `apart` names fields
 * that change without an edit, such as figures, or that a field beside them identifies.
 */
export function withEtag<Fields extends object>(
  record: Fields,
  apart: readonly (keyof Fields)[] = [],
): Fields & { etag: string } {
  const edited = Object.fromEntries(
    Object.entries(record).filter(([field]) => !apart.includes(field as keyof Fields)),
  );
  const digest = createHash('sha256').update(canonicalJson(edited)).digest('base64url');
  return { ...record, etag: digest.slice(0, TAG_LENGTH) };
}

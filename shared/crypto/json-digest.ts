import { createHash } from 'node:crypto';
import type { Json } from '#shared/json.ts';
import { canonicalJson } from '#shared/values/canonical-json.ts';

/** The SHA-256 of the value's canonical JSON (RFC 8785), in hexadecimal, prefixed with `sha256:`. */
export const jsonDigest = (value: Json): string =>
  `sha256:${createHash('sha256').update(canonicalJson(value)).digest('hex')}`;

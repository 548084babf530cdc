import { createHash } from 'node:crypto';
import type { Json } from '../json.ts';
import { canonicalJson } from '../values/canonical-json.ts';

/** `sha256:` and, in hexadecimal, the SHA-256 of the value's canonical JSON (RFC 8785). */
export const jsonDigest = (value: Json): string =>
  `sha256:${createHash('sha256').update(canonicalJson(value)).digest('hex')}`;

import { createHash } from 'node:crypto';
import type { Json } from '#shared/json.ts';
import { canonicalJson } from '#shared/values/canonical-json.ts';

/** `sha256:` and, in hexadecimal, the SHA-256 of the value's canonical JSON (RFC 8785). */
export const jsonDigest = (value: Json): string =>
  `sha256:${createHash('sha256').update(canonicalJson(value)).digest('hex')}`;

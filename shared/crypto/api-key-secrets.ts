import { createHash } from 'node:crypto';
import { API_KEY_PREFIX } from '#shared/contract/people/api-key.ts';
import { randomText } from './ids.ts';

/** 240 random bits; 200 of them stay unknown to anyone who sees the prefix. */
const SECRET_LENGTH = 48;
const SHOWN_LENGTH = 8;

/** A new secret that starts with `kind`, and its stored form. */
export function newApiKeySecret(kind: string = API_KEY_PREFIX): {
  secret: string;
  prefix: string;
  hash: Buffer;
} {
  const secret = kind + randomText(SECRET_LENGTH);
  return {
    secret,
    prefix: secret.slice(0, kind.length + SHOWN_LENGTH),
    hash: hashApiKeySecret(secret),
  };
}

/** SHA-256: random secrets of this length need no slow hash, and every request computes it. */
export const hashApiKeySecret = (secret: string): Buffer =>
  createHash('sha256').update(secret).digest();

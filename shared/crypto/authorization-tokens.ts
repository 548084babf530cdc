import { createHash, createHmac, randomBytes } from 'node:crypto';

/** Secrets of the authorization server: 256 random bits, or as many derived ones, after the name of their kind. */

const prefixes = { code: 'mcpc_', access: 'mcpa_', refresh: 'mcpr_' } as const;
export type AuthorizationSecret = keyof typeof prefixes;

export const isAccessToken = (text: string): boolean => text.startsWith(prefixes.access);

export const newAuthorizationSecret = (kind: AuthorizationSecret): string =>
  prefixes[kind] + randomBytes(32).toString('base64url');

/** SHA-256: the only form in which the database has such a secret. */
export const hashAuthorizationSecret = (secret: string): Buffer =>
  createHash('sha256').update(secret).digest();

/**
 * The tokens that replace a refresh token. The same request gets the same ones, so that a client can repeat it when the
 * response was lost. They need the salt, which only the database has, and the token, which only the client has: neither
 * a copy of the database nor a stolen old token is enough.
 */
export const successorsOf = (
  refreshToken: string,
  salt: Buffer,
): { access: string; refresh: string } => {
  const derived = (kind: 'access' | 'refresh') =>
    prefixes[kind] +
    createHmac('sha256', salt).update(`${kind} ${refreshToken}`).digest('base64url');
  return { access: derived('access'), refresh: derived('refresh') };
};

/** The S256 challenge of a PKCE verifier (RFC 7636). */
export const challengeOf = (verifier: string): string =>
  createHash('sha256').update(verifier).digest('base64url');

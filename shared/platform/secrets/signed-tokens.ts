import { hkdfSync, randomBytes, webcrypto } from 'node:crypto';
import { errors, type JWTPayload, jwtVerify, SignJWT } from 'jose';

/** The maximum difference between the clocks of two API processes. */
const CLOCK_TOLERANCE_SECONDS = 5;
/** The service's own tokens are a fifth of this length. */
const MAX_TOKEN_LENGTH = 2_000;

const ALGORITHM = 'HS256';
const ISSUER = 'durable-workflows';

export interface SignedTokens {
  sign(
    subject: string,
    claims: JWTPayload,
    expiresInSeconds: number,
  ): Promise<{ token: string; expiresAt: Date }>;
  /** The claims of a valid token of this kind and service, at most as old as this; undefined for anything else. */
  read(token: string, most?: { ageSeconds: number }): Promise<JWTPayload | undefined>;
}

/**
 * Tokens are JWTs signed with HMAC-SHA256, with a key derived from the secret, so that a secret can have any length and
 * its other uses get separate keys. Each kind has a key and an audience of its own, so that none is valid in place of another.
 * Without a secret, the key is random: it is lost when the process ends, and no other process has it.
 */
export function createSignedTokens(
  secret: string | undefined,
  kind: 'session' | 'stream',
): SignedTokens {
  // Imported once. A key given as bytes would be imported again for every token, which takes longer than the rest.
  const key = webcrypto.subtle.importKey(
    'raw',
    hkdfSync('sha256', secret ?? randomBytes(32), '', `${kind} tokens`, 32),
    { name: 'HMAC', hash: 'SHA-256' },
    false,
    ['sign', 'verify'],
  );
  return {
    sign: async (subject, claims, expiresInSeconds) => {
      const issuedAt = Math.floor(Date.now() / 1000);
      const expiresAt = issuedAt + expiresInSeconds;
      const token = await new SignJWT(claims)
        .setProtectedHeader({ alg: ALGORITHM })
        .setSubject(subject)
        .setIssuer(ISSUER)
        .setAudience(kind)
        .setIssuedAt(issuedAt)
        .setExpirationTime(expiresAt)
        .sign(await key);
      return { token, expiresAt: new Date(expiresAt * 1000) };
    },
    read: async (token, most) => {
      if (token.length > MAX_TOKEN_LENGTH) return undefined;
      try {
        const { payload } = await jwtVerify(token, await key, {
          algorithms: [ALGORITHM],
          issuer: ISSUER,
          audience: kind,
          // Also rejects tokens from the future.
          ...(most === undefined ? {} : { maxTokenAge: most.ageSeconds }),
          clockTolerance: CLOCK_TOLERANCE_SECONDS,
        });
        return payload;
      } catch (error) {
        // The reason why a token is invalid would only help a forger.
        if (error instanceof errors.JOSEError) return undefined;
        throw error;
      }
    },
  };
}

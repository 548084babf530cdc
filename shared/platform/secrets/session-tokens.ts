import { hkdfSync, randomBytes, webcrypto } from 'node:crypto';
import { errors, jwtVerify, SignJWT } from 'jose';
import { z } from 'zod';
import { BoundedMap } from '#shared/values/bounded-cache.ts';

/** How long a session lasts without signing in again. */
export const SESSION_SECONDS = 7 * 24 * 60 * 60;
/** The maximum difference between the clocks of two API processes. */
const CLOCK_TOLERANCE_SECONDS = 5;
/** How many tokens with a verified signature are cached; the one verified longest ago is evicted first. */
const MAX_REMEMBERED = 1_000;
/** The service's own tokens are a fifth of this length. */
const MAX_TOKEN_LENGTH = 2_000;

const ALGORITHM = 'HS256';
const ISSUER = 'durable-workflows';
const AUDIENCE = 'session';

/** A token's content: the member, and the epoch of the member's sessions. */
export interface Session {
  memberId: string;
  epoch: number;
  /** Unix seconds. */
  expiresAt: number;
}

export interface SessionTokens {
  issue(member: { memberId: string; epoch: number }): Promise<{ token: string; expiresAt: Date }>;
  /** The content of a valid token of this service; undefined for anything else. */
  verify(token: string): Promise<Session | undefined>;
}

const claims = z.object({ sub: z.string().min(1), epoch: z.int(), exp: z.int() });

/**
 * Tokens are JWTs signed with HMAC-SHA256, with a key derived from the secret, so that a secret can have any length and
 * its other uses get separate keys. Without a secret, the key is random: it is lost when the process ends, and no other
 * process has it.
 */
export function createSessionTokens(secret: string | undefined): SessionTokens {
  const material = secret ?? randomBytes(32);
  // Imported once. A key given as bytes would be imported again for every token, which takes longer than the rest.
  const key = webcrypto.subtle.importKey(
    'raw',
    hkdfSync('sha256', material, '', 'session tokens', 32),
    { name: 'HMAC', hash: 'SHA-256' },
    false,
    ['sign', 'verify'],
  );
  // A valid signature stays valid, and checking it takes longer than the lookup of its session. The session's expiry
  // and its member can change, and are checked every time.
  const remembered = new BoundedMap<string, Session>(MAX_REMEMBERED);
  return {
    issue: async ({ memberId, epoch }) => {
      const issuedAt = Math.floor(Date.now() / 1000);
      const expiresAt = issuedAt + SESSION_SECONDS;
      const token = await new SignJWT({ epoch })
        .setProtectedHeader({ alg: ALGORITHM })
        .setSubject(memberId)
        .setIssuer(ISSUER)
        .setAudience(AUDIENCE)
        .setIssuedAt(issuedAt)
        .setExpirationTime(expiresAt)
        .sign(await key);
      return { token, expiresAt: new Date(expiresAt * 1000) };
    },
    verify: async (token) => {
      if (token.length > MAX_TOKEN_LENGTH) return undefined;
      const known = remembered.get(token);
      if (known !== undefined) return known.expiresAt * 1000 > Date.now() ? known : undefined;
      try {
        const { payload } = await jwtVerify(token, await key, {
          algorithms: [ALGORITHM],
          issuer: ISSUER,
          audience: AUDIENCE,
          // Also rejects tokens from the future.
          maxTokenAge: SESSION_SECONDS,
          clockTolerance: CLOCK_TOLERANCE_SECONDS,
        });
        const said = claims.safeParse(payload);
        if (!said.success) return undefined;
        const { sub, epoch, exp } = said.data;
        const session: Session = { memberId: sub, epoch, expiresAt: exp };
        remembered.set(token, session);
        return session;
      } catch (error) {
        // The reason why a token is invalid would only help a forger.
        if (error instanceof errors.JOSEError) return undefined;
        throw error;
      }
    },
  };
}

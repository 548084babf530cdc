import { hkdfSync, randomBytes, webcrypto } from 'node:crypto';
import { errors, jwtVerify, SignJWT } from 'jose';
import { z } from 'zod';

/** The service's own tokens are a fifth of this length. */
const MAX_TOKEN_LENGTH = 2_000;
const CLOCK_TOLERANCE_SECONDS = 5;

const ALGORITHM = 'HS256';
const ISSUER = 'durable-workflows';
const AUDIENCE = 'stream';

/** Who has created a stream token. It reads the stream only as long as they can. */
const minter = z.discriminatedUnion('kind', [
  z.object({ kind: z.literal('session'), memberId: z.string(), epoch: z.int() }),
  z.object({ kind: z.literal('api_key'), keyId: z.string() }),
  /** Anyone in open mode. The token is invalid in required mode. */
  z.object({ kind: z.literal('none') }),
]);
export type StreamTokenMinter = z.infer<typeof minter>;

/** A token's content: the one run that it reads, and who has created it. */
interface StreamGrant {
  runId: string;
  minter: StreamTokenMinter;
  /** Unix seconds. */
  expiresAt: number;
}

export interface StreamTokens {
  issue(
    grant: Omit<StreamGrant, 'expiresAt'>,
    expiresInSeconds: number,
  ): Promise<{ token: string; expiresAt: Date }>;
  /** The content of a valid stream token of this service; undefined for anything else. */
  verify(token: string): Promise<StreamGrant | undefined>;
}

const claims = z.object({ sub: z.string().min(1), minter, exp: z.int() });

/**
 * Tokens that read the stream of one run. They are signed like session tokens, but with a key and an audience of their
 * own, so that neither kind is valid in place of the other. They are not stored: what ends them early is checked at
 * their minter.
 */
export function createStreamTokens(secret: string | undefined): StreamTokens {
  const key = webcrypto.subtle.importKey(
    'raw',
    hkdfSync('sha256', secret ?? randomBytes(32), '', 'stream tokens', 32),
    { name: 'HMAC', hash: 'SHA-256' },
    false,
    ['sign', 'verify'],
  );
  return {
    issue: async ({ runId, minter: by }, expiresInSeconds) => {
      const issuedAt = Math.floor(Date.now() / 1000);
      const expiresAt = issuedAt + expiresInSeconds;
      const token = await new SignJWT({ minter: by })
        .setProtectedHeader({ alg: ALGORITHM })
        .setSubject(runId)
        .setIssuer(ISSUER)
        .setAudience(AUDIENCE)
        .setIssuedAt(issuedAt)
        .setExpirationTime(expiresAt)
        .sign(await key);
      return { token, expiresAt: new Date(expiresAt * 1000) };
    },
    verify: async (token) => {
      if (token.length > MAX_TOKEN_LENGTH) return undefined;
      try {
        const { payload } = await jwtVerify(token, await key, {
          algorithms: [ALGORITHM],
          issuer: ISSUER,
          audience: AUDIENCE,
          clockTolerance: CLOCK_TOLERANCE_SECONDS,
        });
        const said = claims.safeParse(payload);
        if (!said.success || said.data.exp * 1000 <= Date.now()) return undefined;
        const { sub, minter: by, exp } = said.data;
        return { runId: sub, minter: by, expiresAt: exp };
      } catch (error) {
        // The reason why a token is invalid would only help a forger.
        if (error instanceof errors.JOSEError) return undefined;
        throw error;
      }
    },
  };
}

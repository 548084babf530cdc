import { z } from 'zod';
import { createSignedTokens } from './signed-tokens.ts';

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
 * Signed tokens that read the stream of one run. They are not stored: what ends them early is checked at their minter.
 */
export function createStreamTokens(secret: string | undefined): StreamTokens {
  const tokens = createSignedTokens(secret, 'stream');
  return {
    issue: ({ runId, minter: by }, expiresInSeconds) =>
      tokens.sign(runId, { minter: by }, expiresInSeconds),
    verify: async (token) => {
      const said = claims.safeParse(await tokens.read(token));
      if (!said.success || said.data.exp * 1000 <= Date.now()) return undefined;
      const { sub, minter: by, exp } = said.data;
      return { runId: sub, minter: by, expiresAt: exp };
    },
  };
}

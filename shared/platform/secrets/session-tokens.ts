import { z } from 'zod';
import { BoundedMap } from '#shared/values/bounded-cache.ts';
import { createSignedTokens } from './signed-tokens.ts';

/** How long a session lasts without signing in again. */
export const SESSION_SECONDS = 7 * 24 * 60 * 60;
/** How many tokens with a verified signature are cached; the one verified longest ago is evicted first. */
const MAX_REMEMBERED = 1_000;

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

/** Signed tokens for the sessions of members. Without a secret, they end with the process. */
export function createSessionTokens(secret: string | undefined): SessionTokens {
  const tokens = createSignedTokens(secret, 'session');
  // A valid signature stays valid, and checking it takes longer than the lookup of its session. The session's expiry
  // and its member can change, and are checked every time.
  const remembered = new BoundedMap<string, Session>(MAX_REMEMBERED);
  return {
    issue: ({ memberId, epoch }) => tokens.sign(memberId, { epoch }, SESSION_SECONDS),
    verify: async (token) => {
      const known = remembered.get(token);
      if (known !== undefined) return known.expiresAt * 1000 > Date.now() ? known : undefined;
      const payload = await tokens.read(token, { ageSeconds: SESSION_SECONDS });
      const said = claims.safeParse(payload);
      if (!said.success) return undefined;
      const { sub, epoch, exp } = said.data;
      const session: Session = { memberId: sub, epoch, expiresAt: exp };
      remembered.set(token, session);
      return session;
    },
  };
}

import { z } from 'zod';
import { conflict, notFound } from '#shared/errors.ts';
import { type Db, type Pool, sql, statement } from '#shared/db/pool.ts';
import type { ConnectionScope } from './connections.ts';

/** How long a person has between the click and the callback. */
export const SIGN_IN_SECONDS = 600;

/** Unfinished sign-ins of a member at a time. */
const MAX_OPEN = 50;

/** Binds a sealed verifier to its sign-in. */
export const verifierPlace = (workspaceId: string, signInId: string): string =>
  `${workspaceId}/connections/sign-ins/${signInId}/verifier`;

/** A sign-in that has begun. State and cookie are only known to the browser. */
export interface BegunSignIn extends ConnectionScope {
  id: string;
  revision: number;
  memberId: string;
  stateHash: Buffer;
  cookieHash: Buffer;
  sealedVerifier: string;
  nonce: string;
  redirectUri: string;
}

/**
 * Stores a sign-in for ten minutes, and removes expired ones. Throws AppError `not_found` for a connection or member
 * that was removed in the meantime, and `conflict` when there are too many.
 */
export async function beginSignIn(db: Pool, begun: BegunSignIn): Promise<void> {
  await db.transaction(async (tx) => {
    // Neither can be deleted until the row that refers to them is there.
    const held = await tx.maybeOne(statement(z.object({}))`
      SELECT FROM connections c JOIN members m ON m.id = ${begun.memberId} AND m.workspace_id = c.workspace_id
      WHERE c.id = ${begun.connectionId} AND c.workspace_id = ${begun.workspaceId} FOR KEY SHARE
    `);
    if (held === null) throw notFound('Connection');
    await tx.query(statement(z.object({}))`
      DELETE FROM connection_sign_ins WHERE id IN (
        SELECT id FROM connection_sign_ins WHERE expires_at < now() LIMIT 100 FOR UPDATE SKIP LOCKED)
    `);
    const { n } = await tx.one(statement(z.object({ n: z.number() }))`
      SELECT count(*) AS n FROM connection_sign_ins WHERE member_id = ${begun.memberId} AND expires_at >= now()
    `);
    if (n >= MAX_OPEN) {
      throw conflict(`You have ${MAX_OPEN} unfinished sign-ins; try again in ten minutes`);
    }
    await tx.query(statement(z.object({}))`
      INSERT INTO connection_sign_ins (id, workspace_id, connection_id, revision, member_id, state_hash, cookie_hash,
                                       sealed_verifier, nonce, redirect_uri, expires_at)
      VALUES (${begun.id}, ${begun.workspaceId}, ${begun.connectionId}, ${begun.revision}, ${begun.memberId},
              ${sql.binary(begun.stateHash)}, ${sql.binary(begun.cookieHash)}, ${begun.sealedVerifier}, ${begun.nonce},
              ${begun.redirectUri}, now() + ${SIGN_IN_SECONDS}::int * interval '1 s')
    `);
  });
}

const takenRow = z.object({
  workspace_id: z.string(),
  connection_id: z.string(),
  revision: z.number(),
  member_id: z.string(),
  sealed_verifier: z.string(),
  nonce: z.string(),
  redirect_uri: z.string(),
});
export type TakenSignIn = z.infer<typeof takenRow>;

/** Takes the sign-in with this state and cookie: once, and within ten minutes. */
export async function takeSignIn(
  db: Db,
  { id, stateHash, cookieHash }: Pick<BegunSignIn, 'id' | 'stateHash' | 'cookieHash'>,
): Promise<TakenSignIn | undefined> {
  const row = await db.maybeOne(statement(takenRow)`
    DELETE FROM connection_sign_ins
    WHERE id = ${id} AND state_hash = ${sql.binary(stateHash)} AND cookie_hash = ${sql.binary(cookieHash)}
      AND expires_at >= now()
    RETURNING workspace_id, connection_id, revision, member_id, sealed_verifier, nonce, redirect_uri
  `);
  return row ?? undefined;
}

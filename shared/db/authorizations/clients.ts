import { z } from 'zod';
import { newId } from '#shared/crypto/ids.ts';
import { type Db, type Pool, sql, statement } from '#shared/db/pool.ts';
import { AppError } from '#shared/errors.ts';

/** Clients that registered themselves and that no member has authorized: from one network, and in total. */
const MAX_UNUSED = { network: 100, total: 10_000 };
const UNUSED_HOURS = 24;
/** A client that keeps its id longer than that registers again. */
const FORGOTTEN_DAYS = 180;

const clientRow = z.object({
  id: z.string(),
  name: z.string(),
  redirect_uris: z.array(z.string()),
});
export type OAuthClient = z.infer<typeof clientRow>;

const nothing = z.object({});

/** Stores a client. Throws AppError `rate_limited` when too many are unused. */
export async function registerClient(
  db: Pool,
  client: { name: string; redirectUris: readonly string[]; network: string },
): Promise<OAuthClient> {
  return db.transaction(async (tx) => {
    // One registration at a time, so that concurrent ones stay within the limit.
    await tx.query(statement(nothing)`
      SELECT pg_advisory_xact_lock(hashtext('register an oauth client'))
    `);
    const unused = await tx.one(statement(z.object({ network: z.number(), total: z.number() }))`
      SELECT count(*) FILTER (WHERE registered_from = ${client.network}) AS network, count(*) AS total
      FROM oauth_clients WHERE used_at IS NULL AND created_at > now() - ${UNUSED_HOURS}::int * interval '1 hour'
    `);
    if (unused.network >= MAX_UNUSED.network || unused.total >= MAX_UNUSED.total) {
      throw new AppError(
        'rate_limited',
        'Too many registered clients that no member has authorized: use one of them, or try again tomorrow',
        { retryAfterSeconds: 3_600 },
      );
    }
    return tx.one(statement(clientRow)`
      INSERT INTO oauth_clients (id, name, redirect_uris, registered_from)
      VALUES (${newId('oauthClient')}, ${client.name}, ${sql.array([...client.redirectUris], 'text')}, ${client.network})
      RETURNING id, name, redirect_uris
    `);
  });
}

/** A registered client; undefined for an unknown id, and for one that ended unused. */
export async function findClient(db: Db, id: string): Promise<OAuthClient | undefined> {
  const row = await db.maybeOne(statement(clientRow)`
    SELECT id, name, redirect_uris FROM oauth_clients
    WHERE id = ${id} AND (used_at IS NOT NULL OR created_at > now() - ${UNUSED_HOURS}::int * interval '1 hour')
  `);
  return row ?? undefined;
}

/** Deletes a batch of clients that ended unused, or that have long had no access. Returns how many. */
export async function deleteEndedClients(db: Db, batch: number): Promise<number> {
  const { rowCount } = await db.query(statement(nothing)`
    DELETE FROM oauth_clients WHERE id IN (
      SELECT id FROM oauth_clients
      WHERE used_at IS NULL AND created_at < now() - ${UNUSED_HOURS}::int * interval '1 hour'
      UNION ALL
      SELECT c.id FROM oauth_clients c
      WHERE c.used_at < now() - ${FORGOTTEN_DAYS}::int * interval '1 day'
        AND NOT EXISTS (SELECT FROM authorizations a WHERE a.client_id = c.id)
      LIMIT ${batch}::int)
  `);
  return rowCount;
}

import { z } from 'zod';
import { type Db, sql, statement } from '#shared/db/pool.ts';

/**
 * Writes the last uses of keys. A time never decreases: across processes the latest use wins. Rows are locked in one
 * order to avoid deadlocks.
 */
export type RecordUses = (
  db: Db,
  uses: readonly (readonly [keyId: string, at: Date])[],
) => Promise<void>;

const usesOf =
  (table: 'api_keys' | 'data_keys' | 'authorizations'): RecordUses =>
  async (db, uses) => {
    const keys = sql.identifier([table]);
    const rows = uses.map(([keyId, at]) => [keyId, at.toISOString()]);
    await db.query(statement(z.object({}))`
      WITH used AS MATERIALIZED (
        SELECT k.id, u.at FROM ${sql.unnest(rows, ['text', 'timestamptz'])} AS u (id, at)
        JOIN ${keys} k ON k.id = u.id
        WHERE k.last_used_at IS NULL OR k.last_used_at < u.at
        ORDER BY k.id FOR NO KEY UPDATE OF k
      )
      UPDATE ${keys} k SET last_used_at = greatest(k.last_used_at, used.at) FROM used WHERE k.id = used.id
    `);
  };

/** Last uses of keys of the operations API. */
export const recordKeyUses = usesOf('api_keys');
/** Last uses of keys of the data API. */
export const recordDataKeyUses = usesOf('data_keys');
/** Last uses of what members granted to clients. */
export const recordAuthorizationUses = usesOf('authorizations');

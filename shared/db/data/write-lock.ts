import { z } from 'zod';
import { statement, type Tx } from '#shared/db/pool.ts';

/**
 * Serializes the writers of a workspace's records: waits for the current one, and blocks others until the commit.
 * Returns the timestamp for the written rows: later than every earlier one, in whole milliseconds, the precision of the
 * API. So later commits have later timestamps, and readers that continue from a timestamp miss nothing.
 */
export async function lockForWrite(tx: Tx, workspaceId: string): Promise<string> {
  return tx.oneFirst(statement(z.object({ stamp: z.string() }))`
    INSERT INTO data_turns AS t (workspace_id, stamp)
    VALUES (${workspaceId}, date_trunc('milliseconds', clock_timestamp()))
    ON CONFLICT (workspace_id) DO UPDATE
    SET stamp = greatest(date_trunc('milliseconds', clock_timestamp()), t.stamp + interval '1 millisecond')
    RETURNING stamp
  `);
}

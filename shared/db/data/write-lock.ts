import { z } from 'zod';
import { sql, type Tx } from '../pool.ts';

/**
 * Waits until nobody else writes records of this workspace, and keeps others waiting until the commit. Returns the
 * time to stamp what is written with: later than every stamp before, in whole milliseconds, since that is how times
 * are told. So what is committed later is stamped later, and readers who go on from a stamp they have seen miss nothing.
 */
export async function lockForWrite(tx: Tx, workspaceId: string): Promise<string> {
  return tx.oneFirst(sql.prepared('data_take_turn', z.object({ stamp: z.string() }))`
    INSERT INTO data_turns AS t (workspace_id, stamp)
    VALUES (${workspaceId}, date_trunc('milliseconds', clock_timestamp()))
    ON CONFLICT (workspace_id) DO UPDATE
    SET stamp = greatest(date_trunc('milliseconds', clock_timestamp()), t.stamp + interval '1 millisecond')
    RETURNING stamp
  `);
}

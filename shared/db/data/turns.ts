import { z } from 'zod';
import { sql, type Tx } from '../pool.ts';

/** Keeps these locks apart from others of their kind. Arbitrary, and only has to stay. */
const TURN_LOCKS = 7_203_124;

/**
 * Waits until nobody else writes records of this workspace, and keeps others waiting until the commit. Then what is
 * committed later is stamped later, and readers who go on from a time they have seen miss nothing.
 */
export async function takeTurn(tx: Tx, workspaceId: string): Promise<void> {
  await tx.query(sql.prepared('data_take_turn', z.object({}))`
    SELECT pg_advisory_xact_lock(hashtextextended(${workspaceId}, ${TURN_LOCKS}))::text
  `);
}

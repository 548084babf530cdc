import { z } from 'zod';
import type { Actor } from '#shared/people/actor.ts';
import { capabilities } from '#shared/people/capabilities.ts';
import { sql, statement, type Tx } from '#shared/db/pool.ts';

/**
 * Returns whether the actor can still decide gates, and locks the member until the decision is written. The caller has
 * locked the run: a decision that waited for it reads the member as they are now. The permissions of a key without a
 * member do not change.
 */
export async function mayStillDecide(
  tx: Tx,
  { id, workspaceId, withheld = [] }: Actor,
): Promise<boolean> {
  if (withheld.includes('approve_gates')) return false;
  if (id === null) return true;
  return tx.exists(statement(z.object({}))`
    SELECT FROM members
    WHERE id = ${id} AND workspace_id = ${workspaceId} AND status = 'active'
      AND coalesce((overrides ->> 'approve_gates')::boolean,
                   role = ANY (${sql.array([...capabilities.approve_gates], 'text')}))
    FOR SHARE
  `);
}

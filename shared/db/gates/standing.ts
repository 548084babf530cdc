import { z } from 'zod';
import type { Actor } from '../../actor.ts';
import { capabilities } from '../../capabilities.ts';
import { type Db, type FragmentSqlToken, sql } from '../pool.ts';

/**
 * The row of the member who decides, as long as they may, locked: a statement that has waited for the run reads the member
 * as they are then. `after`: the CTE with the row of the run, which is locked before.
 */
export const decider = (
  { id, workspaceId }: Actor,
  after: FragmentSqlToken = sql.fragment`(SELECT 1)`,
): FragmentSqlToken => sql.fragment`
  SELECT m.id FROM ${after} AS locked CROSS JOIN members m
  WHERE m.id = ${id} AND m.workspace_id = ${workspaceId} AND m.status = 'active'
    AND coalesce((m.overrides ->> 'approve_gates')::boolean,
                 m.role = ANY (${sql.array([...capabilities.approve_gates], 'text')}))
  FOR SHARE OF m`;

/** Whether the actor may still decide gates. A key without a member has no rights that change. */
export async function mayStillDecide(db: Db, actor: Actor): Promise<boolean> {
  if (actor.id === null) return true;
  return db.exists(sql.prepared('gates_decider', z.object({}))`${decider(actor)}`);
}

import { z } from 'zod';
import { sql, statement, type Tx } from '#shared/db/pool.ts';

const idRow = z.object({ id: z.string() });

/**
 * Locks the open runs below these runs, whose rows the caller has locked, and then the budgets of all of them. From top
 * to bottom, as everything that locks several runs of a tree: a run that is about to start below is waited for, and
 * found. Returns their ids in that order.
 */
export async function lockBelow(tx: Tx, runIds: readonly string[]): Promise<string[]> {
  const below: string[] = [];
  for (let level = runIds; level.length > 0;) {
    level = await tx.anyFirst(statement(idRow)`
      SELECT id FROM runs
      WHERE parent_run_id = ANY(${sql.array([...level], 'text')}) AND status IN ('pending', 'running', 'paused')
      ORDER BY id FOR UPDATE
    `);
    below.push(...level);
  }
  if (below.length > 0) await lockBudgetsOf(tx, [...runIds, ...below]);
  return below;
}

/** Each end of a run locks the budgets of that run; together they must follow the order of the ids, too. */
async function lockBudgetsOf(tx: Tx, runIds: readonly string[]): Promise<void> {
  await tx.query(statement(z.object({}))`
    SELECT FROM budgets
    WHERE id IN (SELECT budget_id FROM budget_holds
                 WHERE run_id = ANY(${sql.array([...runIds], 'text')}) AND status = 'open')
    ORDER BY id FOR UPDATE
  `);
}

import { z } from 'zod';
import { sql, statement, type Tx } from '#shared/db/pool.ts';

const idRow = z.object({ id: z.string() });

/**
 * Locks the open runs below these runs, whose rows the caller has locked, and then the budgets of all of them. The
 * order is from top to bottom, like everywhere that several runs of a tree are locked, so it waits for, and finds, a
 * run that is about to start below. Returns the ids of the runs in that order.
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

/** Each run that ends locks its budgets. Together, they must also follow the order of the ids. */
async function lockBudgetsOf(tx: Tx, runIds: readonly string[]): Promise<void> {
  await tx.query(statement(z.object({}))`
    SELECT FROM budgets
    WHERE id IN (SELECT budget_id FROM budget_holds
                 WHERE run_id = ANY(${sql.array([...runIds], 'text')}) AND status = 'open')
    ORDER BY id FOR UPDATE
  `);
}

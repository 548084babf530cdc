import { z } from 'zod';
import { recordAudit } from '#shared/db/audit/audit.ts';
import { shareBudgets } from '#shared/db/money/holds.ts';
import { type Pool, statement, type Tx } from '#shared/db/pool.ts';
import type { OutboxRow } from '#shared/db/runs/outbox.ts';
import { enqueueResume, markRunning } from '#shared/db/runs/resumes.ts';
import { acceptsWorkOf } from '#shared/db/runs/row.ts';
import type { ChildStep } from './steps.ts';

const parentRow = z.object({
  created_by: z.string().nullable(),
  created_by_name: z.string().nullable(),
  budget_exempt: z.boolean(),
});
const failedRow = z.object({ kind: z.string().nullable() });

/**
 * Resumes the failed child of a step, once per attempt, or after it was cancelled with this run. An override of this
 * run's budgets also applies to the child, but this run's cap still counts its cost. Undefined when there is nothing to
 * resume, or this run does not accept the work. Throws AppError `budget_exceeded`.
 */
export async function resumeChild(
  db: Pool,
  { step, childId }: { step: ChildStep; childId: string },
): Promise<OutboxRow | undefined> {
  const workspaceId = await db.maybeOneFirst(
    statement(
      z.object({ workspace_id: z.string() }),
    )`SELECT workspace_id FROM runs WHERE id = ${childId}`,
  );
  if (workspaceId === null) return undefined;
  return db.transaction(async (tx) => {
    await shareBudgets(tx, workspaceId);
    const parent = await lockParent(tx, step);
    if (parent === null) return undefined;
    const child = await lockFailed(tx, step, childId);
    if (child === null) return undefined;
    const override =
      parent.budget_exempt && child.kind === 'budget' ? { capMicros: null } : undefined;
    const n = await markRunning(tx, childId, override);
    await tx.query(statement(z.object({}))`
      UPDATE runs SET parent_attempt = greatest(parent_attempt, ${step.attempt}::int) WHERE id = ${childId}
    `);
    const actor = { workspaceId, id: parent.created_by, name: parent.created_by_name };
    await recordAudit(tx, actor, {
      action: 'resume',
      targetType: 'run',
      targetId: childId,
      details: { parent_run_id: step.run_id },
    });
    return enqueueResume(tx, childId, n);
  });
}

const lockParent = (tx: Tx, { run_id, execution }: ChildStep) =>
  tx.maybeOne(statement(parentRow)`
    SELECT created_by, created_by_name, budget_exempt FROM runs
    WHERE id = ${run_id} AND ${acceptsWorkOf(execution)} FOR UPDATE
  `);

const lockFailed = (tx: Tx, { attempt }: ChildStep, childId: string) =>
  tx.maybeOne(statement(failedRow)`
    SELECT failure ->> 'kind' AS kind FROM runs
    WHERE id = ${childId} AND status = 'failed'
      AND (parent_attempt < ${attempt}::int OR coalesce((failure ->> 'with_parent')::boolean, false))
    FOR UPDATE
  `);

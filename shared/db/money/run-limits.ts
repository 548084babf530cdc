import { z } from 'zod';
import { type Db, statement } from '#shared/db/pool.ts';
import type { WorkflowScope } from '#shared/db/workflows/workflows.ts';

const limitsRow = z.object({ limited: z.boolean(), cap: z.number().nullable() });

/**
 * Whether a cap or a budget with an estimate applies to a workflow's runs, and the cap in micro-dollars if no step may
 * exceed it.
 */
export async function readRunLimits(
  db: Db,
  { workspaceId, workflowId }: WorkflowScope,
): Promise<{ limited: boolean; capMicros: number | null }> {
  const row = await db.maybeOne(statement(limitsRow)`
    SELECT w.run_cap_micros IS NOT NULL OR EXISTS (
             SELECT FROM budgets b
             WHERE b.workspace_id = w.workspace_id AND (b.workflow_id IS NULL OR b.workflow_id = w.id)
               AND b.estimate_micros IS NOT NULL) AS limited,
           CASE WHEN w.overrun = 'none' THEN w.run_cap_micros END AS cap
    FROM workflows w WHERE w.id = ${workflowId} AND w.workspace_id = ${workspaceId}
  `);
  return { limited: row?.limited ?? false, capMicros: row?.cap ?? null };
}

import { z } from 'zod';
import { type Db, statement } from '#shared/db/pool.ts';

/**
 * Records that a step was not executed because it would differ from what a gate showed. Returns false when that is
 * recorded already.
 */
export async function recordMismatch(
  db: Db,
  { runId, nodeId, stepKey }: { runId: string; nodeId: string; stepKey: string },
  { reason, paths }: { reason: string; paths: readonly string[] },
): Promise<boolean> {
  const evidence = JSON.stringify({ step_key: stepKey, paths });
  const { rowCount } = await db.query(statement(z.object({}))`
    INSERT INTO governance_events (workspace_id, type, workflow_id, version, run_id, node_id, policy, decision, reason,
                                   evidence)
    SELECT workspace_id, 'approval_mismatch', workflow_id, workflow_version, id, ${nodeId}, 'approval', 'blocked',
           ${reason}, ${evidence}::json
    FROM runs r WHERE id = ${runId} AND NOT EXISTS (
      SELECT FROM governance_events e WHERE e.run_id = r.id AND e.type = 'approval_mismatch' AND e.node_id = ${nodeId}
        AND e.reason = ${reason} AND e.evidence::jsonb = ${evidence}::jsonb)
  `);
  return rowCount > 0;
}

import { z } from 'zod';
import { type GateDecision, withoutNulls } from '#shared/graph/gates/gate-decision.ts';
import type { JsonObject } from '#shared/json.ts';
import { type Pool, sql, statement, type Tx } from '#shared/db/pool.ts';
import { storedJson } from '#shared/db/stored-json.ts';

export const decisionRow = z.object({
  step_key: z.string(),
  round: z.number(),
  approved: z.boolean(),
  input: storedJson<JsonObject | null>(),
  reason: z.string().nullable(),
  timed_out: z.literal('fail').nullable(),
} satisfies Record<keyof GateDecision, z.ZodType>);

export const decisionFields = sql.fragment`
  step_key, round, status = 'approved' AS approved, input, CASE WHEN turn IS NULL THEN reason END AS reason,
  CASE WHEN timed_out = 'fail' THEN timed_out END AS timed_out`;

/**
 * Every decision made in a run so far, oldest first. The reason for a decision about a tool call belongs to the
 * conversation, which is not part of executions, so it is left out.
 */
export async function readDecisions(db: Pool | Tx, runId: string): Promise<GateDecision[]> {
  const rows = await db.any(statement(decisionRow)`
    SELECT ${decisionFields} FROM gates WHERE run_id = ${runId} AND status IN ('approved', 'rejected') ORDER BY decided_at, step_key, round
  `);
  return rows.map((row) => withoutNulls(row) as GateDecision);
}

import { z } from 'zod';
import { notFound } from '../../errors.ts';
import { type Pool, sql } from '../pool.ts';
import type { Decision } from './decision.ts';
import { refusal } from './decisions.ts';
import { isDecidable, isChosen } from './gate-records.ts';
import { findRuledGate, hasApproved } from './ruled-gates.ts';

const openGate = z.object({ status: z.string(), open: z.boolean() });

/** Requires a gate that the decision could decide now. Throws AppError `not_found`, `conflict`, `invalid` as a decision. */
export async function requireOpenGate(db: Pool, decision: Decision): Promise<void> {
  const { actor, runId, digest = null } = decision;
  await db.transaction(async (tx) => {
    // A decision in progress first ends, so that its outcome is the one that is read.
    const run = await tx.maybeOne(sql.prepared(
      'gates_hold_run_to_check',
      z.object({ id: z.string() }),
    )`
      SELECT id FROM runs WHERE id = ${runId} AND workspace_id = ${actor.workspaceId} FOR SHARE
    `);
    if (run === null) throw notFound('Run');
    const { status, open } = await tx.one(sql.prepared('gates_check_open', openGate)`
      SELECT r.status, EXISTS (
        SELECT FROM gates g
        WHERE g.run_id = r.id AND ${isDecidable} AND ${isChosen(decision)}
          AND (g.kind = 'human_gate') = (${digest}::text IS NULL) AND (g.digest = ${digest}) IS NOT FALSE) AS open
      FROM runs r WHERE r.id = ${runId}
    `);
    if (open) return;
    const ruled = await findRuledGate(tx, decision);
    if (ruled === undefined || !hasApproved(ruled, decision)) {
      throw await refusal(tx, status, decision);
    }
  });
}

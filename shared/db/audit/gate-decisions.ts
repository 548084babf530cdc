import { setImmediate as nextTurn } from 'node:timers/promises';
import { z } from 'zod';
import type { AuditVerification } from '#shared/contract/audit/audit.ts';
import type { GateConsequences } from '#shared/contract/gates/consequences.ts';
import { jsonDigest } from '#shared/crypto/json-digest.ts';
import { gateContent } from '#shared/evidence/bound-content.ts';
import { statement, type Tx } from '#shared/db/pool.ts';
import { storedJson } from '#shared/db/stored-json.ts';

type Found = AuditVerification['tool_calls'];

/** What gates showed can be large. */
const PAGE = 50;

const row = z.object({
  seq: z.number(),
  audit_id: z.string(),
  action: z.enum(['approve', 'reject']),
  run_id: z.string(),
  step_key: z.string(),
  /** What the decision was bound to. */
  bound: z.string(),
  /** Whether the gate needed more approvals after it. */
  open: z.boolean(),
  gate: storedJson<{
    round: number;
    prompt: string;
    title: string | null;
    status: string;
    bound: string | null;
    consequences: GateConsequences | null;
  } | null>(),
});

/**
 * Compares the audit entries of decisions at human gates with the gates, and the digests of gates with what they showed.
 * Entries of 1.0.0 have no digest. Stops after `most` problems. Other work on this thread is not blocked.
 */
export async function verifyGateDecisions(
  tx: Tx,
  workspaceId: string,
  { found, most }: { found: Found; most: number },
): Promise<void> {
  let after = 0;
  while (found.problems.length < most) {
    const page = await tx.any(statement(row)`
      SELECT a.seq, a.id AS audit_id, a.action, r.id AS run_id, a.details ->> 'step_key' AS step_key, a.bound,
             coalesce((a.details ->> 'approvals')::int < (a.details ->> 'required')::int, false) AS open,
             row_to_json(g) AS gate
      FROM (SELECT seq, id, action, target_id, details, coalesce(details ->> 'decided_digest', details ->> 'digest') AS bound
            FROM audit_log WHERE workspace_id = ${workspaceId} AND action IN ('approve', 'reject') AND seq > ${after}
              AND details ->> 'tool' IS NULL AND details ->> 'digest' IS NOT NULL
            ORDER BY seq LIMIT ${PAGE}) a
      JOIN runs r ON r.id = a.target_id AND r.workspace_id = ${workspaceId}
      LEFT JOIN LATERAL (
        SELECT round, prompt, title, status, coalesce(decided_digest, digest) AS bound, consequences FROM gates
        WHERE run_id = r.id AND step_key = a.details ->> 'step_key' AND kind = 'human_gate'
        ORDER BY coalesce(decided_digest, digest) = a.bound DESC NULLS LAST, round DESC LIMIT 1) g ON true
      ORDER BY a.seq
    `);
    const last = page.at(-1);
    if (last === undefined) return;
    after = last.seq;
    for (const decision of page) {
      if (decision.open) continue;
      found.decisions += 1;
      const problem = problemOf(decision);
      const { run_id, step_key, audit_id } = decision;
      if (problem !== undefined) found.problems.push({ run_id, step_key, audit_id, problem });
      await nextTurn();
    }
  }
}

function problemOf({
  action,
  gate,
  bound,
  run_id,
  step_key,
}: z.infer<typeof row>): string | undefined {
  if (gate === null) return 'the gate of this decision was removed';
  if (gate.bound !== bound) return 'the digest of the decision is not that of its gate';
  if (gate.status !== (action === 'approve' ? 'approved' : 'rejected')) {
    return `the gate is ${gate.status}, which is not what was decided`;
  }
  if (gate.consequences === null) return 'what the gate showed was removed';
  const { round, prompt, title } = gate;
  const content = gateContent({ run_id, step_key, round, title, prompt }, gate.consequences);
  return jsonDigest(content) === bound
    ? undefined
    : 'the digest is not that of what the gate showed';
}

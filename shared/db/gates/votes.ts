import { z } from 'zod';
import type { GateVote } from '../../contract/gate.ts';
import { forbiddenWithout, notFound } from '../../errors.ts';
import { withoutNulls } from '../../gate-decision.ts';
import type { JsonObject } from '../../json.ts';
import { aroundLabel } from '../../rejection.ts';
import { recordAudit } from '../audit/audit.ts';
import { type Db, jsonOrNull, type Pool, sql, type Tx } from '../pool.ts';
import { answerMembers } from './answers.ts';
import type { Decided, Decision } from './decision.ts';
import { refusal } from './decisions.ts';
import { decisionEffects, isFirstOf, queuedDecision } from './effects.ts';
import { findRuledGate, hasApproved, type RuledGate } from './ruled-gates.ts';
import { mayStillDecide } from './standing.ts';

/** Records that someone tried to decide a gate who cannot. */
export async function recordRefusedDecision(
  db: Db,
  { actor, runId, approved }: Decision,
  { node_id, step_key, refusal: reason = '' }: RuledGate,
): Promise<void> {
  await recordAudit(db, actor, {
    action: 'decision_refused',
    targetType: 'run',
    targetId: runId,
    details: { node_id, step_key, approved, reason },
  });
}

/**
 * `decided`: the gate is decided, and the run continues. `counted`: more approvals are needed. `repeated`: the same
 * member has approved it before, which changes nothing. `refused`: they cannot decide it.
 */
export type VoteOutcome =
  | { outcome: 'decided'; decided: Decided }
  | { outcome: 'counted' }
  | { outcome: 'repeated' }
  | { outcome: 'refused'; refusal: string };

const lockedRun = z.object({ status: z.string() });

/**
 * Records one person's decision at a gate with settings. All decisions of a run wait for its row, so each sees those
 * before it: the last required approval decides, and no later one counts. Throws AppError `not_found`, `conflict` with
 * the state of the gate, and `forbidden` for a member who has lost the right meanwhile.
 */
export async function voteAtGate(db: Pool, decision: Decision): Promise<VoteOutcome> {
  return db.transaction(async (tx): Promise<VoteOutcome> => {
    const run = await tx.maybeOne(sql.prepared('gates_lock_run_to_vote', lockedRun)`
      SELECT status FROM runs
      WHERE id = ${decision.runId} AND workspace_id = ${decision.actor.workspaceId} FOR UPDATE
    `);
    if (run === null) throw notFound('Run');
    if (!(await mayStillDecide(tx, decision.actor))) throw forbiddenWithout('approve_gates');
    const gate = await findRuledGate(tx, decision);
    if (gate !== undefined && hasApproved(gate, decision)) return { outcome: 'repeated' };
    const open = run.status === 'running' || run.status === 'paused';
    if (gate?.status !== 'open' || gate.expired || !open) {
      throw await refusal(tx, run.status, decision);
    }
    if (gate.refusal !== undefined) {
      await recordRefusedDecision(tx, decision, gate);
      return { outcome: 'refused', refusal: gate.refusal };
    }
    return record(tx, decision, gate);
  });
}

async function record(tx: Tx, decision: Decision, gate: RuledGate): Promise<VoteOutcome> {
  const { actor, approved, input, reason } = decision;
  const vote: GateVote = {
    ...{ member_id: actor.id, by: actor.name, approved, at: new Date().toISOString() },
    reason: reason || null,
    ...(input === undefined ? {} : { input }),
  };
  const decisions = [...gate.decisions, vote];
  const { required = 1 } = gate.settings;
  const all = input === undefined ? gate.input : { ...gate.input, ...input };
  const final = !approved || decisions.length >= required;
  const decided = final
    ? await close(tx, decision, gate, { decisions, input: all })
    : await keepOpen(tx, decision.runId, gate, { decisions, input: all });
  await recordAudit(tx, actor, {
    action: approved ? 'approve' : 'reject',
    targetType: 'run',
    targetId: decision.runId,
    details: withoutNulls({
      node_id: gate.node_id,
      step_key: gate.step_key,
      reason: reason || null,
      ...(required === 1
        ? {}
        : { approvals: decisions.filter((each) => each.approved).length, required }),
    }) as JsonObject,
  });
  return decided === undefined ? { outcome: 'counted' } : { outcome: 'decided', decided };
}

interface Collected {
  decisions: GateVote[];
  input: JsonObject | null;
}

async function keepOpen(
  tx: Tx,
  runId: string,
  gate: RuledGate,
  { decisions, input }: Collected,
): Promise<undefined> {
  await tx.query(sql.prepared('gates_count_vote', z.object({}))`
    UPDATE gates SET decisions = ${jsonOrNull(decisions)}, input = ${jsonOrNull(input)}
    WHERE run_id = ${runId} AND step_key = ${gate.step_key} AND round = ${gate.round} AND status = 'open'
  `);
}

const closed = z.object({ outbox_id: z.number(), first: z.boolean() });

async function close(
  tx: Tx,
  { actor, runId, approved, reason }: Decision,
  { step_key, round }: RuledGate,
  { decisions, input }: Collected,
): Promise<Decided> {
  const answer = withoutNulls({ approved, input, reason: reason || null });
  const [before, after] = aroundLabel(reason || undefined);
  const { outbox_id: id, first } = await tx.one(sql.prepared('gates_close', closed)`
    WITH gate AS (
      UPDATE gates SET status = ${approved ? 'approved' : 'rejected'}, input = ${jsonOrNull(input)},
        reason = ${reason || null}, decisions = ${jsonOrNull(decisions)}, decided_at = clock_timestamp(),
        decided_by = ${actor.id}, decided_by_name = ${actor.name}, decided_by_kind = 'member'
      WHERE run_id = ${runId} AND step_key = ${step_key} AND round = ${round} AND status = 'open'
      RETURNING run_id, step_key, round, node_id, kind, ${approved}::boolean OR NOT fails_on_reject AS continues,
                CASE WHEN NOT ${approved}::boolean AND fails_on_reject THEN ${before}::text || label || ${after}::text END AS error
    ), ${decisionEffects(jsonOrNull(withoutNulls({ approved, input })))},
    ${queuedDecision(answerMembers(({ value }) => value({ approved, ...(input === null ? {} : { input }), ...(reason ? { reason } : {}) })))}
    SELECT (SELECT id FROM promise) AS outbox_id, ${isFirstOf(runId)} AS first
  `);
  const payload = { ...answer, step_key, round } as JsonObject;
  return { row: { id, run_id: runId, kind: 'decision', payload, attempts: 0 }, first };
}

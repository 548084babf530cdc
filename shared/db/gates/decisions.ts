import { z } from 'zod';
import { gateKinds, gateStatuses } from '../../contract/gate.ts';
import { AppError, conflict, forbiddenWithout, notFound } from '../../errors.ts';
import { type GateAnswer, withoutNulls } from '../../gate-decision.ts';
import type { JsonObject } from '../../json.ts';
import { newId } from '../../crypto/ids.ts';
import { aroundLabel, rejectedCall } from '../../rejection.ts';
import { auditRow } from '../audit/audit.ts';
import type { OutboxRow } from '../runs/outbox.ts';
import { noteTransaction, transactionId, withCertainty } from '../commit-outcome.ts';
import { type FragmentSqlToken, type Pool, sql, type Tx } from '../pool.ts';
import { answerAssignments, answerMembers } from './answers.ts';
import type { Decided, Decision } from './decision.ts';
import { decisionEffects, isFirstOf, queuedDecision } from './effects.ts';
import { isChosen } from './gate-records.ts';
import { findRuledGate, hasApproved } from './ruled-gates.ts';
import { decider } from './standing.ts';

const decided = z.object({
  run_status: z.string().nullable(),
  step_key: z.string().nullable(),
  round: z.number().nullable(),
  outbox_id: z.number().nullable(),
  first: z.boolean(),
  ruled: z.boolean(),
  may_decide: z.boolean(),
});

/**
 * Records a person's decision at a gate. A gate can be decided while it is open and its run is running or paused,
 * regardless of the run's other gates. Decides nothing and returns `ruled` when the gate has settings: see `votes.ts`.
 * Throws AppError `not_found`, `conflict` with the state of the gate, and `forbidden` for a member who has lost the right
 * meanwhile.
 *
 * One statement is enough unless it has to wait for the run's row. Then its snapshot is outdated: the gate it chose may
 * be decided, and newly opened gates are missing. In that case it decides nothing, and a second attempt locks the row
 * first, so that its snapshot contains everything about the run.
 */
export async function decideGate(db: Pool, decision: Decision): Promise<Decided | 'ruled'> {
  const auditId = newId('audit');
  // The compiler does not see the assignments inside the callback.
  let runStatus = null as string | null;
  let ruled = false as boolean;
  const decided = await withCertainty(
    async () => {
      const answer = await decideOpenGate(db, decision, auditId);
      runStatus = answer.runStatus;
      ruled = answer.ruled === true;
      return answer.decided ?? null;
    },
    () => findDecided(db, decision, auditId),
  );
  if (decided !== null) return decided;
  if (ruled) return 'ruled';
  if (runStatus === null) throw notFound('Run');
  return db.transaction(async (tx) => {
    const held = await tx.maybeOne(sql.prepared('gates_hold_run', heldRun)`
      SELECT ${transactionId} AS transaction FROM runs
      WHERE id = ${decision.runId} AND workspace_id = ${decision.actor.workspaceId} FOR UPDATE
    `);
    const againId = newId('audit');
    if (held !== null) noteTransaction(tx, held.transaction, auditRow(againId));
    const again = await decideOpenGate(tx, decision, againId);
    if (again.decided !== undefined) return again.decided;
    if (again.ruled === true) return 'ruled';
    const ruled = await findRuledGate(tx, decision);
    if (ruled !== undefined && hasApproved(ruled, decision)) return 'ruled';
    if (again.runStatus === null) throw notFound('Run');
    throw await refusal(tx, again.runStatus, decision);
  });
}

/** The gate to decide: the named one, else the one that has been open longest. */
function decidedGate(decision: Decision): FragmentSqlToken {
  const { actor, approved, digest = null, changed } = decision;
  const [before, after] = aroundLabel(decision.reason || undefined);
  return sql.fragment`
    chosen AS (
      SELECT g.run_id, g.step_key, g.round, g.settings IS NOT NULL AS ruled FROM run JOIN gates g ON g.run_id = run.id
      WHERE run.status IN ('running', 'paused') AND g.status = 'open' AND run.rehearsal IS NULL
        AND ${isChosen(decision)}
        AND (${actor.id}::text IS NULL OR EXISTS (SELECT FROM decider))
        AND (g.kind = 'human_gate') = (${digest}::text IS NULL) AND (g.digest = ${digest}) IS NOT FALSE
      ORDER BY g.opened_at, g.step_key LIMIT 1
    ), gate AS (
      UPDATE gates SET
        ${answerAssignments(decision)}, decided_at = clock_timestamp(), decided_by = ${actor.id},
        decided_by_name = ${actor.name}, decided_by_kind = 'member',
        decided_digest = CASE WHEN ${approved} THEN ${changed?.digest ?? digest} END,
        decided_arguments = ${changed === undefined ? null : JSON.stringify(changed.arguments)}::json
      WHERE (run_id, step_key, round) = (SELECT run_id, step_key, round FROM chosen WHERE NOT ruled)
        AND gates.status = 'open'
      RETURNING run_id, step_key, round, node_id, kind, tool, arguments, decided_arguments, digest, decided_digest,
                ${approved} OR NOT fails_on_reject AND kind = 'human_gate' AS continues,
                CASE WHEN ${approved} THEN NULL
                     WHEN kind = 'tool_call' THEN ${rejectedCall(actor.name, decision.reason)}
                     WHEN fails_on_reject THEN ${before}::text || label || ${after}::text END AS error
    )`;
}

/** The audit entry; `findDecided` looks it up by its id. */
const decisionAudit = ({ actor, approved, reason = '' }: Decision, auditId: string) => sql.fragment`
    audit AS (
      INSERT INTO audit_log (id, workspace_id, action, actor_id, actor_name, target_type, target_id, details)
      SELECT ${auditId}, ${actor.workspaceId}, ${approved ? 'approve' : 'reject'}, ${actor.id}, ${actor.name},
             'run', gate.run_id, jsonb_strip_nulls(jsonb_build_object(
               'node_id', gate.node_id, 'step_key', gate.step_key, 'reason', ${reason || null}::text,
               'tool', gate.tool, 'digest', gate.digest,
               'decided_digest', nullif(gate.decided_digest, gate.digest)))
      FROM gate
    )`;

/**
 * Decision, step, status, frame, audit entry and the outbox entry for Temporal, in one statement that locks the run's
 * row. The statement's snapshot chooses the gate, which is decided only if it is still open after its row is locked.
 */
async function decideOpenGate(
  db: Pool | Tx,
  decision: Decision,
  auditId: string,
): Promise<{ runStatus: string | null; ruled?: boolean; decided?: Decided }> {
  const { actor, runId, approved } = decision;
  const output = JSON.stringify({ approved, input: decision.input });
  // The reason at a tool call is part of the conversation, which stays out of the executions.
  const signalled: GateAnswer = decision.digest === undefined ? decision : { approved };
  const answer = await db.one(sql.prepared('gates_decide', decided)`
    WITH run AS (
      SELECT id, status, rehearsal FROM runs WHERE id = ${runId} AND workspace_id = ${actor.workspaceId} FOR UPDATE
    ), decider AS (${decider(actor, sql.fragment`run`)}), ${decidedGate(decision)},
    ${decisionEffects(sql.fragment`${output}`)},
    ${decisionAudit(decision, auditId)}, ${queuedDecision(answerMembers(({ value }) => value(signalled)))}
    SELECT (SELECT status FROM run) AS run_status, (SELECT step_key FROM gate), (SELECT round FROM gate),
           (SELECT id FROM promise) AS outbox_id, ${isFirstOf(runId)} AS first,
           coalesce((SELECT ruled FROM chosen), false) AS ruled,
           ${actor.id}::text IS NULL OR EXISTS (SELECT FROM decider) AS may_decide
  `);
  const { run_status: runStatus, step_key, round, outbox_id: id, ruled } = answer;
  if (runStatus !== null && !answer.may_decide) throw forbiddenWithout('approve_gates');
  if (step_key === null || round === null || id === null) return { runStatus, ruled };
  const { input } = signalled;
  const payload = withoutNulls({
    approved,
    input,
    reason: signalled.reason || null,
    step_key,
    round,
  }) as JsonObject;
  const row: OutboxRow = { id, run_id: runId, kind: 'decision', payload, attempts: 0 };
  return { runStatus, decided: { row, first: answer.first } };
}

const heldRun = z.object({ transaction: z.string() });
const foundDecision = z.object({ step_key: z.string(), outbox_id: z.number() });

/**
 * Finds a decision whose response was lost, by the id of its audit entry. Waits for the run's row, so that the decision
 * is no longer in progress. The reconciler handles the outbox entry.
 */
async function findDecided(
  db: Pool,
  { actor, runId, approved }: Decision,
  auditId: string,
): Promise<Decided | null> {
  const found = await db.transaction(async (tx) => {
    await tx.query(sql.prepared('gates_wait_for_decision', z.object({ id: z.string() }))`
      SELECT id FROM runs WHERE id = ${runId} AND workspace_id = ${actor.workspaceId} FOR UPDATE
    `);
    return tx.maybeOne(sql.prepared('gates_find_decision', foundDecision)`
      SELECT a.details ->> 'step_key' AS step_key,
             coalesce((SELECT max(o.id) FROM outbox o WHERE o.run_id = ${runId} AND o.kind = 'decision'
                       AND o.payload ->> 'step_key' = a.details ->> 'step_key'), 0) AS outbox_id
      FROM audit_log a WHERE a.id = ${auditId} AND a.workspace_id = ${actor.workspaceId}
    `);
  });
  if (found === null) return null;
  const payload = { step_key: found.step_key, approved };
  const row: OutboxRow = {
    ...{ id: found.outbox_id, run_id: runId, kind: 'decision', payload, attempts: 0 },
  };
  return { row, first: false };
}

const lastRound = z.object({
  rehearsed: z.boolean(),
  expired: z.boolean(),
  node_id: z.string(),
  step_key: z.string(),
  status: z.enum(gateStatuses),
  kind: z.enum(gateKinds),
  decided_by_name: z.string().nullable(),
});

/** A tool call is decided by its digest, so that no one approves what was not shown. */
const undigested = (gate: z.infer<typeof lastRound>, asked: Pick<Decision, 'digest'>): Error =>
  asked.digest === undefined
    ? new AppError(
        'invalid',
        `Gate '${gate.step_key}' is a tool call: send its digest with the decision`,
      )
    : conflict(`The digest is not that of the call at gate '${gate.step_key}': read the run again`);

/**
 * The error when no gate could be decided: the state of the requested gate, else of the one that a decision without a name
 * would have got, else of the run. The caller must have
 * locked the run's row.
 */
export async function refusal(
  tx: Tx,
  runStatus: string,
  asked: Pick<Decision, 'runId' | 'nodeId' | 'stepKey' | 'digest'>,
): Promise<Error> {
  const gate = await tx.maybeOne(sql.prepared('gates_last_round', lastRound)`
    SELECT node_id, step_key, status, kind, decided_by_name,
           EXISTS (SELECT FROM runs WHERE id = gates.run_id AND rehearsal IS NOT NULL) AS rehearsed,
           timed_out IS NOT NULL OR coalesce(expires_at <= clock_timestamp(), false) AS expired
    FROM gates
    WHERE run_id = ${asked.runId} AND (${asked.nodeId ?? null}::text IS NULL OR node_id = ${asked.nodeId ?? null})
      AND (${asked.stepKey ?? null}::text IS NULL OR step_key = ${asked.stepKey ?? null})
    ORDER BY coalesce(digest = ${asked.digest ?? null}, false) DESC, status = 'open' DESC,
             CASE WHEN status = 'open' THEN opened_at END, coalesce(decided_at, opened_at) DESC, step_key, round DESC
    LIMIT 1
  `);
  if (gate?.rehearsed === true) {
    return conflict(
      `No one decides the gates of a rehearsal: start another one with '${gate.step_key}' in its decisions`,
    );
  }
  if (gate?.expired === true) {
    return conflict(`Gate '${gate.step_key}' has timed out: its deadline has passed`);
  }
  if (gate?.status === 'open' && (runStatus === 'running' || runStatus === 'paused')) {
    return gate.kind === 'tool_call'
      ? undigested(gate, asked)
      : conflict(`Gate '${gate.step_key}' has no digest`);
  }
  if (gate?.status === 'approved' || gate?.status === 'rejected') {
    const by = gate.decided_by_name === null ? '' : ` by ${gate.decided_by_name}`;
    return conflict(`Gate '${gate.step_key}' has already been ${gate.status}${by}`);
  }
  if (runStatus !== 'running' && runStatus !== 'paused') {
    return conflict(`Run is ${runStatus}, not paused at a gate`);
  }
  if (gate?.status === 'cancelled') {
    return conflict(`Gate '${gate.step_key}' is not open: the resumed run has not reached it yet`);
  }
  const node = asked.nodeId === undefined ? '' : ` at node '${asked.nodeId}'`;
  const step = asked.stepKey === undefined ? '' : ` with step key '${asked.stepKey}'`;
  return conflict(`Run has no open gate${node}${step}`);
}

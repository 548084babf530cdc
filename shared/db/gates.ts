import { z } from 'zod';
import type { Actor } from '../actor.ts';
import type { StreamFrame } from '../contract/stream.ts';
import { conflict, notFound } from '../errors.ts';
import type { GateDecision, GateOpening, PauseCall } from '../execution.ts';
import type { JsonObject } from '../json.ts';
import { recordAudit } from './audit.ts';
import { enqueue, type OutboxRow } from './outbox.ts';
import { type Pool, sql, type Tx } from './pool.ts';
import { appendFrames, writeCarriage } from './run-log.ts';
import { phaseMs, startedFrame, wantsWorkOf } from './steps.ts';

const lockedRun = z.object({
  status: z.string(),
  epoch: z.number(),
});

/**
 * Brings a run to rest at its open gates: opens those that are new, and marks the run `paused` with one
 * `run_paused` frame for the gate that waits longest. When a decision is already there nothing is paused and the
 * decisions are returned. Safe to repeat, also after a reset, when it only asserts what holds.
 */
export async function pauseAtGates(
  db: Pool,
  call: PauseCall & { execution: string },
): Promise<{ decisions: GateDecision[]; paused: boolean }> {
  return db.transaction(async (tx) => {
    const run = await tx.maybeOne(sql.prepared('gates_lock_run', lockedRun)`
      SELECT status, resumed_count AS epoch FROM runs
      WHERE id = ${call.run_id} AND ${wantsWorkOf(call.execution)} FOR UPDATE
    `);
    if (run === null) return { decisions: [], paused: false };
    await writeCarriage(tx, call);
    const opened: GateOpening[] = [];
    for (const gate of call.gates) {
      if (await openGate(tx, call.run_id, run.epoch, gate)) opened.push(gate);
    }
    await appendFrames(
      tx,
      call.run_id,
      opened.map((gate) => startedFrame(call.run_id, gate.node_id, gate.label)),
    );
    const decisions = await decisionsOf(tx, call.run_id, call.gates);
    if (decisions.length > 0) return { decisions, paused: false };
    await markPaused(tx, call, run.status !== 'paused' || opened.length > 0);
    return { decisions: [], paused: true };
  });
}

async function openGate(
  tx: Tx,
  runId: string,
  epoch: number,
  gate: GateOpening,
): Promise<boolean> {
  const result = await tx.query(sql.prepared('gates_open', z.object({}))`
    WITH gate AS (
      INSERT INTO gates (run_id, step_key, round, node_id, label, prompt, fails_on_reject)
      VALUES (${runId}, ${gate.step_key}, ${gate.round}, ${gate.node_id}, ${gate.label}, ${gate.prompt},
              ${gate.fails_on_reject})
      ON CONFLICT DO NOTHING RETURNING run_id
    )
    INSERT INTO steps (run_id, step_key, node_id, label, kind, iteration, status, epoch, input)
    SELECT run_id, ${gate.step_key}, ${gate.node_id}, ${gate.label}, 'human_gate',
           ${sql.array(gate.iteration, 'int4')}, 'paused', ${epoch},
           ${JSON.stringify({ prompt: gate.prompt })}::json
    FROM gate
    ON CONFLICT (run_id, step_key) DO UPDATE
      SET status = 'paused', epoch = excluded.epoch, input = excluded.input, finished_at = NULL, error = NULL
  `);
  return result.rowCount > 0;
}

async function markPaused(tx: Tx, call: PauseCall, announce: boolean): Promise<void> {
  await tx.query(sql.prepared('gates_mark_paused', z.object({}))`
    UPDATE runs SET
      active_ms = active_ms + CASE WHEN status = 'running' THEN ${phaseMs} ELSE 0 END,
      phase_since = CASE WHEN status = 'paused' THEN phase_since ELSE clock_timestamp() END,
      started_at = coalesce(started_at, clock_timestamp()),
      status = 'paused', updated_at = now(), lost_since = NULL
    WHERE id = ${call.run_id}
  `);
  if (!announce) return;
  const oldest = await tx.maybeOne(sql.prepared(
    'gates_oldest_open',
    z.object({ node_id: z.string(), prompt: z.string() }),
  )`
    SELECT node_id, prompt FROM gates WHERE run_id = ${call.run_id} AND status = 'open'
    ORDER BY opened_at, step_key LIMIT 1
  `);
  if (oldest === null) return;
  const frame: StreamFrame = { run_id: call.run_id, type: 'run_paused', ...oldest };
  await appendFrames(tx, call.run_id, [frame]);
}

const decisionRow = z.object({
  step_key: z.string(),
  round: z.number(),
  approved: z.boolean(),
  input: z.record(z.string(), z.json()).nullable(),
});

const toDecision = (row: z.infer<typeof decisionRow>): GateDecision => ({
  step_key: row.step_key,
  round: row.round,
  approved: row.approved,
  ...(row.input === null ? {} : { input: row.input }),
});

async function decisionsOf(
  tx: Tx,
  runId: string,
  gates: readonly GateOpening[],
): Promise<GateDecision[]> {
  const asked = new Set(gates.map((gate) => `${gate.step_key}/${gate.round}`));
  const all = await readDecisions(tx, runId);
  return all.filter((decision) => asked.has(`${decision.step_key}/${decision.round}`));
}

/** Every decision made in a run so far, oldest first. */
export async function readDecisions(db: Pool | Tx, runId: string): Promise<GateDecision[]> {
  const rows = await db.any(sql.prepared('gates_decisions', decisionRow)`
    SELECT step_key, round, status = 'approved' AS approved, input FROM gates
    WHERE run_id = ${runId} AND status <> 'open' ORDER BY decided_at, step_key, round
  `);
  return rows.map(toDecision);
}

const pausedRun = z.object({ status: z.string() });
const openGateRow = z.object({
  step_key: z.string(),
  round: z.number(),
  node_id: z.string(),
  fails_on_reject: z.boolean(),
});

/**
 * A person's answer at a gate: the oldest open one, or that of `nodeId`. Decision, step, status, frame, audit and
 * the promise to tell Temporal are one transaction on the locked run, so a second click finds it decided: 409.
 */
export async function decideGate(
  db: Pool,
  decision: {
    actor: Actor;
    runId: string;
    approved: boolean;
    input?: JsonObject;
    nodeId?: string;
  },
): Promise<OutboxRow> {
  const { actor, runId } = decision;
  return db.transaction(async (tx) => {
    const run = await tx.maybeOne(sql.prepared('gates_lock_paused_run', pausedRun)`
      SELECT status FROM runs WHERE id = ${runId} AND workspace_id = ${actor.workspaceId} FOR UPDATE
    `);
    if (run === null) throw notFound('Run');
    if (run.status !== 'paused') throw conflict(`Run is ${run.status}, not paused at a gate`);
    const gate = await takeOpenGate(tx, decision);
    const output = { approved: decision.approved, input: decision.input };
    const continues = decision.approved || !gate.fails_on_reject;
    await tx.query(sql.prepared('gates_resume_run', z.object({}))`
      WITH step AS (
        UPDATE steps SET status = ${continues ? 'success' : 'failed'}, finished_at = clock_timestamp(),
          output = ${JSON.stringify(output)}::json
        WHERE run_id = ${runId} AND step_key = ${gate.step_key})
      UPDATE runs SET status = 'running', waiting_ms = waiting_ms + ${phaseMs}, phase_since = clock_timestamp(),
                      updated_at = now()
      WHERE id = ${runId}
    `);
    if (continues) {
      const frame: StreamFrame = { run_id: runId, type: 'step_completed', node_id: gate.node_id };
      await appendFrames(tx, runId, [frame]);
    }
    await recordAudit(tx, actor, {
      action: decision.approved ? 'approve' : 'reject',
      targetType: 'run',
      targetId: runId,
      details: { node_id: gate.node_id, step_key: gate.step_key },
    });
    const payload: GateDecision = {
      step_key: gate.step_key,
      round: gate.round,
      approved: decision.approved,
      ...(decision.input === undefined ? {} : { input: decision.input }),
    };
    return enqueue(tx, { runId, kind: 'decision', payload: payload as unknown as JsonObject });
  });
}

async function takeOpenGate(
  tx: Tx,
  decision: { actor: Actor; runId: string; approved: boolean; input?: JsonObject; nodeId?: string },
) {
  const gate = await tx.maybeOne(sql.prepared('gates_take_open', openGateRow)`
    UPDATE gates SET
      status = ${decision.approved ? 'approved' : 'rejected'}, decided_at = clock_timestamp(),
      decided_by = ${decision.actor.id}, decided_by_name = ${decision.actor.name},
      input = ${decision.input === undefined ? null : JSON.stringify(decision.input)}::json
    WHERE (run_id, step_key, round) = (
      SELECT run_id, step_key, round FROM gates
      WHERE run_id = ${decision.runId} AND status = 'open'
        AND (${decision.nodeId ?? null}::text IS NULL OR node_id = ${decision.nodeId ?? null})
      ORDER BY opened_at, step_key LIMIT 1)
    RETURNING step_key, round, node_id, fails_on_reject
  `);
  if (gate !== null) return gate;
  throw conflict(
    decision.nodeId === undefined
      ? 'Run has no open gate'
      : `Run has no open gate at node '${decision.nodeId}'`,
  );
}

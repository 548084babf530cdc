import { z } from 'zod';
import { gatePage } from '#shared/contract/alerts/alerts.ts';
import { type TurnRecord, turnKey } from '#shared/agents/turn-record.ts';
import type { StreamFrame } from '#shared/contract/runs/stream.ts';
import type { PauseCall } from '#shared/execution.ts';
import {
  type AgentCall,
  type GateOpening,
  isAgentCall,
  type StepToApprove,
} from '#shared/graph/gates/gate-opening.ts';
import { workflowOf } from '#shared/tools.ts';
import { callDigest } from '#shared/crypto/call-digest.ts';
import type { GateDecision } from '#shared/graph/gates/gate-decision.ts';
import { type Announcement, announceGates } from './announcements.ts';
import { readDecisions } from './answers.ts';
import { queueRequests } from './decide-links.ts';
import { type ReadsOfGate, storeReads } from './rechecks.ts';
import { type ShownGate, showGates } from './shown.ts';
import { decideRecordedCalls, decideRehearsed } from './rehearsed.ts';
import { isQueued } from '#shared/db/limits/slots.ts';
import { parentNotice } from '#shared/db/children/notices.ts';
import { queueMessages } from '#shared/db/slack/messages.ts';
import { queueAlert } from '#shared/db/runs/outbox.ts';
import { jsonOrNull, type Pool, sql, statement, type Tx } from '#shared/db/pool.ts';
import { appendFrames, writePending } from '#shared/db/runs/log.ts';
import { acceptsWorkOf, hasKey, isOpen, nextPhase } from '#shared/db/runs/row.ts';
import { anotherAttempt, startedFrame } from '#shared/db/runs/pending-writes.ts';
import { agentColumns, agentValues } from '#shared/db/steps/steps.ts';
import { storedJson } from '#shared/db/stored-json.ts';

const lockedRun = z.object({
  status: z.string(),
  epoch: z.number(),
  /** What a rehearsal may execute; null for other runs. */
  allow: z.array(z.string()).nullable(),
  limited: z.boolean(),
});

/** How a pause is announced: whether the service has an address for alerts, and the URLs of the gates' pages. */
interface PauseNotice {
  alerts: boolean;
  publicUrl: string;
}

/**
 * Pauses a run at its open gates: opens the new ones, and marks the run `paused` with one `run_paused` frame for the
 * gate that has been waiting longest. If a decision already exists, nothing is paused and the decisions are returned.
 * Idempotent, even after a reset and after the run has ended. `noticed`: a notice for the parent was queued. Each
 * `run_paused` frame comes with an event for webhook endpoints and an alert. `gone`: the run
 * has ended, or another execution continues it, so no decision will come. `left`: it may have left its slot. A run that
 * waits for another one gets its decisions when it has it.
 */
export async function pauseAtGates(
  db: Pool,
  call: PauseCall &
    PauseNotice & {
      execution: string;
      shown?: readonly ShownGate[];
      reads?: readonly ReadsOfGate[];
    },
): Promise<{ decisions: GateDecision[]; noticed: boolean; gone?: boolean; left?: boolean }> {
  return db.transaction(async (tx) => {
    const run = await tx.maybeOne(statement(lockedRun)`
      SELECT status, resumed_count AS epoch, rehearsal -> 'allow' AS allow, ${hasKey} AS limited FROM runs
      WHERE id = ${call.run_id} AND ${acceptsWorkOf(call.execution)} FOR UPDATE
    `);
    if (run === null) {
      const decisions = await decisionsOf(tx, call.run_id, call.gates);
      const gone = decisions.length === 0 && (await isGone(tx, call));
      return { decisions, noticed: false, gone };
    }
    await writePending(tx, call);
    const opened: GateOpening[] = [];
    for (const gate of call.gates) {
      if (await open(tx, call.run_id, run.epoch, gate)) opened.push(gate);
    }
    await showGates(tx, call.run_id, call.shown ?? []);
    for (const gate of call.reads ?? []) await storeReads(tx, gate);
    await appendFrames(
      tx,
      call.run_id,
      opened.map((gate) =>
        startedFrame(
          call.run_id,
          gate.node_id,
          gate.label,
          gate.tool_call !== undefined && isAgentCall(gate.tool_call) ? gate.step_key : undefined,
        ),
      ),
    );
    if (run.allow === null) await decideRecordedCalls(tx, call.run_id, call.gates);
    else await decideRehearsed(tx, call.run_id, call.gates, run.allow);
    const stepKeys = opened.map(({ step_key }) => step_key);
    await queueRequests(tx, { runId: call.run_id, stepKeys, reminds: false });
    await queueMessages(tx, { runId: call.run_id, stepKeys });
    const decisions = await decisionsOf(tx, call.run_id, call.gates);
    if (run.limited && (await isQueued(tx, call.run_id, decisions.length > 0))) {
      return { decisions: [], noticed: false };
    }
    if (decisions.length > 0) {
      if (opened.length > 0) await announceGates(tx, announcementOf(call, opened, false));
      return { decisions, noticed: false };
    }
    const noticed = await markPaused(tx, call);
    if (run.status !== 'paused' || opened.length > 0) await announcePause(tx, call, opened);
    return { decisions, noticed, ...(run.limited ? { left: true } : {}) };
  });
}

/**
 * An execution from the ledger can lose the workflow task in which its run ended. The ledger that it then loads contains
 * the end, so it asks for what comes after a resume.
 */
const isGone = (
  tx: Tx,
  { run_id, execution }: Pick<PauseCall, 'run_id'> & { execution: string },
): Promise<boolean> =>
  tx.oneFirst(statement(z.object({ gone: z.boolean() }))`
    SELECT NOT EXISTS (SELECT FROM runs WHERE id = ${run_id} AND ${isOpen} AND NOT (${execution} = ANY(superseded))) AS gone
  `);

function open(tx: Tx, runId: string, epoch: number, gate: GateOpening): Promise<boolean> {
  const { tool_call: call } = gate;
  if (call === undefined) return openGate(tx, runId, epoch, gate);
  return isAgentCall(call)
    ? openToolCall(tx, runId, epoch, gate, call)
    : openStep(tx, { runId, epoch }, gate, call);
}

/** A gate that opens again, after its run was resumed, starts without decisions and with new times. */
async function openGate(tx: Tx, runId: string, epoch: number, gate: GateOpening): Promise<boolean> {
  const { settings = null } = gate;
  const result = await tx.query(statement(z.object({}))`
    WITH gate AS (
      INSERT INTO gates AS g (run_id, step_key, round, node_id, label, title, prompt, fails_on_reject, settings, opened_at,
                              expires_at, remind_at)
      SELECT ${runId}, ${gate.step_key}, ${gate.round}::int, ${gate.node_id}, ${gate.label}, ${gate.title ?? null}, ${gate.prompt},
             ${gate.fails_on_reject}::boolean, ${settings === null ? null : JSON.stringify(settings)}::json, now.at,
             now.at + ${settings?.timeout_seconds ?? null}::float8 * interval '1 s',
             now.at + ${settings?.remind_seconds ?? null}::float8 * interval '1 s'
      FROM (SELECT clock_timestamp() AS at) AS now
      ON CONFLICT (run_id, step_key, round) DO UPDATE
        SET status = 'open', opened_at = excluded.opened_at, label = excluded.label, title = excluded.title, prompt = excluded.prompt,
            settings = excluded.settings, expires_at = excluded.expires_at, remind_at = excluded.remind_at,
            reminders = 0, decisions = NULL, input = NULL, reads = NULL, recheck = NULL
        WHERE g.status = 'cancelled'
      RETURNING run_id
    )
    INSERT INTO steps AS s (run_id, step_key, node_id, label, kind, iteration, ordinal, status, epoch, input)
    SELECT run_id, ${gate.step_key}, ${gate.node_id}, ${gate.label}, 'human_gate',
           ${sql.array(gate.iteration, 'int4')},
           (SELECT frame_seq + 1 FROM runs WHERE id = ${runId}), 'paused', ${epoch},
           ${JSON.stringify({ prompt: gate.prompt })}::json
    FROM gate
    ON CONFLICT (run_id, step_key) DO UPDATE
      SET status = 'paused', epoch = excluded.epoch, input = excluded.input, finished_at = NULL, error = NULL,
          error_kind = NULL, caught = false, output = NULL, ${anotherAttempt()}
  `);
  return result.rowCount > 0;
}

/** Opens the gate of a step that needs approval. It replaces an earlier request for something else. */
async function openStep(
  tx: Tx,
  { runId, epoch }: { runId: string; epoch: number },
  gate: GateOpening,
  call: StepToApprove,
): Promise<boolean> {
  const { settings = null, redacted = null } = gate;
  const { tool, arguments: args, schema_digest, tool_digest } = call;
  const digest = callDigest({ run_id: runId, step_key: gate.step_key, ...call });
  const result = await tx.query(statement(z.object({}))`
    WITH replaced AS (
      UPDATE gates SET status = 'cancelled'
      WHERE run_id = ${runId} AND step_key = ${gate.step_key} AND round < ${gate.round}::int AND status = 'open'
    ), gate AS (
      INSERT INTO gates AS g (run_id, step_key, round, node_id, label, title, prompt, fails_on_reject, kind, tool, arguments,
                              schema_digest, tool_digest, digest, settings, opened_at, expires_at, remind_at)
      SELECT ${runId}, ${gate.step_key}, ${gate.round}::int, ${gate.node_id}, ${gate.label}, ${gate.title ?? null}, ${gate.prompt}, true,
             'tool_call', ${tool}, ${JSON.stringify(args)}::json, ${schema_digest}, ${tool_digest}::text, ${digest},
             ${jsonOrNull(settings)}, now.at,
             now.at + ${settings?.timeout_seconds ?? null}::float8 * interval '1 s',
             now.at + ${settings?.remind_seconds ?? null}::float8 * interval '1 s'
      FROM (SELECT clock_timestamp() AS at) AS now
      ON CONFLICT (run_id, step_key, round) DO UPDATE
        SET status = 'open', opened_at = excluded.opened_at, expires_at = excluded.expires_at,
            remind_at = excluded.remind_at, reminders = 0, decisions = NULL
        WHERE g.status = 'cancelled'
      RETURNING run_id
    )
    INSERT INTO steps AS s (run_id, step_key, node_id, label, kind, iteration, output_key, ordinal, status, epoch, attempts,
                            input)
    SELECT run_id, ${gate.step_key}, ${gate.node_id}, ${gate.label}, ${workflowOf(tool) === undefined ? 'tool' : 'workflow'},
           ${sql.array(gate.iteration, 'int4')}, ${gate.output_key ?? null}, (SELECT frame_seq + 1 FROM runs WHERE id = ${runId}),
           'paused', ${epoch}, 0, ${jsonOrNull(redacted)}
    FROM gate
    ON CONFLICT (run_id, step_key) DO UPDATE
      SET status = 'paused', epoch = excluded.epoch, input = excluded.input, finished_at = NULL, error = NULL,
          error_kind = NULL, caught = false
      WHERE s.status <> 'success'
  `);
  return result.rowCount > 0;
}

const turnRow = z.object({ output: storedJson<TurnRecord>() });

/**
 * Opens the gate of a tool call: its arguments and their digest come from the turn that requested it. The step of the
 * call waits without an attempt.
 */
async function openToolCall(
  tx: Tx,
  runId: string,
  epoch: number,
  gate: GateOpening,
  { agent_key, turn, call: index, tool }: AgentCall,
): Promise<boolean> {
  const row = await tx.maybeOne(statement(turnRow)`
    SELECT output FROM steps
    WHERE run_id = ${runId} AND step_key = ${turnKey(agent_key, turn)} AND status = 'success'
  `);
  const call = row?.output.calls.find((each) => each.index === index);
  if (call?.arguments === undefined || call.schema_digest === undefined) return false;
  const {
    arguments: args,
    schema_digest,
    tool_digest = null,
    question = tool,
    title = null,
  } = call;
  const digest = callDigest({
    run_id: runId,
    step_key: gate.step_key,
    tool,
    tool_digest,
    schema_digest,
    arguments: args,
  });
  const result = await tx.query(statement(z.object({}))`
    WITH gate AS (
      INSERT INTO gates AS g (run_id, step_key, round, node_id, label, title, prompt, fails_on_reject, kind, tool, turn,
                              arguments, schema_digest, tool_digest, digest)
      VALUES (${runId}, ${gate.step_key}, ${gate.round}, ${gate.node_id}, ${gate.label}, ${title}, ${question}, false, 'tool_call',
              ${tool}, ${turn}::int, ${JSON.stringify(args)}::json, ${schema_digest}, ${tool_digest},
              ${digest})
      ON CONFLICT (run_id, step_key, round) DO UPDATE SET status = 'open', opened_at = excluded.opened_at
        WHERE g.status = 'cancelled'
      RETURNING run_id
    )
    INSERT INTO steps AS s (run_id, step_key, node_id, label, kind, iteration, ordinal, status, epoch, attempts,
                            ${agentColumns})
    SELECT run_id, ${gate.step_key}, ${gate.node_id}, ${gate.label}, 'tool', ${sql.array(gate.iteration, 'int4')},
           (SELECT frame_seq + 1 FROM runs WHERE id = ${runId}), 'paused', ${epoch}, 0,
           ${agentValues({ step_key: agent_key, turn, call: index, tool })}
    FROM gate
    ON CONFLICT (run_id, step_key) DO UPDATE
      SET status = 'paused', epoch = excluded.epoch, finished_at = NULL, error = NULL
      WHERE s.status <> 'success'
  `);
  return result.rowCount > 0;
}

/** Returns whether the parent must be notified. */
const markPaused = (tx: Tx, call: PauseCall): Promise<boolean> =>
  tx.oneFirst(statement(z.object({ noticed: z.boolean() }))`
    WITH run AS (UPDATE runs SET
      ${nextPhase(false)},
      started_at = coalesce(started_at, clock_timestamp()),
      status = 'paused', updated_at = now(), lost_since = NULL
    WHERE id = ${call.run_id}
    RETURNING parent_run_id, parent_step_key, old.status AS before
    ), ${parentNotice(sql.fragment`before <> 'paused'`)}
    SELECT parent_run_id IS NOT NULL AND before <> 'paused' AS noticed FROM run
  `);

/** The frame, the events and the alert of a pause. */
async function announcePause(
  tx: Tx,
  call: PauseCall & PauseNotice,
  opened: readonly GateOpening[],
): Promise<void> {
  const oldest = await announceGates(tx, announcementOf(call, opened, true));
  if (oldest === null) return;
  const { node_id: nodeId, step_key: stepKey, prompt: text, call_key: callKey } = oldest;
  const frame: StreamFrame = {
    run_id: call.run_id,
    type: 'run_paused',
    node_id: nodeId,
    prompt: text,
    ...(callKey === null ? {} : { step_key: callKey }),
  };
  await appendFrames(tx, call.run_id, [frame]);
  const place = { runId: call.run_id, nodeId, stepKey };
  await queueAlert(tx, { ...place, event: 'paused', text, byService: call.alerts });
}

const announcementOf = (
  { run_id: runId, gates, publicUrl }: PauseCall & PauseNotice,
  opened: readonly GateOpening[],
  paused: boolean,
): Announcement => ({
  runId,
  paused,
  opened: opened.map(({ step_key, round }) => ({ step_key, round })),
  pages: gates.map(({ step_key, node_id }) => {
    return { step_key, url: publicUrl + gatePage(runId, node_id, step_key) };
  }),
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

import { z } from 'zod';
import { turnKey } from '#shared/agents/turn-record.ts';
import { callDigest } from '#shared/crypto/call-digest.ts';
import { allowsEffect } from '#shared/contract/forks/fork.ts';
import { type AgentCall, type GateOpening, isAgentCall } from '#shared/graph/gates/gate-opening.ts';
import type { JsonObject } from '#shared/json.ts';
import { statement, type Tx } from '#shared/db/pool.ts';
import { callCountsForFork } from '#shared/db/forks/recorded.ts';
import { closeGate } from './close.ts';
import { BY_REQUEST, decidedByKind } from './gate-records.ts';
import { storedJson } from '#shared/db/stored-json.ts';

/**
 * Gates of rehearsals. They do not wait for people: the request decides, or the rehearsed run's record if that gate
 * asked the same. Otherwise the gate stays open, and the rehearsal ends there. In forks, this also covers calls of
 * agents that were made in the forked run.
 */

const answerRow = z.object({
  approved: z.boolean(),
  input: storedJson<JsonObject>().nullable(),
  reason: z.string().nullable(),
  timed_out: z.enum(['reject', 'approve', 'fail']).nullable(),
  /** Who made the decision. */
  by: z.string().nullable(),
  by_kind: z.enum(['member', 'deadline', 'request']),
  /** The run in which the decision was made; null for the request. */
  reused_from: z.string().nullable(),
  decided_arguments: storedJson<JsonObject>().nullable(),
  /** For a tool call. */
  digest: z.string().nullable(),
  schema_digest: z.string().nullable(),
  tool_digest: z.string().nullable(),
});
type Answer = z.infer<typeof answerRow>;

/** Decides the open gates of a rehearsal for which there is a decision. `allow`: what the rehearsal may execute. */
export async function decideRehearsed(
  tx: Tx,
  runId: string,
  gates: readonly GateOpening[],
  allow: readonly string[],
): Promise<void> {
  const effects = allowsEffect(allow);
  for (const gate of gates) {
    const answer = await findAnswer(tx, runId, gate, { effects });
    if (answer !== null) await decide(tx, runId, gate, answer);
  }
}

/**
 * Decides open calls of agents in a fork whose results come from the forked run, as they were decided there. These
 * calls are not made again, so the recorded approval is valid for them.
 */
export async function decideRecordedCalls(
  tx: Tx,
  runId: string,
  gates: readonly GateOpening[],
): Promise<void> {
  for (const gate of gates) {
    const { tool_call: call } = gate;
    if (call === undefined || !isAgentCall(call)) continue;
    const answer = await findRecordedAnswer(tx, runId, gate, call);
    if (answer !== null) await decide(tx, runId, gate, answer);
  }
}

const findRecordedAnswer = (
  tx: Tx,
  runId: string,
  { step_key, round }: GateOpening,
  { agent_key, turn }: AgentCall,
) =>
  tx.maybeOne(statement(answerRow)`
    SELECT g.status = 'approved' AS approved, g.input, g.reason, g.timed_out, g.decided_by_name AS by,
           ${decidedByKind} AS by_kind, coalesce(g.reused_from, g.run_id) AS reused_from, g.decided_arguments,
           gate.digest, gate.schema_digest, gate.tool_digest
    FROM gates gate JOIN runs r ON r.id = gate.run_id
    JOIN steps t ON t.run_id = r.id AND t.step_key = ${turnKey(agent_key, turn)} AND t.reused_from IS NOT NULL
    JOIN gates g ON g.run_id = r.forked_from AND g.step_key = gate.step_key AND g.kind = gate.kind
    JOIN steps s ON s.run_id = g.run_id AND s.step_key = g.step_key AND s.status IN ('success', 'failed')
    WHERE gate.run_id = ${runId} AND gate.step_key = ${step_key} AND gate.round = ${round}::int AND gate.status = 'open'
      AND r.rehearsal IS NULL AND g.status IN ('approved', 'rejected') AND ${callCountsForFork}
      AND g.arguments::jsonb IS NOT DISTINCT FROM gate.arguments::jsonb
      AND EXISTS (SELECT FROM recorded_steps d WHERE d.run_id = r.id AND d.step_key = ${agent_key})
    ORDER BY g.round DESC LIMIT 1
  `);

/** `effects`: decisions by a request do not count as recorded, since no person approved the effects behind them. */
const findAnswer = (
  tx: Tx,
  runId: string,
  { step_key, node_id, round }: GateOpening,
  { effects }: { effects: boolean },
) =>
  tx.maybeOne(statement(answerRow)`
    WITH gate AS (
      SELECT g.*, r.forked_from, r.rehearsal FROM gates g JOIN runs r ON r.id = g.run_id
      WHERE g.run_id = ${runId} AND g.step_key = ${step_key} AND g.round = ${round}::int AND g.status = 'open'
        AND r.rehearsal IS NOT NULL
    ), given AS (
      SELECT gate.digest, gate.schema_digest, gate.tool_digest,
             coalesce(rehearsal -> 'decisions' -> ${step_key}, rehearsal -> 'decisions' -> ${node_id}) AS answer
      FROM gate
    )
    SELECT (answer ->> 'approved')::boolean AS approved, answer -> 'input' AS input, NULL AS reason, NULL AS timed_out,
           ${BY_REQUEST} AS by, 'request' AS by_kind, NULL AS reused_from, NULL::json AS decided_arguments, digest, schema_digest,
           tool_digest
    FROM given WHERE answer IS NOT NULL
    UNION ALL (
      SELECT g.status = 'approved', g.input, g.reason, g.timed_out, g.decided_by_name, ${decidedByKind},
             coalesce(g.reused_from, g.run_id), g.decided_arguments, gate.digest, gate.schema_digest, gate.tool_digest
      FROM gate JOIN gates g ON g.run_id = gate.forked_from AND g.step_key = gate.step_key
      WHERE g.status IN ('approved', 'rejected') AND g.kind = gate.kind AND g.prompt = gate.prompt
        AND (NOT ${effects}::boolean OR ${decidedByKind} <> 'request')
        AND g.arguments::jsonb IS NOT DISTINCT FROM gate.arguments::jsonb
        AND NOT EXISTS (SELECT FROM given WHERE answer IS NOT NULL)
      ORDER BY g.round DESC LIMIT 1)
  `);

async function decide(tx: Tx, runId: string, gate: GateOpening, answer: Answer): Promise<void> {
  const { approved, input, reason, timed_out: timedOut, reused_from: reusedFrom } = answer;
  const kind = gate.tool_call === undefined ? 'human_gate' : 'tool_call';
  await closeGate(
    tx,
    { ...gate, runId, kind, of_agent: kind === 'tool_call' },
    {
      approved,
      input,
      reason,
      timedOut,
      reusedFrom,
      by: { id: null, name: answer.by, kind: answer.by_kind },
      digest: approved ? digestOf(runId, gate, answer) : null,
      arguments: answer.decided_arguments,
    },
  );
  // A turn has its recorded result if everything before it comes from the record, including rejections.
  await tx.query(statement(z.object({}))`
    UPDATE steps SET reused_from = ${reusedFrom} WHERE run_id = ${runId} AND step_key = ${gate.step_key}
  `);
}

/** The digest that a decision about a tool call is bound to. */
function digestOf(
  runId: string,
  { step_key, tool_call }: GateOpening,
  { digest, schema_digest, tool_digest, decided_arguments: changed }: Answer,
): string | null {
  if (tool_call === undefined || changed === null) return digest;
  return callDigest({
    run_id: runId,
    step_key,
    tool: tool_call.tool,
    tool_digest,
    schema_digest: schema_digest ?? '',
    arguments: changed as JsonObject,
  });
}

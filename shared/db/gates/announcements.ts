import { z } from 'zod';
import type { RunEventType } from '#shared/contract/data/outbound.ts';
import { newId } from '#shared/crypto/ids.ts';
import { MAX_PENDING } from '#shared/db/webhooks/outbound-events.ts';
import { type FragmentSqlToken, sql, statement, type Tx } from '#shared/db/pool.ts';
import { titleOf } from './gate-records.ts';

/**
 * Events of gates: `run.paused` for the gate that has been waiting longest, `approval.requested` for each gate that
 * opens.
 */
export interface Announcement {
  runId: string;
  /** Whether the run has just been paused. */
  paused: boolean;
  /** The gates that have just opened. */
  opened: readonly { step_key: string; round: number }[];
  /** The URLs of the open gates' pages. */
  pages: readonly { step_key: string; url: string }[];
}

const oldestGate = z.object({
  node_id: z.string(),
  step_key: z.string(),
  prompt: z.string(),
  call_key: z.string().nullable(),
});
/** `call_key` is the step key, only for a tool call. */
export type OldestGate = z.infer<typeof oldestGate>;

/**
 * Queues the events of gates in the transaction that opens them, and returns the gate that has been waiting longest.
 * Null when none is open.
 */
export async function announceGates(
  tx: Tx,
  announcement: Announcement,
): Promise<OldestGate | null> {
  const { runId, paused, opened, pages } = announcement;
  const pausedType: RunEventType = 'run.paused';
  const requestedType: RunEventType = 'approval.requested';
  const events = [
    ...(paused ? [{ type: pausedType, step_key: null, round: null }] : []),
    ...opened.map(({ step_key, round }) => ({ type: requestedType, step_key, round })),
  ].map((event) => ({ id: newId('outboundEvent'), ...event }));
  return tx.maybeOne(statement(oldestGate)`
    WITH run AS (
      SELECT id, workspace_id, rehearsal FROM runs WHERE id = ${runId}
    ), oldest AS MATERIALIZED (
      SELECT step_key, round, node_id, prompt, kind FROM gates WHERE run_id = ${runId} AND status = 'open'
      ORDER BY opened_at, step_key LIMIT 1
    ), events AS (
      SELECT e.at, e.id, e.type, coalesce(e.step_key, oldest.step_key) AS step_key, coalesce(e.round, oldest.round) AS round
      FROM oldest, ROWS FROM (
        json_to_recordset(${JSON.stringify(events)}::json) AS (id text, type text, step_key text, round int)
      ) WITH ORDINALITY AS e (id, type, step_key, round, at)
    ), happened AS (
      -- Nothing is computed for events that no endpoint wants. Rehearsals have none.
      SELECT json_agg(json_build_object('id', e.id, 'type', e.type,
               'data', json_build_object('run', run_of_event_1(run.id), 'gate', ${gateOfEvent})) ORDER BY e.at) AS events
      FROM run JOIN gates g ON g.run_id = run.id
      JOIN events e ON e.step_key = g.step_key AND e.round = g.round
      LEFT JOIN json_to_recordset(${JSON.stringify(pages)}::json) AS page (step_key text, url text)
        ON page.step_key = g.step_key
      WHERE run.rehearsal IS NULL AND EXISTS (
        SELECT FROM data_endpoints p
        WHERE p.workspace_id = run.workspace_id AND p.events && ${sql.array([pausedType, requestedType], 'text')})
    ), queued AS MATERIALIZED (
      SELECT queue_events_1(run.workspace_id, happened.events, NULL, ${MAX_PENDING})
      FROM run, happened WHERE happened.events IS NOT NULL
    )
    SELECT node_id, step_key, prompt, CASE WHEN kind = 'tool_call' THEN step_key END AS call_key
    FROM oldest, (SELECT count(*) FROM queued) AS counted
  `);
}

/** A time in the format of all responses. */
const eventTime = (time: FragmentSqlToken) => sql.fragment`
  to_char(${time} AT TIME ZONE 'UTC', 'YYYY-MM-DD"T"HH24:MI:SS.MS"Z"')`;

/**
 * The redacted arguments of the tool call at gate `g`, as recorded with its turn, or with the step that needs approval. The
 * key of a call is `<turn>.<index>`.
 */
const redactedArguments: FragmentSqlToken = sql.fragment`(
  CASE WHEN g.turn IS NULL THEN (SELECT input FROM steps s WHERE s.run_id = g.run_id AND s.step_key = g.step_key) ELSE (
  SELECT call -> 'redacted'
  FROM steps t CROSS JOIN LATERAL json_array_elements(t.output -> 'calls') AS call
  WHERE t.run_id = g.run_id AND t.step_key = regexp_replace(g.step_key, '[.][0-9]+$', '')
    AND call ->> 'index' = substring(g.step_key FROM '[0-9]+$')) END)`;

/** How much each answer to gate `g` sets in motion. Receivers are not approvers, so they get no arguments. */
const countedConsequences: FragmentSqlToken = sql.fragment`(
  SELECT json_object_agg(answer.key, json_build_object(
    'effects', json_array_length(answer.value -> 'effects'),
    'writes', (SELECT count(*) FROM json_array_elements(answer.value -> 'effects') AS effect
               WHERE effect ->> 'effect' = 'write'),
    'more', answer.value -> 'more', 'next_gates', answer.value -> 'next_gates'))
  FROM json_each(g.consequences) AS answer)`;

const gateOfEvent: FragmentSqlToken = sql.fragment`
  json_build_object(
    'kind', g.kind, 'node_id', g.node_id, 'step_key', g.step_key, 'label', g.label,
    'title', ${titleOf}, 'prompt', g.prompt,
    'since', ${eventTime(sql.fragment`g.opened_at`)}, 'url', page.url,
    'input_schema', g.settings -> 'input_schema', 'approvers', g.settings -> 'approvers',
    'required', g.settings -> 'required', 'not_the_starter', g.settings -> 'not_the_starter',
    'signed_in', g.settings -> 'signed_in', 'act_as', g.settings -> 'act_as',
    'on_timeout', g.settings -> 'on_timeout', 'expires_at', ${eventTime(sql.fragment`g.expires_at`)},
    'digest', g.digest, 'consequences', ${countedConsequences},
    'tool_call', CASE WHEN g.kind = 'tool_call' THEN json_build_object(
      'tool', g.tool, 'turn', g.turn, 'arguments', ${redactedArguments}, 'digest', g.digest) END)`;

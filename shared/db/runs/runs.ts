import { z } from 'zod';
import type { TurnRecord } from '../../agents/turn-record.ts';
import { storedTime } from '../../time.ts';
import type {
  Approval,
  PendingGate,
  Run,
  RunStatus,
  RunSummary,
  Trigger,
} from '../../contract/run.ts';
import { runStatuses } from '../../run-kinds.ts';
import type { Evals } from '../../contract/graph.ts';
import type { Checkpoint, Step, StepAttempt } from '../../contract/step.ts';
import type { Json, JsonObject } from '../../json.ts';
import { toDollars, toMicros } from '../../money.ts';
import { decodeCursor, pageOf } from '../cursor.ts';
import { type Db, sql } from '../pool.ts';
import { summaryColumns, summaryRow, toSummary } from './summary.ts';

// The result of this project's own statement: only its outer shape is checked.
const own = <T>() => z.unknown().transform((value) => value as T);

/** A step as `json_build_object` returns it. */
interface StepRow {
  step_key: string;
  node_id: string;
  label: string;
  kind: Step['kind'];
  iteration: number[];
  output_key: string | null;
  attempts: number;
  /** Earlier attempts, if they are stored. */
  earlier: EarlierAttempt[] | null;
  status: Step['status'];
  queued_at: string | null;
  started_at: string;
  attempt_started_at: string | null;
  attempt_ended_at: string | null;
  finished_at: string | null;
  event_id: number | null;
  cost_micros: number;
  model: string | null;
  usage: Step['usage'] | null;
  unpriced: boolean;
  input: Json;
  output: Json;
  error: string | null;
  policy: Step['policy'];
  decision: NonNullable<Step['decision']> | null;
  parent_step_key: string | null;
  turn: number | null;
  call_index: number | null;
  call_tool: string | null;
}

interface EarlierAttempt {
  attempt: number;
  outcome: StepAttempt['outcome'];
  started_at: string;
  ended_at: string;
  error: string | null;
  cost_micros: number;
}

const runRow = z.object({
  ...summaryRow.shape,
  input: own<JsonObject>(),
  state: own<JsonObject | null>(),
  output: own<JsonObject | null>(),
  evals: own<Evals | null>(),
  temporal_run_id: z.string().nullable(),
  steps: own<StepRow[]>(),
  gates: own<GateRow[]>(),
});

/** The run's page in the Temporal UI. */
export interface TemporalPages {
  /** Undefined when no UI is configured. */
  temporalUiUrl: string | undefined;
  temporalNamespace: string;
}

/** The record of a newly admitted run. */
export function newRunRecord(summary: RunSummary, input: JsonObject, pages: TemporalPages): Run {
  return {
    ...summary,
    input,
    state: input,
    output: null,
    evals: null,
    steps: [],
    checkpoints: [],
    pending_gate: null,
    pending_gates: [],
    temporal: { workflow_id: summary.id, run_id: null, url: temporalPage(pages, summary.id, null) },
  };
}

/** The decision of the last round of the gate of step `s`; null when it is undecided. */
const lastDecision = sql.fragment`
  SELECT CASE WHEN g.status IN ('approved', 'rejected') THEN json_build_object(
    'approved', g.status = 'approved', 'by', g.decided_by_name, 'at', g.decided_at, 'reason', g.reason) END
  FROM gates g WHERE g.run_id = s.run_id AND g.step_key = s.step_key ORDER BY g.round DESC LIMIT 1`;

/** An open gate `g`. */
const gateRecord = sql.fragment`json_build_object(
  'kind', g.kind, 'node_id', g.node_id, 'step_key', g.step_key, 'label', g.label, 'prompt', g.prompt,
  'since', g.opened_at,
  'tool_call', CASE WHEN g.kind = 'tool_call' THEN json_build_object('tool', g.tool, 'turn', g.turn,
    'arguments', g.arguments, 'schema_digest', g.schema_digest, 'digest', g.digest) END)`;

interface GateRow extends Omit<PendingGate, 'tool_call'> {
  tool_call: PendingGate['tool_call'] | null;
}

const toGate = ({ tool_call: call, ...gate }: GateRow): PendingGate => ({
  ...gate,
  since: storedTime(gate.since),
  ...(call == null ? {} : { tool_call: call }),
});

const earlierAttempts = sql.fragment`
  SELECT json_agg(json_build_object('attempt', a.attempt, 'outcome', a.outcome, 'started_at', a.started_at,
    'ended_at', a.ended_at, 'error', a.error, 'cost_micros', a.cost_micros) ORDER BY a.attempt)
  FROM step_attempts a WHERE a.run_id = s.run_id AND a.step_key = s.step_key`;

/**
 * The whole record of a run in one statement, steps in the order they started or were decided; undefined when there is
 * no such run.
 */
export async function readRun(
  db: Db,
  scope: TemporalPages & { workspaceId: string; runId: string },
): Promise<Run | undefined> {
  const row = await db.maybeOne(sql.prepared('read_run', runRow)`
    SELECT ${summaryColumns}, r.input, r.state, r.output, r.evals, r.temporal_run_id,
      coalesce((
        SELECT json_agg(json_build_object(
          'step_key', s.step_key, 'node_id', s.node_id, 'label', s.label, 'kind', s.kind, 'iteration', s.iteration,
          'output_key', s.output_key, 'attempts', s.attempts, 'status', s.status, 'queued_at', s.queued_at,
          'started_at', s.started_at, 'attempt_started_at', s.attempt_started_at,
          'attempt_ended_at', s.attempt_ended_at, 'finished_at', s.finished_at,
          'earlier', CASE WHEN s.attempts > 1 THEN (${earlierAttempts}) END,
          'event_id', s.event_id, 'cost_micros', s.cost_micros, 'model', s.model, 'usage', s.usage, 'unpriced', s.unpriced,
          'input', s.input, 'output', s.output, 'error', s.error, 'policy', s.policy,
          'decision', CASE WHEN s.kind = 'human_gate' OR s.call_index IS NOT NULL THEN (${lastDecision}) END,
          'parent_step_key', s.parent_step_key, 'turn', s.turn, 'call_index', s.call_index, 'call_tool', s.call_tool
        ) ORDER BY s.ordinal, s.started_at, s.step_key)
        FROM steps s WHERE s.run_id = r.id), '[]') AS steps,
      CASE WHEN r.status NOT IN ('running', 'paused') THEN '[]'::json ELSE coalesce((
        SELECT json_agg(${gateRecord} ORDER BY g.opened_at, g.step_key)
        FROM gates g WHERE g.run_id = r.id AND g.status = 'open'), '[]') END AS gates
    FROM runs r JOIN workflows w ON w.id = r.workflow_id
    WHERE r.id = ${scope.runId} AND r.workspace_id = ${scope.workspaceId}
  `);
  if (row === null) return undefined;
  const gates = row.gates.map(toGate);
  const { steps, temporal_run_id, gates: _gates, ...rest } = row;
  return {
    ...toSummary(rest),
    input: row.input,
    state: row.state ?? stateSoFar(row.input, steps),
    output: row.output,
    evals: row.evals,
    steps: withAgentCosts(steps.map(toStep)),
    checkpoints: steps.filter((step) => step.status === 'success').map(toCheckpoint),
    pending_gate: gates[0] ?? null,
    pending_gates: gates,
    temporal: {
      workflow_id: row.id,
      run_id: temporal_run_id,
      url: temporalPage(scope, row.id, temporal_run_id),
    },
  };
}

function temporalPage(
  scope: TemporalPages,
  workflowId: string,
  temporalRunId: string | null,
): string | null {
  if (scope.temporalUiUrl === undefined) return null;
  const page = `${scope.temporalUiUrl}/namespaces/${scope.temporalNamespace}/workflows/${workflowId}`;
  return temporalRunId === null ? page : `${page}/${temporalRunId}/history`;
}

function toStep(row: StepRow): Step {
  const started = Date.parse(row.started_at);
  return {
    step_key: row.step_key,
    node_id: row.node_id,
    label: row.label,
    kind: row.kind,
    iteration: row.iteration,
    attempt: row.attempts,
    status: row.status,
    started_at: storedTime(row.started_at),
    finished_at: row.finished_at === null ? null : storedTime(row.finished_at),
    duration_ms:
      row.finished_at === null ? null : Math.max(0, Date.parse(row.finished_at) - started),
    queued_ms: row.queued_at === null ? null : Math.max(0, started - Date.parse(row.queued_at)),
    retried_ms: retriedMs(row, started),
    attempts: attemptsOf(row),
    cost_usd: toDollars(row.cost_micros),
    ...(row.model === null ? {} : { model: row.model }),
    ...(row.usage == null ? {} : { usage: row.usage }),
    ...(row.unpriced ? { unpriced: true } : {}),
    input: row.input,
    output: row.output,
    error: row.error,
    policy: row.policy,
    ...(row.decision === null
      ? {}
      : { decision: { ...row.decision, at: storedTime(row.decision.at) } }),
    ...agentPartOf(row),
  };
}

function agentPartOf({
  parent_step_key,
  turn,
  call_index: index,
  call_tool: tool,
  output,
}: StepRow) {
  if (parent_step_key === null || turn === null) return {};
  if (index !== null) return { parent_step_key, turn, tool_call: { tool: tool ?? '', index } };
  return { parent_step_key, turn, output: shownTurn(output as TurnRecord | null) };
}

/** A turn without the arguments that the workflow sets, which only approvers see. */
const shownTurn = (turn: TurnRecord | null): Json =>
  turn && {
    text: turn.text,
    calls: turn.calls.map(({ index, tool, given, refusal }) => ({
      index,
      tool,
      arguments: given,
      ...(refusal === undefined ? {} : { refusal }),
    })),
  };

/** The step of an agent with tools shows the cost and the tokens of its turns and calls. */
function withAgentCosts(steps: Step[]): Step[] {
  const parts = new Map<string, Step[]>();
  for (const step of steps) {
    if (step.parent_step_key === undefined) continue;
    const group = parts.get(step.parent_step_key);
    if (group === undefined) parts.set(step.parent_step_key, [step]);
    else group.push(step);
  }
  if (parts.size === 0) return steps;
  return steps.map((step) => {
    const own = parts.get(step.step_key);
    if (own === undefined) return step;
    const usages = own.flatMap(({ usage }) => usage ?? []);
    const model = own.findLast((part) => part.model !== undefined)?.model;
    return {
      ...step,
      cost_usd: toDollars(own.reduce((sum, part) => sum + toMicros(part.cost_usd), 0)),
      input:
        own.find((part) => part.turn === 1 && part.tool_call === undefined)?.input ?? step.input,
      ...(model === undefined ? {} : { model }),
      ...(usages.length === 0 ? {} : { usage: usages.reduce(addUsage) }),
      ...(own.some((part) => part.unpriced) ? { unpriced: true } : {}),
    };
  });
}

type Usage = NonNullable<Step['usage']>;

const addUsage = (one: Usage, other: Usage): Usage => ({
  input_tokens: one.input_tokens + other.input_tokens,
  output_tokens: one.output_tokens + other.output_tokens,
  ...(one.cached_tokens === undefined && other.cached_tokens === undefined
    ? {}
    : { cached_tokens: (one.cached_tokens ?? 0) + (other.cached_tokens ?? 0) }),
});

function attemptsOf(row: StepRow): StepAttempt[] {
  // A tool call that waits for approval, or was rejected, has no attempt.
  if (row.status === 'skipped' || row.attempts === 0) return [];
  const earlier = row.earlier ?? [];
  const before = earlier.reduce((sum, { cost_micros }) => sum + cost_micros, 0);
  const newest = {
    attempt: row.attempts,
    outcome: outcomeOf(row),
    started_at: row.attempt_started_at ?? row.started_at,
    ended_at: row.attempt_ended_at ?? row.finished_at,
    error: row.error,
    cost_micros: row.cost_micros - before,
  };
  return [...earlier, newest].map(
    ({ attempt, outcome, started_at, ended_at, error, cost_micros }) => ({
      attempt,
      outcome,
      started_at: storedTime(started_at),
      finished_at: ended_at === null ? null : storedTime(ended_at),
      duration_ms:
        ended_at === null ? null : Math.max(0, Date.parse(ended_at) - Date.parse(started_at)),
      error,
      cost_usd: toDollars(cost_micros),
    }),
  );
}

/** The outcome of the newest attempt; for earlier ones a trigger stores it. */
function outcomeOf({ status, attempt_ended_at, error }: StepRow): StepAttempt['outcome'] {
  if (attempt_ended_at !== null) return error === null ? 'interrupted' : 'failed';
  return status === 'success' || status === 'failed' || status === 'cancelled' ? status : null;
}

function retriedMs(row: StepRow, started: number): number | null {
  if (row.attempt_started_at === null) return row.attempts === 1 ? 0 : null;
  return Math.max(0, Date.parse(row.attempt_started_at) - started);
}

function toCheckpoint(row: StepRow): Checkpoint {
  return {
    step_key: row.step_key,
    at: storedTime(row.finished_at ?? row.started_at),
    event_id: row.event_id,
  };
}

/** The state of an active run: its input, overlaid with finished outputs, in order. */
function stateSoFar(input: JsonObject, steps: readonly StepRow[]): JsonObject {
  const state: JsonObject = { ...input };
  const finished = steps
    .filter((step) => step.status === 'success' && step.parent_step_key === null)
    .sort((a, b) => Date.parse(a.finished_at ?? '') - Date.parse(b.finished_at ?? ''));
  for (const step of finished) {
    const key = step.output_key ?? step.node_id;
    if (step.kind !== 'human_gate') {
      state[key] = step.output;
      continue;
    }
    const { approved, input: given } = step.output as { approved: boolean; input?: JsonObject };
    Object.assign(state, given);
    state[key] = { approved };
  }
  return state;
}

const statusRow = z.object({ status: z.enum(runStatuses) });

/** The status of a run; undefined when there is no such run. */
export async function readRunStatus(
  db: Db,
  run: { workspaceId: string; runId: string },
): Promise<RunStatus | undefined> {
  const row = await db.maybeOne(sql.prepared('runs_status', statusRow)`
    SELECT status FROM runs WHERE id = ${run.runId} AND workspace_id = ${run.workspaceId}
  `);
  return row?.status;
}

export interface RunFilter {
  workspaceId: string;
  workflowId?: string;
  status?: RunStatus;
  trigger?: Trigger;
  /** ISO 8601: created at or after. */
  since?: string;
  limit: number;
  cursor?: string;
}

const pagedSummary = z.object({ ...summaryRow.shape, at: z.number() });

/** Runs newest first, without payloads. Throws AppError `invalid` for a cursor of another list. */
export async function listRuns(
  db: Db,
  filter: RunFilter,
): Promise<{ runs: RunSummary[]; next_cursor: string | null }> {
  const conditions = [sql.fragment`r.workspace_id = ${filter.workspaceId}`];
  if (filter.workflowId !== undefined) {
    conditions.push(sql.fragment`r.workflow_id = ${filter.workflowId}`);
  }
  if (filter.status !== undefined) conditions.push(sql.fragment`r.status = ${filter.status}`);
  if (filter.trigger !== undefined) conditions.push(sql.fragment`r.trigger = ${filter.trigger}`);
  if (filter.since !== undefined) {
    conditions.push(sql.fragment`r.created_at >= ${filter.since}::timestamptz`);
  }
  if (filter.cursor !== undefined) {
    const end = decodeCursor(filter.cursor);
    conditions.push(sql.fragment`(r.created_at, r.id) < (${toTimestamp(end.at)}, ${end.id})`);
  }
  const rows = await db.any(sql.type(pagedSummary)`
    SELECT ${summaryColumns}, ${toMicroseconds(sql.fragment`r.created_at`)} AS at
    FROM runs r JOIN workflows w ON w.id = r.workflow_id
    WHERE ${sql.join(conditions, sql.fragment` AND `)}
    ORDER BY r.created_at DESC, r.id DESC LIMIT ${filter.limit + 1}
  `);
  const page = pageOf(rows, filter.limit);
  return {
    runs: page.rows.map(({ at: _at, ...row }) => toSummary(row)),
    next_cursor: page.next_cursor,
  };
}

const toTimestamp = (microseconds: number) =>
  sql.fragment`'epoch'::timestamptz + ${microseconds}::bigint * interval '1 microsecond'`;
const toMicroseconds = (column: ReturnType<typeof sql.fragment>) =>
  sql.fragment`(extract(epoch FROM ${column}) * 1000000)::bigint`;

const approvalRow = z.object({
  id: z.string(),
  at: z.number(),
  run_id: z.string(),
  workflow_id: z.string(),
  workflow_name: z.string(),
  gate: own<GateRow>(),
});

/** Gates that can be decided now, oldest first. Throws AppError `invalid` for a cursor of another list. */
export async function listApprovals(
  db: Db,
  filter: { workspaceId: string; limit: number; cursor?: string },
): Promise<{ approvals: Approval[]; next_cursor: string | null }> {
  const after =
    filter.cursor === undefined ? sql.fragment`true` : pageAfter(decodeCursor(filter.cursor));
  const rows = await db.any(sql.type(approvalRow)`
    SELECT g.run_id || '/' || g.step_key AS id, ${toMicroseconds(sql.fragment`g.opened_at`)} AS at, g.run_id,
           r.workflow_id, w.name AS workflow_name, ${gateRecord} AS gate
    FROM gates g JOIN runs r ON r.id = g.run_id JOIN workflows w ON w.id = r.workflow_id
    WHERE g.status = 'open' AND r.status IN ('running', 'paused') AND r.workspace_id = ${filter.workspaceId} AND ${after}
    ORDER BY g.opened_at, g.run_id || '/' || g.step_key LIMIT ${filter.limit + 1}
  `);
  const page = pageOf(rows, filter.limit);
  return {
    approvals: page.rows.map(({ id: _id, at: _at, gate, ...row }) => ({ ...row, ...toGate(gate) })),
    next_cursor: page.next_cursor,
  };
}

const pageAfter = (end: { at: number; id: string }) =>
  sql.fragment`(g.opened_at, g.run_id || '/' || g.step_key) > (${toTimestamp(end.at)}, ${end.id})`;

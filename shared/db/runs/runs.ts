import { z } from 'zod';
import { storedTime } from '../../time.ts';
import type { Approval, Run, RunStatus, RunSummary, Trigger } from '../../contract/run.ts';
import { runStatuses } from '../../run-kinds.ts';
import type { Evals, Graph } from '../../contract/graph.ts';
import type { Checkpoint } from '../../contract/step.ts';
import { nodesInMaps } from '../../graph/schedule/loops.ts';
import type { JsonObject } from '../../json.ts';
import { toDollars } from '../../money.ts';
import { decodeCursor, pageOf } from '../cursor.ts';
import { gateRecord, type GateRow, toGate } from '../gates/gate-records.ts';
import { type Db, sql } from '../pool.ts';
import { type StepRow, stepRecord, toSteps } from './step-records.ts';
import { summaryColumns, summaryRow, toSummary } from './summary.ts';

// The result of this project's own statement: only its outer shape is checked.
const own = <T>() => z.unknown().transform((value) => value as T);

const runRow = z.object({
  ...summaryRow.shape,
  input: own<JsonObject>(),
  state: own<JsonObject | null>(),
  output: own<JsonObject | null>(),
  evals: own<Evals | null>(),
  temporal_run_id: z.string().nullable(),
  graph: own<Graph | null>(),
  steps: own<StepRow[]>(),
  gates: own<GateRow[]>(),
  children_micros: z.number(),
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
    children_cost_usd: 0,
    steps: [],
    checkpoints: [],
    pending_gate: null,
    pending_gates: [],
    temporal: { workflow_id: summary.id, run_id: null, url: temporalPage(pages, summary.id, null) },
  };
}

/** The graph of an active run `r` with maps: what their items write is not part of the run's state. Null for others. */
const graphOfMaps = sql.fragment`
  CASE WHEN r.state IS NULL AND EXISTS (SELECT FROM steps s WHERE s.run_id = r.id AND s.kind = 'map') THEN (
    SELECT v.graph FROM workflow_versions v WHERE v.workflow_id = r.workflow_id AND v.version = r.workflow_version
  ) END`;

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
      ${graphOfMaps} AS graph,
      CASE WHEN EXISTS (SELECT FROM runs c WHERE c.parent_run_id = r.id) THEN (
        SELECT sum(b.cost_micros)::bigint FROM runs b WHERE b.id = ANY (ARRAY(SELECT a.id FROM runs_below(r.id) AS a))
      ) ELSE 0 END AS children_micros,
      coalesce((
        SELECT json_agg(${stepRecord} ORDER BY s.ordinal, s.started_at, s.step_key)
        FROM steps s WHERE s.run_id = r.id), '[]') AS steps,
      CASE WHEN r.status NOT IN ('running', 'paused') THEN '[]'::json ELSE coalesce((
        SELECT json_agg(${gateRecord} ORDER BY g.opened_at, g.step_key)
        FROM gates g WHERE g.run_id = r.id AND g.status = 'open'), '[]') END AS gates
    FROM runs r JOIN workflows w ON w.id = r.workflow_id
    WHERE r.id = ${scope.runId} AND r.workspace_id = ${scope.workspaceId}
  `);
  if (row === null) return undefined;
  const gates = row.gates.map(toGate);
  const { steps, temporal_run_id, gates: _gates, graph: _graph, children_micros, ...rest } = row;
  return {
    ...toSummary(rest),
    input: row.input,
    state: row.state ?? stateSoFar(row.input, steps, row.graph),
    output: row.output,
    evals: row.evals,
    children_cost_usd: toDollars(children_micros),
    steps: toSteps(steps),
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

function toCheckpoint(row: StepRow): Checkpoint {
  return {
    step_key: row.step_key,
    at: storedTime(row.finished_at ?? row.started_at),
    event_id: row.event_id,
  };
}

/** The state of an active run: its input, overlaid with finished outputs and caught errors, in order. */
function stateSoFar(input: JsonObject, steps: readonly StepRow[], graph: Graph | null): JsonObject {
  const state: JsonObject = { ...input };
  const inItems = graph === null ? new Set<string>() : nodesInMaps(graph);
  const finished = steps
    .filter(({ status, caught }) => status === 'success' || caught)
    .filter((step) => step.parent_step_key === null && !inItems.has(step.node_id))
    .sort((a, b) => Date.parse(a.finished_at ?? '') - Date.parse(b.finished_at ?? ''));
  for (const step of finished) {
    const key = step.output_key ?? step.node_id;
    if (step.caught) {
      const { error: message, error_kind: kind, tries: attempts } = step;
      state[step.node_id] = { error: { message, kind: kind ?? 'node', attempts } };
      continue;
    }
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
  parentRunId?: string;
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
  if (filter.parentRunId !== undefined) {
    conditions.push(sql.fragment`r.parent_run_id = ${filter.parentRunId}`);
  }
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

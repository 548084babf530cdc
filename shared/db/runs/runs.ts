import { z } from 'zod';
import { storedTime } from '#shared/time.ts';
import type { Approval, Run, RunStatus, RunSummary } from '#shared/contract/runs/run.ts';
import type { Waiting } from '#shared/contract/waits/waiting.ts';
import { runStatuses } from '#shared/contract/runs/run-kinds.ts';
import type { Graph } from '#shared/contract/workflows/graph.ts';
import type { Evals } from '#shared/contract/workflows/evaluation-check.ts';
import type { Checkpoint } from '#shared/contract/steps/step.ts';
import { nodesInMaps } from '#shared/graph/schedule/loops.ts';
import type { Json, JsonObject } from '#shared/json.ts';
import { toDollars } from '#shared/money/money.ts';
import { type JsonText, put, valueOf } from '#shared/values/json-text.ts';
import { decodeCursor, pageOf, toMicroseconds, toTimestamp } from '#shared/db/cursor.ts';
import { gateRecord, type GateRow, toGates } from '#shared/db/gates/gate-records.ts';
import { type Db, sql, statement } from '#shared/db/pool.ts';
import {
  countSteps,
  cutPage,
  firstSteps,
  stepColumns,
  stepRow,
  toPage,
  toStepRow,
} from '#shared/db/steps/step-pages.ts';
import {
  payloadOf,
  type StepFields,
  type StepRow,
  toSteps,
  withPayloads,
} from '#shared/db/steps/step-records.ts';
import { openWaits } from '#shared/db/waits/waits.ts';
import { summaryColumns, summaryRow, toSummary } from './summary.ts';
import { storedJson } from '#shared/db/stored-json.ts';

// The result of our own statement: only its outer shape is validated. Payloads are texts, because responses pass them
// on, and parsing and serializing megabytes would block all other requests.

const runRow = z.object({
  ...summaryRow.shape,
  input: z.string(),
  state: z.string().nullable(),
  output: z.string().nullable(),
  evals: storedJson<Evals | null>(),
  laid: storedJson<Run['laid'] | null>(),
  temporal_run_id: z.string().nullable(),
  graph_of_maps: storedJson<Graph | null>(),
  graph_of_draft: storedJson<Run['graph'] | null>(),
  fields: storedJson<StepFields[]>(),
  payloads: z.string().nullable(),
  gates: storedJson<GateRow[]>(),
  event_id: z.string().nullable(),
  waiting: storedJson<Waiting[]>(),
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
    steps_next_cursor: null,
    step_counts: null,
    checkpoints: [],
    pending_gate: null,
    pending_gates: [],
    event_id: null,
    waiting: [],
    temporal: { workflow_id: summary.id, run_id: null, url: temporalPage(pages, summary.id, null) },
  };
}

/**
 * The graph of an active run `r` with maps, because what their items write is not part of the run's state. Null for
 * other runs.
 */
const graphOfMaps = sql.fragment`
  CASE WHEN r.state IS NULL AND EXISTS (SELECT FROM steps s WHERE s.run_id = r.id AND s.kind = 'map') THEN (
    SELECT coalesce(r.graph, v.graph) FROM workflow_versions v
    WHERE v.workflow_id = r.workflow_id AND v.version = r.workflow_version
  ) END`;

/**
 * The whole record of a run, steps in the order they started or were decided; undefined when there is no such run.
 * `maxSteps` limits its steps. It takes one statement if there are not more.
 */
export async function readRun(
  db: Db,
  scope: TemporalPages & { workspaceId: string; runId: string; maxSteps?: number },
): Promise<Run | undefined> {
  const row = await db.maybeOne(statement(runRow)`
    SELECT ${summaryColumns}, r.input::text, r.state::text, r.output::text, r.evals, r.laid, r.temporal_run_id,
      ${graphOfMaps} AS graph_of_maps, r.graph AS graph_of_draft,
      CASE WHEN EXISTS (SELECT FROM runs c WHERE c.parent_run_id = r.id) THEN (
        SELECT sum(b.cost_micros)::bigint FROM runs b WHERE b.id = ANY (ARRAY(SELECT a.id FROM runs_below(r.id) AS a))
      ) ELSE 0 END AS children_micros,
      first.fields, first.payloads,
      CASE WHEN r.status NOT IN ('running', 'paused') OR r.rehearsal IS NOT NULL THEN '[]'::json ELSE coalesce((
        SELECT json_agg(${gateRecord} ORDER BY g.opened_at, g.step_key)
        FROM gates g WHERE g.run_id = r.id AND g.status = 'open'), '[]') END AS gates,
      (SELECT e.id FROM events e WHERE e.id = r.event_id) AS event_id, ${openWaits} AS waiting
    FROM runs r JOIN workflows w ON w.id = r.workflow_id, LATERAL (${firstSteps(scope.maxSteps)}) AS first
    WHERE r.id = ${scope.runId} AND r.workspace_id = ${scope.workspaceId}
  `);
  if (row === null) return undefined;
  const gates = await toGates(db, scope.workspaceId, row.gates);
  const { fields, payloads, input: inputText, state, output, evals, ...given } = row;
  const { graph_of_maps: withMaps, graph_of_draft: graph, laid, temporal_run_id, ...known } = given;
  const { gates: _gates, children_micros, waiting, event_id, ...rest } = known;
  const { rows: steps, next_cursor } = cutPage(withPayloads(fields, payloads), scope.maxSteps);
  const whole = next_cursor === null;
  const input = payloadOf(inputText);
  const run: Run = {
    ...toSummary(rest),
    input: {},
    state: null,
    output: null,
    evals,
    ...(laid === null ? {} : { laid }),
    ...(graph === null ? {} : { graph }),
    children_cost_usd: toDollars(children_micros),
    steps: whole ? toSteps(steps) : await toPage(db, row.id, steps),
    steps_next_cursor: next_cursor,
    step_counts: whole ? null : await countSteps(db, row.id),
    checkpoints: steps.filter((step) => step.status === 'success').map(toCheckpoint),
    pending_gate: gates[0] ?? null,
    pending_gates: gates,
    event_id,
    waiting,
    temporal: {
      workflow_id: row.id,
      run_id: temporal_run_id,
      url: temporalPage(scope, row.id, temporal_run_id),
    },
  };
  put(run, 'input', input);
  put(run, 'output', output === null ? null : payloadOf(output));
  put(
    run,
    'state',
    state !== null
      ? payloadOf(state)
      : stateSoFar(input, whole ? steps : await readStateSteps(db, row.id, withMaps), withMaps),
  );
  return run;
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

/**
 * The steps that `stateSoFar` needs of a run with many steps: the last one of each node, and each gate, since its
 * decision can set any key.
 */
async function readStateSteps(db: Db, runId: string, graph: Graph | null): Promise<StepRow[]> {
  const rows = await db.any(statement(stepRow)`
    SELECT ${stepColumns} FROM (
      -- Without the payloads, which would be sorted as well.
      SELECT DISTINCT ON (node_id, caught, CASE WHEN kind = 'human_gate' THEN step_key END) step_key
      FROM steps
      WHERE run_id = ${runId} AND parent_step_key IS NULL AND (status = 'success' OR caught)
        AND NOT node_id = ANY (${sql.array([...inItemsOf(graph)], 'text')})
      ORDER BY node_id, caught, CASE WHEN kind = 'human_gate' THEN step_key END, finished_at DESC
    ) AS last JOIN steps s ON s.run_id = ${runId} AND s.step_key = last.step_key
  `);
  return rows.map(toStepRow);
}

const inItemsOf = (graph: Graph | null): ReadonlySet<string> =>
  graph === null ? new Set() : nodesInMaps(graph);

/** The state of an active run: its input, overwritten by finished outputs and caught errors, in order. */
function stateSoFar(
  input: Json | JsonText,
  steps: readonly StepRow[],
  graph: Graph | null,
): Json | JsonText {
  const inItems = inItemsOf(graph);
  const finished = steps
    .filter(({ status, caught }) => status === 'success' || caught)
    .filter((step) => step.parent_step_key === null && !inItems.has(step.node_id))
    .sort((a, b) => Date.parse(a.finished_at ?? '') - Date.parse(b.finished_at ?? ''));
  if (finished.length === 0) return input;
  const state: JsonObject = { ...(valueOf(input) as JsonObject) };
  for (const step of finished) {
    const key = step.output_key ?? step.node_id;
    if (step.caught) {
      const { error: message, error_kind: kind, tries: attempts } = step;
      put(state, step.node_id, { error: { message, kind: kind ?? 'node', attempts } });
      continue;
    }
    if (step.kind !== 'human_gate') {
      put(state, key, step.output);
      continue;
    }
    const { approved, input: given = {} } = valueOf(step.output) as {
      approved: boolean;
      input?: JsonObject;
    };
    for (const name of Object.keys(given)) put(state, name, given[name]!);
    put(state, key, { approved });
  }
  return state;
}

const statusRow = z.object({ status: z.enum(runStatuses) });

/** The status of a run; undefined when there is no such run. */
export async function readRunStatus(
  db: Db,
  run: { workspaceId: string; runId: string },
): Promise<RunStatus | undefined> {
  const row = await db.maybeOne(statement(statusRow)`
    SELECT status FROM runs WHERE id = ${run.runId} AND workspace_id = ${run.workspaceId}
  `);
  return row?.status;
}

const approvalRow = z.object({
  id: z.string(),
  at: z.number(),
  run_id: z.string(),
  workflow_id: z.string(),
  workflow_name: z.string(),
  gate: storedJson<GateRow>(),
});

/** Gates that can be decided now, oldest first. Throws AppError `invalid` for a cursor of another list. */
export async function listApprovals(
  db: Db,
  filter: { workspaceId: string; limit: number; cursor?: string; assigneeId?: string },
): Promise<{ approvals: Approval[]; next_cursor: string | null }> {
  const after =
    filter.cursor === undefined ? sql.fragment`true` : pageAfter(decodeCursor(filter.cursor));
  const assigned =
    filter.assigneeId === undefined
      ? sql.fragment`true`
      : sql.fragment`g.assignee_id = ${filter.assigneeId}`;
  const rows = await db.any(sql.type(approvalRow)`
    SELECT g.run_id || '/' || g.step_key AS id, ${toMicroseconds(sql.fragment`g.opened_at`)} AS at, g.run_id,
           r.workflow_id, w.name AS workflow_name, ${gateRecord} AS gate
    FROM gates g JOIN runs r ON r.id = g.run_id JOIN workflows w ON w.id = r.workflow_id
    WHERE g.status = 'open' AND r.status IN ('running', 'paused') AND r.rehearsal IS NULL AND r.workspace_id = ${filter.workspaceId} AND ${after} AND ${assigned}
    ORDER BY g.opened_at, g.run_id || '/' || g.step_key LIMIT ${filter.limit + 1}
  `);
  const page = pageOf(rows, filter.limit);
  const gates = await toGates(
    db,
    filter.workspaceId,
    page.rows.map(({ gate }) => gate),
  );
  return {
    approvals: page.rows.map(({ id: _id, at: _at, gate: _gate, ...row }, at) => ({
      ...row,
      ...gates[at]!,
    })),
    next_cursor: page.next_cursor,
  };
}

const pageAfter = (end: { at: number; id: string }) =>
  sql.fragment`(g.opened_at, g.run_id || '/' || g.step_key) > (${toTimestamp(end.at)}, ${end.id})`;

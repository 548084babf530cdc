import { z } from 'zod';
import {
  type BacktestEffect,
  backtestEffects,
  type BacktestFinding,
  MAX_FINDINGS,
} from '#shared/contract/policies/backtest.ts';
import { asTool, CODE } from '#shared/tools.ts';
import { cursorsOf } from '#shared/db/cursor.ts';
import { type Db, type FragmentSqlToken, sql, statement, type Tx } from '#shared/db/pool.ts';
import { startsRun } from '#shared/db/steps/step-records.ts';

/** Which recorded steps a backtest judges, newest runs first, and their total. */
export interface StepWindow {
  workspaceId: string;
  workflowId: string | undefined;
  /** ISO 8601: includes runs created from then until the creation of the backtest. */
  since: string;
  until: string;
}

/**
 * The position after a step or, with a null `step_key`, after all steps of a run. Times are in the format of Postgres.
 */
export const stepPosition = z.object({
  at: z.string(),
  run_id: z.string(),
  step_key: z.string().nullable(),
});
export type StepPosition = z.infer<typeof stepPosition>;

/**
 * The maximum number of steps in a page, and of runs that it searches for them. They are literals, for the plan of the
 * statement.
 */
const STEPS = sql.fragment`1000`;
const RUNS = sql.fragment`1000`;
const MAX_RUNS = 1_000;
/** The maximum size of a page, in bytes as stored (compressed). */
const MAX_BYTES = 1_000_000;
/** Runs whose steps are counted in one statement. */
const COUNTED_RUNS = 10_000;

/**
 * Steps of the run `r` that policies have judged. Not included are skipped and computed steps, steps that had no
 * recorded result in a rehearsal, and copies of other runs' steps. The step of an agent with tools has no input of its
 * own.
 */
const judged = sql.fragment`
  s.run_id = r.id AND s.kind IN ('agent', 'tool', 'code', 'workflow') AND s.input IS NOT NULL AND s.attempts > 0
  AND s.reused_from IS NULL AND s.status <> 'unrecorded'`;

const runsOf = ({ workspaceId, workflowId, since, until }: StepWindow): FragmentSqlToken =>
  sql.fragment`
    r.workspace_id = ${workspaceId} AND r.created_at >= ${since}::timestamptz AND r.created_at <= ${until}::timestamptz
    ${workflowId === undefined ? sql.fragment`` : sql.fragment`AND r.workflow_id = ${workflowId}`}`;

const countRow = z.object({ runs: z.number(), steps: z.number(), at: z.string(), id: z.string() });

/** How many steps a backtest will judge. `onBatch` is called between statements, and throws to stop. */
export async function countSteps(db: Db, window: StepWindow, onBatch: () => void): Promise<number> {
  let total = 0;
  let from = { at: '-infinity', id: '' };
  for (;;) {
    const row = await db.maybeOne(statement(countRow)`
      SELECT count(*) AS runs, sum(n)::bigint AS steps, max(created_at)::text AS at,
             (array_agg(id ORDER BY created_at DESC, id DESC))[1] AS id
      FROM (
        SELECT r.id, r.created_at, (SELECT count(*) FROM steps s WHERE ${judged}) AS n
        FROM runs r
        WHERE ${runsOf(window)} AND (r.created_at, r.id) > (${from.at}::timestamptz, ${from.id})
        ORDER BY r.created_at, r.id LIMIT ${COUNTED_RUNS}::int
      ) AS counted HAVING count(*) > 0
    `);
    if (row === null) return total;
    total += row.steps;
    if (row.runs < COUNTED_RUNS) return total;
    from = row;
    onBatch();
  }
}

const stepRow = z.object({
  at: z.string(),
  run_id: z.string(),
  step_key: z.string(),
  /** A RecordedStep as JSON text, which only a thread parses. */
  step: z.string(),
});

export interface StepPage {
  steps: readonly { step: string }[];
  /** Where the next page begins; null after the last page. */
  next: StepPosition | null;
}

/** The steps after a position, up to a maximum number and size. */
export async function readStepPage(
  db: Db,
  window: StepWindow,
  after: StepPosition | null,
): Promise<StepPage> {
  const from = after ?? { at: 'infinity', run_id: '', step_key: '' };
  const runs = sql.fragment`
    SELECT r.id, r.created_at, r.workflow_id, r.workflow_version, r.graph IS NOT NULL AS of_draft
    FROM runs r
    WHERE ${runsOf(window)} AND (r.created_at, r.id) <= (${from.at}::timestamptz, ${from.run_id})
      AND (${from.step_key}::text IS NOT NULL OR r.id <> ${from.run_id})
    ORDER BY r.created_at DESC, r.id DESC LIMIT ${RUNS}`;
  const rows = await db.any(statement(stepRow)`
    WITH page AS MATERIALIZED (
      SELECT r.id AS run_id, r.created_at, r.workflow_id, r.workflow_version, r.of_draft, s.*
      FROM (${runs}) AS r CROSS JOIN LATERAL (
        SELECT s.step_key, s.node_id, s.kind, s.call_tool, s.call_index, s.turn, s.status, s.model, s.input, s.output,
               s.policy, s.error, s.error_kind,
               pg_column_size(s.input) + CASE WHEN s.call_index IS NULL THEN 0 ELSE coalesce(pg_column_size(s.output), 0) END AS bytes
        FROM steps s
        WHERE ${judged} AND s.step_key > CASE WHEN r.id = ${from.run_id} THEN ${from.step_key} ELSE '' END
        ORDER BY s.step_key LIMIT ${STEPS}
      ) AS s
      ORDER BY r.created_at DESC, r.id DESC, s.step_key LIMIT ${STEPS}
    ), kept AS (
      SELECT *, sum(bytes) OVER (ORDER BY created_at DESC, run_id DESC, step_key ROWS UNBOUNDED PRECEDING) - bytes AS before
      FROM page
    ), graphs AS (
      SELECT DISTINCT NULL::text AS run_id, workflow_id, workflow_version FROM page WHERE NOT of_draft
      UNION ALL SELECT DISTINCT run_id, workflow_id, workflow_version FROM page WHERE of_draft
    ), nodes AS MATERIALIZED (
      SELECT g.run_id, g.workflow_id, g.workflow_version, n ->> 'id' AS node_id, n ->> 'tool_name' AS tool,
             n ->> 'workflow' AS workflow
      FROM graphs g JOIN workflow_versions v ON v.workflow_id = g.workflow_id AND v.version = g.workflow_version
      LEFT JOIN runs r ON r.id = g.run_id
      CROSS JOIN LATERAL json_array_elements(coalesce(r.graph, v.graph) -> 'nodes') AS n
      WHERE n ->> 'kind' IN ('tool', 'workflow')
    )
    SELECT s.created_at::text AS at, s.run_id, s.step_key, json_build_object(
      'run_id', s.run_id, 'workflow_id', s.workflow_id, 'step_key', s.step_key, 'node_id', s.node_id,
      'kind', CASE s.kind WHEN 'agent' THEN 'agent' ELSE 'tool' END,
      'tool', coalesce(s.call_tool, ${asTool('')}::text || n.workflow, n.tool, CASE s.kind WHEN 'code' THEN ${CODE}::text END),
      'aliases', CASE WHEN ${startsRun} THEN (${aliases(window)}) ELSE '[]'::json END,
      'part', s.turn IS NOT NULL, 'model', s.model, 'input', s.input,
      'result', CASE WHEN s.call_index IS NOT NULL AND s.status = 'success' THEN s.output END,
      'verdicts', s.policy, 'refusal', CASE WHEN s.error_kind = 'policy' THEN s.error END)::text AS step
    FROM kept s LEFT JOIN nodes n ON s.call_tool IS NULL AND n.node_id = s.node_id AND n.workflow_id = s.workflow_id
      AND n.workflow_version = s.workflow_version AND n.run_id IS NOT DISTINCT FROM CASE WHEN s.of_draft THEN s.run_id END
    WHERE s.before < ${MAX_BYTES}::int
    ORDER BY s.created_at DESC, s.run_id DESC, s.step_key
  `);
  return { steps: rows, next: await nextPosition(db, rows, runs) };
}

/** The tool names of the workflow that the step `s` has run, or would run. */
const aliases = ({ workspaceId }: StepWindow): FragmentSqlToken => sql.fragment`
  SELECT coalesce(json_agg(a), '[]') FROM (
    SELECT w.id, w.name FROM workflows w
    WHERE w.workspace_id = ${workspaceId} AND (
      w.id = (SELECT c.workflow_id FROM runs c WHERE c.parent_run_id = s.run_id AND c.parent_step_key = s.step_key)
      OR (w.id = coalesce(n.workflow, substr(s.call_tool, ${asTool('').length + 1}::int))
          OR w.name = coalesce(n.workflow, substr(s.call_tool, ${asTool('').length + 1}::int))))
    LIMIT 2
  ) AS w CROSS JOIN LATERAL (VALUES (${asTool('')}::text || w.id), (${asTool('')}::text || w.name)) AS v (a)`;

const runRow = z.object({ at: z.string(), id: z.string(), runs: z.number() });

/** A page without steps is not the end: more runs may follow those that it searched. */
async function nextPosition(
  db: Db,
  rows: readonly z.infer<typeof stepRow>[],
  runs: FragmentSqlToken,
): Promise<StepPosition | null> {
  const last = rows.at(-1);
  if (last !== undefined) {
    return { at: last.at, run_id: last.run_id, step_key: last.step_key };
  }
  const end = await db.maybeOne(statement(runRow)`
    SELECT created_at::text AS at, id, count(*) OVER () AS runs FROM (${runs}) AS r
    ORDER BY created_at, id LIMIT 1
  `);
  if (end === null || end.runs < MAX_RUNS) return null;
  return { at: end.at, run_id: end.id, step_key: null };
}

/** Stores the findings of a page, up to the limit. */
export async function insertFindings(
  tx: Tx,
  jobId: string,
  { before, findings }: { before: number; findings: readonly BacktestFinding[] },
): Promise<void> {
  const kept = findings.slice(0, Math.max(0, MAX_FINDINGS - before));
  if (kept.length === 0) return;
  await tx.query(statement(z.object({}))`
    INSERT INTO backtest_findings (job_id, n, effect, run_id, step_key, node_id, before, after, reason)
    SELECT ${jobId}, ${before}::int + n, f.effect, f.run_id, f.step_key, f.node_id, f.before, f.after, f.reason
    FROM ROWS FROM (json_to_recordset(${JSON.stringify(kept)}::json)
           AS (effect text, run_id text, step_key text, node_id text, before text, after text, reason text))
         WITH ORDINALITY AS f (effect, run_id, step_key, node_id, before, after, reason, n)
  `);
}

const outcome = z.enum(['allowed', 'redacted', 'blocked']);
const findingRow = z.object({
  n: z.number(),
  effect: z.enum(backtestEffects),
  run_id: z.string(),
  step_key: z.string(),
  node_id: z.string(),
  before: outcome,
  after: outcome,
  reason: z.string(),
});

const cursors = cursorsOf(z.int().min(1).max(MAX_FINDINGS));

/** A page of the findings of a backtest, in their order. Throws AppError `invalid` for a cursor of another list. */
export async function listFindings(
  db: Db,
  jobId: string,
  page: { limit: number; cursor?: string | undefined; effect?: BacktestEffect | undefined },
): Promise<{ steps: BacktestFinding[]; next_cursor: string | null }> {
  const after = page.cursor === undefined ? 0 : cursors.decode(page.cursor);
  const effect = page.effect ?? null;
  const rows = await db.any(statement(findingRow)`
    SELECT n, effect, run_id, step_key, node_id, before, after, reason FROM backtest_findings
    WHERE job_id = ${jobId} AND n > ${after}::int AND (${effect}::text IS NULL OR effect = ${effect}::text)
    ORDER BY n LIMIT ${page.limit + 1}::int
  `);
  const shown = rows.slice(0, page.limit);
  const last = shown.at(-1);
  const more = rows.length > page.limit && last !== undefined;
  return {
    steps: shown.map(({ n: _n, ...finding }) => finding),
    next_cursor: more ? cursors.encode(last.n) : null,
  };
}

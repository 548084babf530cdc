import { z } from 'zod';
import type { EvaluationCheck, Evals } from '#shared/contract/graph.ts';
import type { StreamFrame } from '#shared/contract/stream.ts';
import type { SettleCall } from '#shared/execution.ts';
import { evaluateChecks, parseChecked, type StoredRun } from '#shared/graph/checks.ts';
import { SMALL_WORK } from '#shared/values/work-budget.ts';
import { toDollars } from '#shared/money.ts';
import { pendingWriteCtes, controlRows, movedFrames } from './pending-writes.ts';
import { endEventCtes, runEventColumns } from '#shared/db/deliveries/run-events.ts';
import { parentNotice } from '#shared/db/children/notices.ts';
import { closeHolds } from '#shared/db/money/holds.ts';
import { jsonOrNull, type Pool, sql } from '#shared/db/pool.ts';
import { activeMsNow, closeOpenSteps, stopClocks, acceptsWorkOf } from './row.ts';

/** `duration_ms` consists of the clocks `active_ms` and `phase_us`. */
const settling = z.object({
  status: z.string(),
  wanted: z.boolean(),
  cost_micros: z.number(),
  /** Of the runs below it. */
  below_micros: z.number(),
  active_ms: z.number(),
  workspace_id: z.string(),
  phase_us: z.number().nullable(),
  duration_ms: z.number(),
  /** When there are checks. */
  state: z.string().nullable(),
  checks: z.array(z.unknown()).transform((checks) => checks as EvaluationCheck[]),
});

export interface Settlement {
  status: string;
  costMicros: number;
  /** False when the run had ended before, or another execution continues it. */
  settled: boolean;
  /** This call has settled it, and the run that started it must be notified. */
  hasParent?: boolean;
}

/** Scores a run, in a thread if necessary. */
export type EvaluateChecks = (
  workspaceId: string,
  checks: EvaluationCheck[],
  run: StoredRun,
) => Promise<Evals>;

/** Evaluates cheap checks; expensive ones fail. */
const evaluateOnTheSpot: EvaluateChecks = (_workspaceId, checks, run) =>
  Promise.resolve(evaluateChecks(checks, parseChecked(run), { budget: { work: SMALL_WORK } }));

/**
 * Ends a run with success: status, duration, output, state, evaluation checks, `run_completed` and `run_evaluated`. A
 * repeated call finds `success` and changes nothing; a cancelled run does not change.
 */
export async function settleRun(
  db: Pool,
  call: SettleCall & { execution: string },
  evaluate: EvaluateChecks = evaluateOnTheSpot,
): Promise<Settlement> {
  // Most workflows have no checks and need no read first.
  const unchecked = await writeSettlement(db, call, undefined);
  if (unchecked.settled) return unchecked;
  for (let round = 0; round < MAX_SCORINGS; round += 1) {
    const run = await db.maybeOne(sql.prepared('settle_read_run', settling)`
      SELECT r.workspace_id, r.status, (${acceptsWorkOf(call.execution)}) AS wanted, r.cost_micros, r.active_ms,
             (SELECT coalesce(sum(b.cost_micros), 0)::bigint FROM runs b
              WHERE b.id = ANY (ARRAY(SELECT a.id FROM runs_below(r.id) AS a))) AS below_micros,
             ${phaseMicroseconds} AS phase_us, ${activeMsNow} AS duration_ms, w.checks,
             CASE WHEN w.checks::text <> '[]' THEN (${wholeState(call)})::text END AS state
      FROM (SELECT * FROM runs WHERE id = ${call.run_id}) AS r
      JOIN LATERAL (SELECT checks FROM workflows WHERE id = r.workflow_id) AS w ON true
    `);
    if (run === null) return { status: 'gone', costMicros: 0, settled: false };
    if (!run.wanted) return { status: run.status, costMicros: run.cost_micros, settled: false };
    const scored = run.checks.length === 0 ? null : await score(call, run, evaluate);
    const settlement = await writeSettlement(db, call, scored);
    if (settlement.settled) return settlement;
  }
  throw new Error(`run ${call.run_id} changed each time after its checks had been scored`);
}

/** A run rarely changes while it is settled, only when a lost attempt books its cost. */
const MAX_SCORINGS = 5;

/** The check results, and the scored run. The run is settled only if it is unchanged. */
interface Scored {
  evals: Evals;
  run: z.infer<typeof settling>;
}

async function score(
  { output, ...call }: SettleCall,
  run: z.infer<typeof settling>,
  evaluate: EvaluateChecks,
): Promise<Scored> {
  const { cost_micros, below_micros, duration_ms, workspace_id, checks } = run;
  const state = run.state ?? call.state;
  const cost_usd = toDollars(cost_micros + below_micros);
  return {
    evals: await evaluate(workspace_id, checks, { state, output, cost_usd, duration_ms }),
    run,
  };
}

/** The state, with the outputs of steps that it names. They are taken as they are: nothing is parsed. */
const wholeState = ({ run_id, state, outputs }: SettleCall) => sql.fragment`
  CASE WHEN ${jsonOrNull(outputs ?? null)} IS NULL THEN ${state}::json ELSE (
    SELECT json_object_agg(entry.key, coalesce(s.output, entry.value) ORDER BY entry.ordinality)
    FROM json_each(${state}::json) WITH ORDINALITY AS entry
    LEFT JOIN json_each_text(${jsonOrNull(outputs ?? null)}) AS named ON named.key = entry.key
    LEFT JOIN steps s ON s.run_id = ${run_id} AND s.step_key = named.value) END`;

const phaseMicroseconds = sql.fragment`(extract(epoch FROM phase_since) * 1000000)::bigint`;

/** The run's cost and clocks when it was scored. */
const stillAsScored = ({ run }: Scored) => sql.fragment`
  status = ${run.status} AND cost_micros = ${run.cost_micros}::bigint AND active_ms = ${run.active_ms}::bigint
  AND ${phaseMicroseconds} IS NOT DISTINCT FROM ${run.phase_us}::bigint`;

const settled = z.object({
  status: z.string().nullable(),
  cost_micros: z.number().nullable(),
  has_parent: z.boolean(),
});

/**
 * Settles the run in one statement, decided by its status and execution after the row is locked. `scored` undefined:
 * does nothing when the workflow has checks; null: it had none when it was read.
 */
async function writeSettlement(
  db: Pool,
  call: SettleCall & { execution: string },
  scored: Scored | null | undefined,
): Promise<Settlement> {
  const evals = scored?.evals;
  const { control, frames } = controlRows(call);
  const last: StreamFrame[] = [{ run_id: call.run_id, type: 'run_completed' }];
  if (evals != null) {
    const { passed, total } = evals;
    last.push({ run_id: call.run_id, type: 'run_evaluated', passed, total });
  }
  const count = frames.length + last.length;
  const lastRows = last.map((frame, index) => ({ pos: frames.length + index + 1, frame }));
  const row = await db.one(sql.prepared(
    scored == null ? 'settle_run' : 'settle_scored_run',
    settled,
  )`
    WITH run AS (
      UPDATE runs SET ${stopClocks(scored == null ? undefined : sql.fragment`${scored.run.duration_ms}::bigint`)}, status = 'success', started_at = coalesce(started_at, clock_timestamp()),
        output = ${call.output}::json, state = ${wholeState(call)},
        evals = ${evals == null ? null : JSON.stringify(evals)}::json, frame_seq = frame_seq + ${count}::int,
        temporal_run_id = coalesce(nullif(${call.execution}, ''), temporal_run_id), error = NULL, failure = NULL
      WHERE id = ${call.run_id} AND ${acceptsWorkOf(call.execution)}
        AND ${scored == null ? sql.fragment`true` : stillAsScored(scored)}
        AND (${scored !== undefined}
             OR EXISTS (SELECT FROM workflows w WHERE w.id = runs.workflow_id AND w.checks::text = '[]'))
      RETURNING resumed_count AS epoch, frame_seq - ${count}::int AS base, ${runEventColumns}
    ), ${closeHolds()}, ${endEventCtes('run.completed')}, ${parentNotice()}, used AS (
      INSERT INTO usage_deltas (workspace_id, day, succeeded, evaluated, checks_passed, checks_total)
      SELECT workspace_id, created_at::date, 1, ${evals == null ? 0 : 1}::int, ${evals?.passed ?? 0}::int, ${evals?.total ?? 0}::int
      FROM run WHERE rehearsal IS NULL
    ), ${pendingWriteCtes(call, control)}, ${closeOpenSteps(control.map((step) => step.step_key))}, frame_rows AS (
      INSERT INTO run_frames (run_id, seq, frame) ${movedFrames(frames, sql.fragment`control`)}
      UNION ALL
      SELECT run.id, run.base + f.pos, f.frame
      FROM run, json_to_recordset(${JSON.stringify(lastRows)}::json) AS f (pos bigint, frame json)
      ORDER BY 2
    )
    SELECT (SELECT 'success' FROM run) AS status, (SELECT cost_micros FROM run) AS cost_micros,
           EXISTS (SELECT FROM run WHERE parent_run_id IS NOT NULL) AS has_parent
  `);
  if (row.status === null) return { status: 'ended', costMicros: 0, settled: false };
  const { has_parent: hasParent, cost_micros: cost } = row;
  return { status: 'success', costMicros: cost ?? 0, settled: true, hasParent };
}

const endedRun = z.object({
  workspace_id: z.string(),
  workflow_id: z.string(),
  workflow_version: z.number(),
  workflow_name: z.string(),
  status: z.string(),
  trigger: z.string(),
  failure_kind: z.string().nullable(),
  cost_micros: z.number(),
  resumed_count: z.number(),
  /** In ms since 1970, with fractions. Since the last resume: when its first step was queued. */
  began_ms: z.number(),
  finished_ms: z.number(),
});

/** A run since its start or its last resume; undefined when it is open or gone. */
export async function readEndedRun(
  db: Pool,
  runId: string,
): Promise<z.infer<typeof endedRun> | undefined> {
  const row = await db.maybeOne(sql.prepared('read_ended_run', endedRun)`
    SELECT r.workspace_id, r.workflow_id, r.workflow_version, w.name AS workflow_name, r.status, r.trigger,
           r.failure ->> 'kind' AS failure_kind, r.cost_micros, r.resumed_count,
           (extract(epoch FROM CASE WHEN r.resumed_count = 0 THEN r.created_at
              ELSE least(first.queued_at, r.finished_at) END) * 1000)::float8 AS began_ms,
           (extract(epoch FROM r.finished_at) * 1000)::float8 AS finished_ms
    FROM runs r
    JOIN workflows w ON w.id = r.workflow_id
    LEFT JOIN LATERAL (
      SELECT min(queued_at) AS queued_at FROM steps s WHERE s.run_id = r.id AND s.epoch = r.resumed_count
    ) AS first ON true
    WHERE r.id = ${runId} AND r.status IN ('success', 'failed')
  `);
  return row ?? undefined;
}

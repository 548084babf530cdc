import { z } from 'zod';
import type { EvaluationCheck, Evals } from '../contract/graph.ts';
import type { StreamFrame } from '../contract/stream.ts';
import type { SettleCall } from '../execution.ts';
import { type CheckedRun, evaluateChecks } from '../graph/checks.ts';
import { SMALL_WORK } from '../graph/work-budget.ts';
import { toDollars } from '../money.ts';
import { carriageCtes, controlRows, movedFrames } from './carriage.ts';
import { closeHolds } from './holds.ts';
import { type Pool, sql } from './pool.ts';
import { closeOpenSteps, phaseMs, stopClocks, wantsWorkOf } from './run-row.ts';

const settling = z.object({
  status: z.string(),
  wanted: z.boolean(),
  cost_micros: z.number(),
  active_ms: z.number(),
  workspace_id: z.string(),
  checks: z.array(z.unknown()).transform((checks) => checks as EvaluationCheck[]),
});

export interface Settlement {
  status: string;
  costMicros: number;
  /** False when the run had ended before, or is carried on by another execution. */
  settled: boolean;
}

/** Scores a run, wherever there is time for it. */
export type EvaluateChecks = (
  workspaceId: string,
  checks: EvaluationCheck[],
  run: CheckedRun,
) => Promise<Evals>;

/** Only what takes no time worth mentioning; checks beyond that have failed. */
const evaluateOnTheSpot: EvaluateChecks = (_workspaceId, checks, run) =>
  Promise.resolve(evaluateChecks(checks, run, { budget: { work: SMALL_WORK } }));

/**
 * Ends a run well: status, duration, output, state, evaluation checks, `run_completed` and `run_evaluated`. A
 * repeated call finds `success` and changes nothing; a run that was cancelled meanwhile stays as it is.
 */
export async function settleRun(
  db: Pool,
  call: SettleCall & { execution: string },
  evaluate: EvaluateChecks = evaluateOnTheSpot,
): Promise<Settlement> {
  // Most workflows have no checks: nothing has to be read first.
  const unchecked = await writeSettlement(db, call, undefined);
  if (unchecked.settled) return unchecked;
  const run = await db.maybeOne(sql.prepared('settle_read_run', settling)`
    SELECT r.workspace_id, r.status, (${wantsWorkOf(call.execution)}) AS wanted, r.cost_micros,
           r.active_ms + CASE WHEN r.status = 'running' THEN ${phaseMs} ELSE 0 END AS active_ms, w.checks
    FROM (SELECT * FROM runs WHERE id = ${call.run_id}) AS r
    JOIN LATERAL (SELECT checks FROM workflows WHERE id = r.workflow_id) AS w ON true
  `);
  if (run === null) return { status: 'gone', costMicros: 0, settled: false };
  if (!run.wanted) return { status: run.status, costMicros: run.cost_micros, settled: false };
  const evals =
    run.checks.length === 0
      ? null
      : await evaluate(run.workspace_id, run.checks, {
          state: call.state,
          output: call.output,
          cost_usd: toDollars(run.cost_micros),
          duration_ms: run.active_ms,
        });
  return writeSettlement(db, call, evals);
}

const settled = z.object({ status: z.string().nullable(), cost_micros: z.number().nullable() });

/**
 * One statement, decided by the run's status and execution as they are when it gets the row. With `evals`
 * undefined it does nothing when the workflow has checks.
 */
async function writeSettlement(
  db: Pool,
  call: SettleCall & { execution: string },
  evals: Evals | null | undefined,
): Promise<Settlement> {
  const { control, frames } = controlRows(call);
  const last: StreamFrame[] = [{ run_id: call.run_id, type: 'run_completed' }];
  if (evals != null) {
    const { passed, total } = evals;
    last.push({ run_id: call.run_id, type: 'run_evaluated', passed, total });
  }
  const count = frames.length + last.length;
  const lastRows = last.map((frame, index) => ({ pos: frames.length + index + 1, frame }));
  const row = await db.one(sql.prepared('settle_run', settled)`
    WITH run AS (
      UPDATE runs SET ${stopClocks}, status = 'success', started_at = coalesce(started_at, clock_timestamp()),
        output = ${JSON.stringify(call.output)}::json, state = ${JSON.stringify(call.state)}::json,
        evals = ${evals == null ? null : JSON.stringify(evals)}::json, frame_seq = frame_seq + ${count}::int,
        temporal_run_id = coalesce(nullif(${call.execution}, ''), temporal_run_id), error = NULL, failure = NULL
      WHERE id = ${call.run_id} AND ${wantsWorkOf(call.execution)}
        AND (${evals !== undefined}
             OR EXISTS (SELECT FROM workflows w WHERE w.id = runs.workflow_id AND w.checks::text = '[]'))
      RETURNING id, resumed_count AS epoch, frame_seq - ${count}::int AS base, cost_micros,
        workspace_id, created_at
    ), ${closeHolds()}, used AS (
      INSERT INTO usage_deltas (workspace_id, day, succeeded, evaluated, checks_passed, checks_total)
      SELECT workspace_id, created_at::date, 1, ${evals == null ? 0 : 1}::int, ${evals?.passed ?? 0}::int, ${evals?.total ?? 0}::int
      FROM run
    ), ${carriageCtes(call, control)}, ${closeOpenSteps(control.map((step) => step.step_key))}, frame_rows AS (
      INSERT INTO run_frames (run_id, seq, frame) ${movedFrames(frames, sql.fragment`control`)}
      UNION ALL
      SELECT run.id, run.base + f.pos, f.frame
      FROM run, json_to_recordset(${JSON.stringify(lastRows)}::json) AS f (pos bigint, frame json)
      ORDER BY 2
    )
    SELECT (SELECT 'success' FROM run) AS status, (SELECT cost_micros FROM run) AS cost_micros
  `);
  if (row.status === null) return { status: 'ended', costMicros: 0, settled: false };
  return { status: 'success', costMicros: row.cost_micros ?? 0, settled: true };
}

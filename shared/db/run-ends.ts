import { z } from 'zod';
import type { Actor } from '../actor.ts';
import type { EvaluationCheck, Evals } from '../contract/graph.ts';
import type { StreamFrame } from '../contract/stream.ts';
import { conflict, notFound } from '../errors.ts';
import type { FailedStep, FailureCall, FailureVerdict, SettleCall } from '../execution.ts';
import { evaluateChecks } from '../graph/checks.ts';
import type { Json } from '../json.ts';
import { toDollars } from '../money.ts';
import { recordAudit } from './audit.ts';
import { enqueue, type OutboxRow } from './outbox.ts';
import { type Db, type Pool, sql, type Tx } from './pool.ts';
import { appendFrames, writeCarriage } from './run-log.ts';
import {
  controlRows,
  controlUpsert,
  observedUpdate,
  phaseMs,
  positioned,
  wantsWorkOf,
} from './steps.ts';

/**
 * How runs end. Each end is one compare-and-set on the status, with its terminal frame in the same transaction, so
 * a run has exactly one terminal event whoever races.
 */

export interface RunFailure {
  kind: 'node' | 'budget' | 'cancelled' | 'rejected' | 'crash';
  node_id?: string;
}

/** The clocks of a run that stops being active or waiting now. */
const stopClocks = sql.fragment`
  active_ms = active_ms + CASE WHEN status = 'running' THEN ${phaseMs} ELSE 0 END,
  waiting_ms = waiting_ms + CASE WHEN status = 'paused' THEN ${phaseMs} ELSE 0 END,
  phase_since = NULL, finished_at = clock_timestamp(), updated_at = now(), lost_since = NULL`;

const settling = z.object({
  status: z.string(),
  wanted: z.boolean(),
  cost_micros: z.number(),
  active_ms: z.number(),
  checks: z.array(z.unknown()).transform((checks) => checks as EvaluationCheck[]),
});

export interface Settlement {
  status: string;
  costMicros: number;
  /** False when the run had ended before, or is carried on by another execution. */
  settled: boolean;
}

/**
 * Ends a run well: status, duration, output, state, evaluation checks, `run_completed` and `run_evaluated`. A
 * repeated call finds `success` and changes nothing; a run that was cancelled meanwhile stays as it is.
 */
export async function settleRun(
  db: Pool,
  call: SettleCall & { execution: string },
): Promise<Settlement> {
  // Most workflows have no checks: nothing has to be read first.
  const unchecked = await writeSettlement(db, call, undefined);
  if (unchecked.settled) return unchecked;
  const run = await db.maybeOne(sql.prepared('settle_read_run', settling)`
    SELECT r.status, (${wantsWorkOf(call.execution)}) AS wanted, r.cost_micros,
           r.active_ms + CASE WHEN r.status = 'running' THEN ${phaseMs} ELSE 0 END AS active_ms, w.checks
    FROM (SELECT * FROM runs WHERE id = ${call.run_id}) AS r
    JOIN LATERAL (SELECT checks FROM workflows WHERE id = r.workflow_id) AS w ON true
  `);
  if (run === null) return { status: 'gone', costMicros: 0, settled: false };
  if (!run.wanted) return { status: run.status, costMicros: run.cost_micros, settled: false };
  const evals =
    run.checks.length === 0
      ? null
      : evaluateChecks(run.checks, {
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
      RETURNING id, resumed_count AS epoch, frame_seq - ${count}::int AS base, cost_micros
    ), observed AS (${observedUpdate(call.observed)}
    ), control AS (${controlUpsert(control)}
    ), frame_rows AS (
      INSERT INTO run_frames (run_id, seq, frame)
      SELECT run.id, run.base + f.pos, f.frame
      FROM run, json_to_recordset(${JSON.stringify(positioned(frames))}::json)
             AS f (pos bigint, step_key text, edge text, frame json)
      JOIN control AS moved USING (step_key)
      WHERE (f.edge = 'opened' AND moved.opened) OR (f.edge = 'closed' AND moved.closed)
      UNION ALL
      SELECT run.id, run.base + f.pos, f.frame
      FROM run, json_to_recordset(${JSON.stringify(lastRows)}::json) AS f (pos bigint, frame json)
    )
    SELECT (SELECT 'success' FROM run) AS status, (SELECT cost_micros FROM run) AS cost_micros
  `);
  if (row.status === null) return { status: 'ended', costMicros: 0, settled: false };
  return { status: 'success', costMicros: row.cost_micros ?? 0, settled: true };
}

const failing = z.object({
  status: z.string(),
  wanted: z.boolean(),
  superseded: z.boolean(),
  failures_reported: z.number(),
  failures_granted: z.number(),
});

/**
 * The execution's n-th failure. Asks the ledger first: steps that are finished there did not fail. A resume that
 * was granted for failure n lets the execution try again; otherwise the run ends `failed`. Safe to repeat: a call
 * that finds its own earlier verdict gives it again.
 */
export async function reportFailure(
  db: Pool,
  call: FailureCall & { execution: string },
): Promise<FailureVerdict & { settled: boolean }> {
  return db.transaction(async (tx) => {
    const run = await tx.maybeOne(sql.prepared('failure_lock_run', failing)`
      SELECT status, (${wantsWorkOf(call.execution)}) AS wanted, (${call.execution} = ANY(superseded)) AS superseded,
             failures_reported, failures_granted
      FROM runs WHERE id = ${call.run_id} FOR UPDATE
    `);
    if (run === null) return { verdict: 'fail', error: 'Run not found', settled: false };
    if (run.superseded) {
      return { verdict: 'fail', error: 'Carried on by another execution', settled: false };
    }
    const outputs = await finishedOutputs(tx, call);
    const goesOn =
      Object.keys(outputs).length > 0 || (run.wanted && run.failures_granted >= call.n);
    if (goesOn) {
      // What failed is about to be tried again: only the rest is written.
      const control = call.control.filter((step) => step.status !== 'failed');
      await writeCarriage(tx, { ...call, control });
      return Object.keys(outputs).length > 0
        ? { verdict: 'finished', outputs, settled: false }
        : { verdict: 'resume', settled: false };
    }
    const error = errorOf(call.failed[0]);
    await tx.query(sql.prepared('failure_report', z.object({}))`
      UPDATE runs SET failures_reported = greatest(failures_reported, ${call.n}::int) WHERE id = ${call.run_id}
    `);
    if (!run.wanted) return { verdict: 'fail', error, settled: false };
    await writeCarriage(tx, call);
    await writeFailedSteps(tx, call);
    const failure: RunFailure = {
      kind: call.failed[0]?.reason ?? 'node',
      node_id: call.failed[0]?.node_id,
    };
    await endFailed(tx, { runId: call.run_id, error, failure, execution: call.execution });
    return { verdict: 'fail', error, settled: true };
  });
}

export function errorOf(failed: FailedStep | undefined): string {
  if (failed === undefined) return 'Failed';
  if (failed.reason === 'node') return `Node '${failed.label}' failed: ${failed.error}`;
  return failed.error;
}

async function finishedOutputs(tx: Tx, call: FailureCall): Promise<Record<string, Json>> {
  const rows = await tx.any(sql.prepared(
    'failure_finished_steps',
    z.object({ step_key: z.string(), output: z.json().nullable() }),
  )`
    SELECT step_key, output FROM steps
    WHERE run_id = ${call.run_id} AND status = 'success'
      AND step_key = ANY(${sql.array(
        call.failed.filter((step) => step.reason === 'node').map((step) => step.step_key),
        'text',
      )})
  `);
  return Object.fromEntries(rows.map((row) => [row.step_key, row.output]));
}

/** A timed-out attempt, or a template that did not render, could not write its own end: it is written here. */
async function writeFailedSteps(tx: Tx, call: FailureCall): Promise<void> {
  const rows = await tx.any(sql.prepared(
    'failure_write_steps',
    z.object({ step_key: z.string(), opened: z.boolean() }),
  )`
    WITH run AS (SELECT id, resumed_count AS epoch, frame_seq FROM runs WHERE id = ${call.run_id})
    INSERT INTO steps AS s (run_id, step_key, node_id, label, kind, iteration, ordinal, status, epoch, finished_at, error)
    SELECT run.id, f.step_key, f.node_id, f.label, f.kind, f.iteration, run.frame_seq + 1, 'failed', run.epoch, clock_timestamp(), f.error
    FROM run, json_to_recordset(${JSON.stringify(call.failed)}::json)
           AS f (step_key text, node_id text, label text, kind text, iteration int[], error text)
    ON CONFLICT (run_id, step_key) DO UPDATE SET
      status = 'failed', error = excluded.error, finished_at = excluded.finished_at, claim = NULL, claim_until = NULL,
      errors = greatest(s.errors, 1), epoch = excluded.epoch
    WHERE s.status IN ('running', 'paused') OR (s.status IN ('failed', 'cancelled') AND s.epoch < excluded.epoch)
    RETURNING new.step_key, coalesce(old.epoch < new.epoch, true) AS opened
  `);
  const written = new Map(rows.map((row) => [row.step_key, row.opened]));
  const frames: StreamFrame[] = [];
  for (const step of call.failed) {
    const opened = written.get(step.step_key);
    if (opened === undefined) continue;
    const of = { run_id: call.run_id, node_id: step.node_id };
    if (opened) frames.push({ ...of, type: 'step_started', label: step.label });
    frames.push({ ...of, type: 'step_failed', error: step.error });
  }
  await appendFrames(tx, call.run_id, frames);
}

/** Moves a locked, open run to `failed` with its one `run_failed` frame. */
async function endFailed(
  tx: Tx,
  end: { runId: string; error: string; failure: RunFailure; execution?: string },
): Promise<void> {
  await tx.query(sql.prepared('end_failed', z.object({}))`
    UPDATE runs SET ${stopClocks}, status = 'failed', error = ${end.error},
      failure = ${JSON.stringify(end.failure)}::json,
      temporal_run_id = coalesce(${end.execution ?? null}, temporal_run_id)
    WHERE id = ${end.runId}
  `);
  // Steps without a live attempt (timers, tries that wait) end with their run; the others say so themselves.
  await tx.query(sql.prepared('end_failed_steps', z.object({}))`
    UPDATE steps SET status = 'cancelled', finished_at = clock_timestamp()
    WHERE run_id = ${end.runId} AND status = 'running'
      AND (claim_until IS NULL OR claim_until < clock_timestamp())
  `);
  await appendFrames(tx, end.runId, [{ run_id: end.runId, type: 'run_failed', error: end.error }]);
}

/**
 * Ends an open run from outside its execution's normal course (cancelled in the Temporal UI, workflow code
 * failed, execution lost). `execution` undefined: whichever. Returns false when the run had ended already.
 */
export async function abandonRun(
  db: Pool,
  end: {
    runId: string;
    kind: 'cancelled' | 'crash';
    error: string;
    execution?: string;
    /** The history cannot be replayed: a resume starts from the ledger. */
    fromLedger?: boolean;
  },
): Promise<boolean> {
  return db.transaction(async (tx) => {
    const open = await lockOpen(tx, end.runId, end.execution);
    if (!open) return false;
    await endFailed(tx, { ...end, failure: { kind: end.kind } });
    if (end.fromLedger === true) {
      await tx.query(sql.prepared('abandon_from_ledger', z.object({}))`
        UPDATE runs SET from_ledger = true WHERE id = ${end.runId}
      `);
    }
    return true;
  });
}

async function lockOpen(tx: Tx, runId: string, execution: string | undefined): Promise<boolean> {
  const row = await tx.maybeOne(sql.prepared('lock_open_run', z.object({ id: z.string() }))`
    SELECT id FROM runs
    WHERE id = ${runId} AND status IN ('pending', 'running', 'paused')
      AND NOT (${execution ?? ''} = ANY(superseded)) FOR UPDATE
  `);
  return row !== null;
}

/** A person's cancel: the run is over at once; its execution is told after the commit. */
export async function cancelRun(
  db: Pool,
  cancel: { actor: Actor; runId: string },
): Promise<OutboxRow> {
  const { actor, runId } = cancel;
  return db.transaction(async (tx) => {
    const run = await tx.maybeOne(sql.prepared('cancel_lock_run', z.object({ status: z.string() }))`
      SELECT status FROM runs WHERE id = ${runId} AND workspace_id = ${actor.workspaceId} FOR UPDATE
    `);
    if (run === null) throw notFound('Run');
    if (run.status === 'success' || run.status === 'failed') {
      throw conflict(
        `Run is ${run.status}: only a pending, running or paused run can be cancelled`,
      );
    }
    const error = `Cancelled by ${actor.name ?? 'an API key'}`;
    await endFailed(tx, { runId, error, failure: { kind: 'cancelled' } });
    await recordAudit(tx, actor, { action: 'cancel', targetType: 'run', targetId: runId });
    return enqueue(tx, { runId, kind: 'cancel' });
  });
}

/** Promises to end the executions of a workflow's live runs, before the workflow and its runs are deleted. */
export async function cancelLiveRuns(tx: Db, workflowId: string): Promise<readonly OutboxRow[]> {
  const live = await tx.any(sql.prepared('live_runs_of', z.object({ id: z.string() }))`
    SELECT id FROM runs WHERE workflow_id = ${workflowId} AND status IN ('pending', 'running', 'paused')
    ORDER BY id FOR UPDATE
  `);
  const rows: OutboxRow[] = [];
  for (const run of live) rows.push(await enqueue(tx, { runId: run.id, kind: 'cancel' }));
  return rows;
}

/**
 * Asks that a failed run goes on: the run is `running` again, the failure it reported is granted, and the reset of
 * its execution is promised. Two resumes at once: the second finds the run no longer failed, 409.
 */
export async function resumeRun(
  db: Pool,
  resume: { actor: Actor; runId: string },
): Promise<OutboxRow> {
  const { actor, runId } = resume;
  return db.transaction(async (tx) => {
    const run = await tx.maybeOne(sql.prepared('resume_lock_run', z.object({ status: z.string() }))`
      SELECT status FROM runs WHERE id = ${runId} AND workspace_id = ${actor.workspaceId} FOR UPDATE
    `);
    if (run === null) throw notFound('Run');
    if (run.status !== 'failed') {
      throw conflict(`Run is ${run.status}: only a failed run can be resumed`);
    }
    await tx.query(sql.prepared('resume_run', z.object({}))`
      UPDATE runs SET status = 'running', error = NULL, failure = NULL, finished_at = NULL, evals = NULL,
        failures_granted = failures_reported, resumed_count = resumed_count + 1, phase_since = clock_timestamp(),
        updated_at = now(), lost_since = NULL,
        superseded = CASE WHEN temporal_run_id IS NULL THEN superseded ELSE array_append(superseded, temporal_run_id) END
      WHERE id = ${runId}
    `);
    await recordAudit(tx, actor, { action: 'resume', targetType: 'run', targetId: runId });
    return enqueue(tx, { runId, kind: 'resume' });
  });
}

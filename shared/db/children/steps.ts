import { z } from 'zod';
import type { PendingWrites } from '../../execution.ts';
import type { ChildPlace } from '../../graph/child-step.ts';
import type { JsonObject } from '../../json.ts';
import { type Pool, sql, type Tx } from '../pool.ts';
import { appendFrames, writePending } from '../runs/log.ts';
import { startedFrame } from '../runs/pending-writes.ts';
import { acceptsWorkOf, phaseMs } from '../runs/row.ts';
import type { StreamFrame } from '../../contract/stream.ts';

/**
 * The steps that wait for a run of their own, their child. Each change locks the run of the step first, and checks that
 * it still accepts the work of this execution. Nothing counts twice: an attempt has a number, which the step keeps when
 * it begins and when it fails.
 */

/** A step as the execution of its run knows it. */
export interface ChildStep extends ChildPlace {
  /** The Temporal run id of the execution. */
  execution: string;
}

const lockedRun = z.object({
  epoch: z.number(),
  base: z.number(),
  workspace_id: z.string(),
  created_by: z.string().nullable(),
  created_by_name: z.string().nullable(),
});
type LockedRun = z.infer<typeof lockedRun>;

/** Locks the run for a step that continues it, also from a pause. Null when it does not accept the work. */
const lockRun = (tx: Tx, { run_id, execution }: ChildStep): Promise<LockedRun | null> =>
  tx.maybeOne(sql.prepared('children_lock_run', lockedRun)`
    UPDATE runs SET
      waiting_ms = waiting_ms + CASE WHEN status = 'paused' THEN ${phaseMs} ELSE 0 END,
      phase_since = CASE WHEN status = 'running' AND phase_since IS NOT NULL
                         THEN phase_since ELSE clock_timestamp() END,
      started_at = coalesce(started_at, clock_timestamp()),
      status = 'running', updated_at = now(), lost_since = NULL, temporal_run_id = ${execution}
    WHERE id = ${run_id} AND ${acceptsWorkOf(execution)}
    RETURNING resumed_count AS epoch, frame_seq AS base, workspace_id, created_by, created_by_name
  `);

const opened = z.object({ opened: z.boolean() });

/**
 * Begins an attempt at the step: the step is `running`. Repeating it changes nothing. Returns who started the run;
 * undefined when the run does not accept the work.
 */
export async function beginChildStep(
  db: Pool,
  step: ChildStep & PendingWrites & { input: JsonObject },
): Promise<{ workspaceId: string; id: string | null; name: string | null } | undefined> {
  return db.transaction(async (tx) => {
    const run = await lockRun(tx, step);
    if (run === null) return undefined;
    await writePending(tx, step);
    const row = await tx.maybeOne(sql.prepared('children_begin_step', opened)`
      INSERT INTO steps AS s (run_id, step_key, node_id, label, kind, iteration, output_key, ordinal, status, epoch,
                              input, attempts)
      VALUES (${step.run_id}, ${step.step_key}, ${step.node_id}, ${step.label}, 'workflow',
              ${sql.array(step.iteration, 'int4')}, ${step.output_key}, ${run.base}::bigint + 1, 'running',
              ${run.epoch}, ${JSON.stringify(step.input)}::json, ${step.attempt})
      ON CONFLICT (run_id, step_key) DO UPDATE SET
        status = 'running', epoch = excluded.epoch, output = NULL,
        -- A child that is resumed keeps its input.
        input = CASE WHEN EXISTS (SELECT FROM runs c WHERE c.parent_run_id = s.run_id AND c.parent_step_key = s.step_key)
                     THEN s.input ELSE excluded.input END, error = NULL,
        error_kind = NULL, finished_at = NULL, attempts = excluded.attempts,
        attempt_started_at = excluded.started_at, attempt_ended_at = NULL,
        forgiven = CASE WHEN s.epoch < excluded.epoch THEN s.errors ELSE s.forgiven END,
        started_at = CASE WHEN s.epoch < excluded.epoch THEN excluded.started_at ELSE s.started_at END
      WHERE s.status NOT IN ('success', 'skipped') AND NOT s.caught AND s.attempts < excluded.attempts
      RETURNING coalesce(old.epoch < new.epoch, true) AS opened
    `);
    if (row?.opened === true) await started(tx, step);
    return { workspaceId: run.workspace_id, id: run.created_by, name: run.created_by_name };
  });
}

const started = (tx: Tx, { run_id, node_id, label }: ChildPlace): Promise<void> =>
  appendFrames(tx, run_id, [startedFrame(run_id, node_id, label)]);

const childRow = z.object({
  id: z.string(),
  status: z.string(),
  /** The attempt that started it, or resumed it last. */
  attempt: z.number(),
  workflow_name: z.string(),
  output: z.unknown().transform((value) => value as JsonObject | null),
  error: z.string().nullable(),
  failure: z.object({ kind: z.string(), with_parent: z.boolean().optional() }).nullable(),
});
export type Child = z.infer<typeof childRow>;

/** The run that a step started; null when there is none, or it was deleted. */
export const readChild = (
  db: Pick<Tx, 'maybeOne'>,
  { run_id, step_key }: Pick<ChildPlace, 'run_id' | 'step_key'>,
): Promise<Child | null> =>
  db.maybeOne(sql.prepared('children_read', childRow)`
    SELECT c.id, c.status, c.parent_attempt AS attempt, w.name AS workflow_name, c.output, c.error, c.failure
    FROM runs c JOIN workflows w ON w.id = c.workflow_id
    WHERE c.parent_run_id = ${run_id} AND c.parent_step_key = ${step_key}
  `);

/** Why an attempt at the step has failed. */
export interface ChildError {
  message: string;
  /** Another attempt may succeed. */
  retryable: boolean;
  maxAttempts: number;
}

const errorRow = z.object({ status: z.string(), error: z.string(), tries: z.number() });

/**
 * Counts the error of an attempt; the step fails when no attempts are left. Repeating it changes nothing. Returns
 * whether the step has failed, and how many attempts have failed since the last resume; undefined when the run does not
 * accept the work.
 */
export async function failChildStep(
  db: Pool,
  step: ChildStep,
  { message, retryable, maxAttempts }: ChildError,
): Promise<{ final: boolean; error: string; tries: number } | undefined> {
  return db.transaction(async (tx) => {
    if ((await lockRun(tx, step)) === null) return undefined;
    const final = sql.fragment`(${!retryable} OR errors - forgiven + 1 >= ${maxAttempts}::int)`;
    const counted = await tx.maybeOne(sql.prepared('children_fail_step', errorRow)`
      UPDATE steps SET
        errors = errors + 1, generation = ${step.attempt}, error = ${message}, error_kind = 'child',
        status = CASE WHEN ${final} THEN 'failed' ELSE 'running' END,
        finished_at = CASE WHEN ${final} THEN clock_timestamp() END, attempt_ended_at = clock_timestamp()
      WHERE run_id = ${step.run_id} AND step_key = ${step.step_key} AND generation < ${step.attempt}
        AND status IN ('running', 'cancelled')
      RETURNING status, error, errors - forgiven AS tries
    `);
    const row = counted ?? (await readError(tx, step));
    if (counted?.status === 'failed') {
      await end(tx, step, { type: 'step_failed', error: message });
    }
    return { final: row.status !== 'running', error: row.error, tries: Math.max(1, row.tries) };
  });
}

const readError = (tx: Tx, { run_id, step_key }: ChildPlace) =>
  tx.one(sql.prepared('children_read_error', errorRow)`
    SELECT status, coalesce(error, 'failed') AS error, errors - forgiven AS tries
    FROM steps WHERE run_id = ${run_id} AND step_key = ${step_key}
  `);

/** Ends the step with the output of its child. Returns false when the run does not accept the work. */
export async function finishChildStep(
  db: Pool,
  step: ChildStep,
  output: JsonObject,
): Promise<boolean> {
  return db.transaction(async (tx) => {
    if ((await lockRun(tx, step)) === null) return false;
    const { rowCount } = await tx.query(sql.prepared('children_finish_step', z.object({}))`
      UPDATE steps SET status = 'success', output = ${JSON.stringify(output)}::json, error = NULL, error_kind = NULL,
        finished_at = clock_timestamp(), attempt_ended_at = NULL
      WHERE run_id = ${step.run_id} AND step_key = ${step.step_key} AND status IN ('running', 'cancelled')
    `);
    if (rowCount > 0) await end(tx, step, { type: 'step_completed' });
    return true;
  });
}

type StepEnd = { type: 'step_completed' } | { type: 'step_failed'; error: string };

const end = (tx: Tx, { run_id, node_id }: ChildPlace, frame: StepEnd): Promise<void> =>
  appendFrames(tx, run_id, [{ run_id, node_id, ...frame } satisfies StreamFrame]);

/**
 * Opens the step again whose run was cancelled and resumed while its child is open. Returns false when the run does not
 * accept the work.
 */
export async function keepChildStep(db: Pool, step: ChildStep): Promise<boolean> {
  return db.transaction(async (tx) => {
    const run = await tx.maybeOne(sql.prepared(
      'children_keep_run',
      z.object({ epoch: z.number() }),
    )`
      SELECT resumed_count AS epoch FROM runs
      WHERE id = ${step.run_id} AND ${acceptsWorkOf(step.execution)} FOR UPDATE
    `);
    if (run === null) return false;
    const { rowCount } = await tx.query(sql.prepared('children_keep_step', z.object({}))`
      UPDATE steps SET status = 'running', epoch = ${run.epoch}, finished_at = NULL
      WHERE run_id = ${step.run_id} AND step_key = ${step.step_key} AND status = 'cancelled'
    `);
    if (rowCount > 0) await started(tx, step);
    return true;
  });
}

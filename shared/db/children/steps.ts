import { z } from 'zod';
import type { PolicyVerdict } from '#shared/contract/policies/governance.ts';
import type { FailureDetails } from '#shared/execution.ts';
import type { ChildPlace } from '#shared/graph/children/child-call.ts';
import type { PendingWrites } from '#shared/graph/call-parts.ts';
import type { ErrorKind } from '#shared/graph/caught-error.ts';
import type { Json, JsonObject } from '#shared/json.ts';
import { waitsToContinue } from '#shared/db/limits/slots.ts';
import { recordStepVerdict } from '#shared/db/policies/governance.ts';
import { type Pool, sql, statement, type Tx } from '#shared/db/pool.ts';
import { appendFrames, writePending } from '#shared/db/runs/log.ts';
import { startedFrame } from '#shared/db/runs/pending-writes.ts';
import { acceptsWorkOf, nextPhase } from '#shared/db/runs/row.ts';
import { agentColumns, agentValues, readOutcome } from '#shared/db/steps/steps.ts';
import { framedKey } from '#shared/db/steps/done.ts';
import type { StreamFrame } from '#shared/contract/runs/stream.ts';
import { storedJson } from '#shared/db/stored-json.ts';

/**
 * Steps that wait for a child: a run of their own. Each change first locks the run of the step, and checks that it
 * still accepts the work of this execution. Every attempt has a number, which the step stores when the attempt begins
 * and when it fails, so nothing is counted twice.
 */

/** A step as its run's execution knows it. */
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
  revision: z.number(),
});
type LockedRun = z.infer<typeof lockedRun>;

/** Locks the run for a step that continues it, even from a pause. Null when it does not accept the work. */
const lockRun = (tx: Tx, { run_id, execution }: ChildStep): Promise<LockedRun | null> =>
  tx.maybeOne(statement(lockedRun)`
    UPDATE runs SET
      ${nextPhase(false)},
      started_at = coalesce(started_at, clock_timestamp()),
      status = 'running', updated_at = now(), lost_since = NULL, temporal_run_id = ${execution}
    WHERE id = ${run_id} AND ${acceptsWorkOf(execution)}
    RETURNING resumed_count AS epoch, frame_seq AS base, workspace_id, created_by, created_by_name,
              policy_revision_now(workspace_id) AS revision
  `);

const opened = z.object({ opened: z.boolean() });

/** An attempt at the step, judged by this revision of the policies. */
export interface ChildBeginning extends ChildStep, PendingWrites {
  /** The input as it is stored. */
  input: JsonObject;
  judged: { revision: number; verdicts: readonly PolicyVerdict[] };
}

export type ChildBegun =
  /** `again`: this attempt had already begun. The actor is the one who started the run. */
  | { outcome: 'begun'; again: boolean; actor: StartedBy }
  /** The step has already finished, with this output. */
  | { outcome: 'finished'; output: Json }
  /** This attempt has already failed permanently: an execution that was reset may repeat it. */
  | ({ outcome: 'failed'; error: string } & FailureDetails)
  /** The policies have changed since the attempt was judged. Nothing was written. */
  | { outcome: 'stale' }
  /** The run does not accept the work. */
  | { outcome: 'gone' };

interface StartedBy {
  workspaceId: string;
  id: string | null;
  name: string | null;
}

/** Begins an attempt and sets the step to `running`. Repeating the call changes nothing. */
export async function beginChildStep(db: Pool, step: ChildBeginning): Promise<ChildBegun> {
  return db.transaction(async (tx) => {
    const run = await lockRun(tx, step);
    if (run === null) return { outcome: 'gone' };
    if (run.revision !== step.judged.revision) return { outcome: 'stale' };
    await writePending(tx, step);
    const row = await insertStep(tx, step, run);
    const kept = row === null ? await readOutcome(tx, step.run_id, step.step_key) : null;
    if (kept?.status === 'success') return { outcome: 'finished', output: kept.output };
    if (kept?.status === 'failed') {
      const { error, kind, attempts } = kept;
      return { outcome: 'failed', error: error ?? 'failed', kind, attempts };
    }
    if (row?.opened === true) await started(tx, step);
    const actor = { workspaceId: run.workspace_id, id: run.created_by, name: run.created_by_name };
    return { outcome: 'begun', again: row === null, actor };
  });
}

/** The verdicts of earlier attempts since the last resume, and the new ones. */
const verdictsKept = sql.fragment`
  CASE WHEN s.epoch < excluded.epoch OR s.policy::text = '[]' THEN excluded.policy
       ELSE (s.policy::jsonb || (
         SELECT coalesce(jsonb_agg(v), '[]') FROM jsonb_array_elements(excluded.policy::jsonb) AS v
         WHERE NOT s.policy::jsonb @> jsonb_build_array(v)))::json END`;

/** Null when this attempt has already begun. A call that was waiting for approval has no attempt yet. */
const insertStep = (tx: Tx, step: ChildBeginning, run: LockedRun) =>
  tx.maybeOne(statement(opened)`
    WITH claimed AS (
      INSERT INTO steps AS s (run_id, step_key, node_id, label, kind, iteration, output_key, ordinal, status, epoch,
                              input, attempts, policy, ${agentColumns})
      VALUES (${step.run_id}, ${step.step_key}, ${step.node_id}, ${step.label},
              ${step.agent === undefined ? 'workflow' : 'tool'}, ${sql.array(step.iteration, 'int4')},
              ${step.output_key}, ${run.base}::bigint + 1, 'running', ${run.epoch},
              ${JSON.stringify(step.input)}::json, ${step.attempt}, ${JSON.stringify(step.judged.verdicts)}::json,
              ${agentValues(step.agent)})
      ON CONFLICT (run_id, step_key) DO UPDATE SET
        status = 'running', epoch = excluded.epoch, output = NULL,
        -- A child that is resumed keeps its input.
        input = CASE WHEN EXISTS (SELECT FROM runs c WHERE c.parent_run_id = s.run_id AND c.parent_step_key = s.step_key)
                     THEN s.input ELSE excluded.input END, error = NULL,
        error_kind = NULL, finished_at = NULL, attempts = excluded.attempts, child_paused = false, policy = ${verdictsKept},
        attempt_started_at = excluded.started_at, attempt_ended_at = NULL,
        forgiven = CASE WHEN s.epoch < excluded.epoch THEN s.errors ELSE s.forgiven END,
        started_at = CASE WHEN s.epoch < excluded.epoch OR s.attempts = 0 THEN excluded.started_at ELSE s.started_at END
      WHERE s.status NOT IN ('success', 'skipped') AND NOT s.caught
        AND (s.attempts < excluded.attempts
             -- A cap or a budget had stopped this attempt, which is no error of it, and the run was resumed since.
             OR s.attempts = excluded.attempts AND s.generation < excluded.attempts AND s.status = 'failed'
                AND s.epoch < excluded.epoch)
      RETURNING coalesce(old.epoch < new.epoch OR old.attempts = 0, true) AS opened, old.policy::jsonb AS known
    )
    SELECT opened, record_verdicts_1(${step.run_id}, ${step.node_id}, ${JSON.stringify(step.judged.verdicts)},
                                     CASE WHEN opened THEN '[]' ELSE known END)
    FROM claimed
  `);

const started = (tx: Tx, step: ChildPlace): Promise<void> =>
  appendFrames(tx, step.run_id, [
    startedFrame(step.run_id, step.node_id, step.label, keyInFrames(step)),
  ]);

const keyInFrames = ({ agent, step_key: stepKey }: ChildPlace) => framedKey({ agent, stepKey });

const childRow = z.object({
  id: z.string(),
  status: z.string(),
  /** The attempt that started it or last resumed it. */
  attempt: z.number(),
  workflow_name: z.string(),
  output: storedJson<JsonObject | null>(),
  error: z.string().nullable(),
  failure: z.object({ kind: z.string(), with_parent: z.boolean().optional() }).nullable(),
  /** Whether it is a rehearsal. */
  rehearses: z.boolean(),
  /** Whether the run that started it counts for a limit of runs in flight. */
  parent_limited: z.boolean(),
});
export type Child = z.infer<typeof childRow>;

/** The run that a step started; null if there is none, or it was deleted. */
export const readChild = (
  db: Pick<Tx, 'maybeOne'>,
  { run_id, step_key }: Pick<ChildPlace, 'run_id' | 'step_key'>,
): Promise<Child | null> =>
  db.maybeOne(statement(childRow)`
    SELECT c.id, c.status, c.parent_attempt AS attempt, w.name AS workflow_name, c.output, c.error, c.failure,
           c.rehearsal IS NOT NULL AS rehearses, p.limits ->> 'key' IS NOT NULL AS parent_limited
    FROM runs c JOIN workflows w ON w.id = c.workflow_id JOIN runs p ON p.id = c.parent_run_id
    WHERE c.parent_run_id = ${run_id} AND c.parent_step_key = ${step_key}
  `);

/** Why an attempt at the step failed. */
export interface ChildError {
  message: string;
  kind: ErrorKind;
  /** Whether another attempt may succeed. */
  retryable: boolean;
  maxAttempts: number;
}

const errorRow = z.object({ status: z.string(), error: z.string(), tries: z.number() });

/**
 * Counts the error of an attempt; the step fails when no attempts are left. Repeating the call changes nothing. Returns
 * whether the step has failed, and how many attempts have failed since the last resume; undefined when the run does not
 * accept the work.
 */
export async function failChildStep(
  db: Pool,
  step: ChildStep,
  { message, kind, retryable, maxAttempts }: ChildError,
): Promise<{ final: boolean; error: string; tries: number } | undefined> {
  return db.transaction(async (tx) => {
    if ((await lockRun(tx, step)) === null) return undefined;
    const final = sql.fragment`(${!retryable} OR errors - forgiven + 1 >= ${maxAttempts}::int)`;
    const counted = await tx.maybeOne(statement(errorRow)`
      UPDATE steps SET
        errors = errors + 1, generation = ${step.attempt}, error = ${message}, error_kind = ${kind},
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
  tx.one(statement(errorRow)`
    SELECT status, coalesce(error, 'failed') AS error, errors - forgiven AS tries
    FROM steps WHERE run_id = ${run_id} AND step_key = ${step_key}
  `);

/** The output of a child as its step stores it, and what the policies redacted in it. */
export interface ChildResult {
  output: Json;
  verdicts: readonly PolicyVerdict[];
}

/** Ends the step with the output of its child. Returns false when the run does not accept the work. */
export async function finishChildStep(
  db: Pool,
  step: ChildStep,
  { output, verdicts }: ChildResult,
): Promise<boolean> {
  return db.transaction(async (tx) => {
    if ((await lockRun(tx, step)) === null) return false;
    for (const verdict of verdicts) {
      const at = { runId: step.run_id, stepKey: step.step_key, claim: null };
      await recordStepVerdict(tx, at, verdict);
    }
    const { rowCount } = await tx.query(statement(z.object({}))`
      UPDATE steps SET status = 'success', output = ${JSON.stringify(output)}::json, error = NULL, error_kind = NULL,
        finished_at = clock_timestamp(), attempt_ended_at = NULL
      WHERE run_id = ${step.run_id} AND step_key = ${step.step_key} AND status IN ('running', 'cancelled')
    `);
    if (rowCount > 0) await end(tx, step, { type: 'step_completed' });
    return true;
  });
}

/** Whether the run has to wait for a slot before the end of its child continues it. */
export const childWaits = (db: Pool, { run_id, execution }: ChildStep): Promise<boolean> =>
  db.transaction(async (tx) => {
    const run = await tx.maybeOne(statement(z.object({ id: z.string() }))`
      SELECT id FROM runs WHERE id = ${run_id} AND ${acceptsWorkOf(execution)} FOR UPDATE
    `);
    return run !== null && waitsToContinue(tx, run_id);
  });

type StepEnd = { type: 'step_completed' } | { type: 'step_failed'; error: string };
type ChildMove = { type: 'child_paused' | 'child_continued'; child_run_id: string };

const end = (tx: Tx, step: ChildPlace, ended: StepEnd): Promise<void> =>
  appendFrames(tx, step.run_id, [frameOf(step, ended)]);

function frameOf(step: ChildPlace, rest: StepEnd | ChildMove): StreamFrame {
  const { run_id, node_id } = step;
  return { run_id, node_id, ...rest, step_key: keyInFrames(step) };
}

const keptRow = z.object({ reopened: z.boolean(), moved: z.boolean() });

/**
 * Reopens the step when its run was cancelled and resumed while the child is open, and emits a frame when the child has
 * paused or continued since the last frame. Returns false when the run does not accept the work.
 */
export async function keepChildStep(
  db: Pool,
  step: ChildStep,
  { id, status }: Pick<Child, 'id' | 'status'>,
): Promise<boolean> {
  const paused = status === 'paused';
  return db.transaction(async (tx) => {
    const run = await tx.maybeOne(statement(z.object({ epoch: z.number() }))`
      SELECT resumed_count AS epoch FROM runs
      WHERE id = ${step.run_id} AND ${acceptsWorkOf(step.execution)} FOR UPDATE
    `);
    if (run === null) return false;
    const row = await tx.maybeOne(statement(keptRow)`
      UPDATE steps SET status = 'running', epoch = ${run.epoch}, finished_at = NULL, child_paused = ${paused}
      WHERE run_id = ${step.run_id} AND step_key = ${step.step_key} AND status IN ('running', 'cancelled')
        AND (status = 'cancelled' OR child_paused <> ${paused})
      RETURNING old.status = 'cancelled' AS reopened, old.child_paused <> new.child_paused AS moved
    `);
    if (row?.reopened === true) await started(tx, step);
    if (row?.moved === true) {
      const type = paused ? 'child_paused' : 'child_continued';
      await appendFrames(tx, step.run_id, [frameOf(step, { type, child_run_id: id })]);
    }
    return true;
  });
}

import { z } from 'zod';
import type { PolicyVerdict } from '../../contract/governance.ts';
import type { NodeKind } from '../../contract/graph.ts';
import type { StreamFrame } from '../../contract/stream.ts';
import type { PendingWrites } from '../../execution.ts';
import type { Json } from '../../json.ts';
import {
  pendingWriteCtes,
  controlRows,
  moment,
  movedFrames,
  startedFrame,
} from './pending-writes.ts';
import { verdictEvents } from '../audit/governance.ts';
import { type Db, type Pool, sql, syncCommit } from '../pool.ts';
import {
  admitStep,
  type Blocked,
  blockedRun,
  chargeHolds,
  limitedRun,
  recountHolds,
} from '../money/holds.ts';
import { type StepCost, type Stop, UNKNOWN_COST } from '../../spending.ts';
import { phaseMs, acceptsWorkOf } from './row.ts';

/**
 * The step ledger. The key of a step is `(run_id, step_key)`, never Temporal's run or attempt, so a second attempt
 * finds what the first one stored. Each change is one statement that locks the run's row first: it checks that the run
 * still accepts this execution's work, assigns frame numbers in commit order, and books the cost.
 */

export interface StepBeginning {
  pendingWrites: PendingWrites;
  /** The Temporal run id of the execution. */
  execution: string;
  /** Identifies this attempt. Only the attempt that holds the claim can finish the step. */
  claim: string;
  claimMs: number;
  stepKey: string;
  nodeId: string;
  label: string;
  kind: NodeKind;
  iteration: readonly number[];
  outputKey: string | null;
  input: Json;
  queuedAt: Date;
  /** What the attempt may cost. Evaluated only where a cap or a budget applies. Absent: unknown. */
  cost?: StepCost | (() => Promise<StepCost>);
  /** The policy verdicts for the step, and the policy revision they are based on. */
  judged: { workspaceId: string; revision: number; verdicts: readonly PolicyVerdict[] };
}

/** The step's verdicts: those of earlier attempts since the last resume, and the new ones. */
const verdictsKept = sql.fragment`
  CASE WHEN s.epoch < excluded.epoch OR s.policy::text = '[]' THEN excluded.policy
       ELSE (s.policy::jsonb || (
         SELECT coalesce(jsonb_agg(v), '[]') FROM jsonb_array_elements(excluded.policy::jsonb) AS v
         WHERE NOT s.policy::jsonb @> jsonb_build_array(v)))::json END`;

const controlAndClaimed = sql.fragment`(
  SELECT step_key, opened, closed FROM control UNION ALL SELECT step_key, opened, closed FROM claimed)`;

const begun = z.object({
  active: z.boolean(),
  claimed: z.boolean(),
  errors: z.number().nullable(),
  attempts: z.number().nullable(),
  generation: z.number().nullable(),
  budgeted: z.boolean().nullable(),
  counted: z.boolean().nullable(),
  blocked: z
    .object({
      budget_id: z.string().nullable(),
      name: z.string().nullable(),
      committed: z.number(),
      limit_micros: z.number(),
    })
    .nullable(),
  limited: z.boolean(),
  stale: z.boolean(),
});

export type BeginOutcome =
  | {
      outcome: 'begun';
      errors: number;
      attempts: number;
      generation: number;
      /** A cap or a budget applies: a model without a price must not be used. */
      budgeted: boolean;
      /** The cost it may have is reserved until the step ends. */
      counted: boolean;
    }
  /** The step has already finished, with this output. */
  | { outcome: 'finished'; output: Json }
  /** The step had no retries left. */
  | { outcome: 'failed'; error: string }
  /** The possible cost of steps in progress leaves no room under a cap or a budget. Retry soon. */
  | { outcome: 'waits' }
  /** The run's cap or a budget is exhausted. */
  | { outcome: 'blocked'; blocked: Blocked }
  /** The run has ended, was deleted, or belongs to another execution. */
  | { outcome: 'refused' }
  /** The workspace's policies changed after the step was judged. Nothing was written. */
  | { outcome: 'stale' };

/**
 * Claims a step for one attempt, writes the control steps that came with it, and emits `step_started` when the step is
 * new or is retried after a resume. A claim that a database crash loses is written again.
 *
 * With `done`, this one statement starts and completes the step. Only work without external effects can be done before
 * the claim.
 *
 * The step starts only if the workspace's policies are still those of the verdicts. The statement may wait for the
 * run's row, so a function with its own snapshot checks the revision again after the lock. The verdicts become
 * governance events here, and later attempts do not repeat them.
 *
 * Where a cap or a budget with an estimate applies, a step that may cost something starts in its own transaction, which
 * decides by locked rows. All other steps use this one statement.
 */
export async function beginStep(
  db: Pool,
  step: StepBeginning,
  done?: { output: Json },
): Promise<BeginOutcome> {
  const row = await claimStep(db, step, { done });
  const outcome = await outcomeOf(db, step, row);
  if (outcome !== undefined) return outcome;
  const cost = typeof step.cost === 'function' ? await step.cost() : (step.cost ?? UNKNOWN_COST);
  return db.transaction(async (tx) => {
    const { stepKey, pendingWrites } = step;
    const admittance = await admitStep(tx, { runId: pendingWrites.run_id, stepKey, cost });
    if (admittance === undefined) return { outcome: 'refused' };
    const claimed =
      admittance === 'begin' ? await claimStep(tx, step, { counted: cost }) : undefined;
    // Also when the step does not start: an attempt whose worker died may still be counted.
    await recountHolds(tx, pendingWrites.run_id);
    if (admittance !== 'begin') {
      // Another attempt may have ended the step before the run's row was locked. A finished step needs no room.
      const kept = await readOutcome(tx, pendingWrites.run_id, stepKey);
      if (kept?.status === 'success') return { outcome: 'finished', output: kept.output };
    }
    if (admittance === 'wait') return { outcome: 'waits' };
    if (admittance !== 'begin') return { outcome: 'blocked', blocked: blockedBy(admittance) };
    const begun = claimed === undefined ? undefined : await outcomeOf(tx, step, claimed);
    return begun ?? { outcome: 'refused' };
  });
}

const blockedBy = ({ budget, committed, limit }: Stop): Blocked => ({
  budgetId: budget?.budgetId ?? null,
  name: budget?.name ?? null,
  committedMicros: committed,
  limitMicros: limit,
});

/**
 * One statement. With `counted`, the limits are already checked and this cost is reserved. With `again` (the number of
 * an attempt whose claim a database crash lost), they are checked too, and the step is claimed only if the ledger has
 * no such attempt yet.
 */
async function claimStep(
  db: Db,
  step: StepBeginning,
  {
    done,
    counted,
    again,
  }: { done?: { output: Json } | undefined; counted?: StepCost; again?: number },
): Promise<z.infer<typeof begun>> {
  const { control, frames } = controlRows(step.pendingWrites);
  const ordinal = frames.length + 1;
  frames.push({
    step_key: step.stepKey,
    edge: 'opened',
    frame: startedFrame(step.pendingWrites.run_id, step.nodeId, step.label),
  });
  if (done !== undefined) {
    frames.push({
      step_key: step.stepKey,
      edge: 'closed',
      frame: { run_id: step.pendingWrites.run_id, type: 'step_completed', node_id: step.nodeId },
    });
  }
  const free = done !== undefined || (typeof step.cost === 'object' && step.cost.most === 0);
  const lost = again !== undefined;
  const decided = counted !== undefined || lost;
  const stops = decided
    ? sql.fragment``
    : sql.fragment`blocked AS MATERIALIZED (${blockedRun} LIMIT 1
    ), limited AS MATERIALIZED (${limitedRun} AND ${!free}
    ),`;
  const continues = decided
    ? sql.fragment`true`
    : sql.fragment`NOT EXISTS (SELECT FROM blocked) AND NOT EXISTS (SELECT FROM limited)`;
  const stopped = decided
    ? sql.fragment`NULL::json AS blocked, false AS limited`
    : sql.fragment`(SELECT row_to_json(blocked) FROM blocked) AS blocked, EXISTS (SELECT FROM limited) AS limited`;
  return db.one(sql.prepared(nameOfClaim(decided, lost), begun)`
    WITH known_policy AS (
      SELECT policy_revision AS revision FROM workspaces WHERE id = ${step.judged.workspaceId}
    ), held AS (
      UPDATE runs SET
        frame_seq = frame_seq + ${frames.length}::int,
        waiting_ms = waiting_ms + CASE WHEN status = 'paused' THEN ${phaseMs} ELSE 0 END,
        phase_since = CASE WHEN status = 'running' AND phase_since IS NOT NULL
                           THEN phase_since ELSE clock_timestamp() END,
        started_at = coalesce(started_at, clock_timestamp()),
        status = 'running', updated_at = now(), lost_since = NULL, temporal_run_id = ${step.execution}
      WHERE id = ${step.pendingWrites.run_id} AND workspace_id = ${step.judged.workspaceId}
        AND ${acceptsWorkOf(step.execution)}
        AND (${lost} OR (SELECT revision FROM known_policy) = ${step.judged.revision}::int)
      RETURNING id, resumed_count AS epoch, frame_seq - ${frames.length}::int AS base, workspace_id, workflow_id,
                workflow_version, cost_micros, cost_cap_micros, budget_exempt,
                ${lost} OR policy_revision_now(workspace_id) = ${step.judged.revision}::int AS current
    ), run AS (
      SELECT * FROM held WHERE current
    ), ${stops} ${pendingWriteCtes(step.pendingWrites, control)}, claimed AS (
      INSERT INTO steps AS s (run_id, step_key, node_id, label, kind, iteration, output_key, ordinal, status, epoch,
                              claim, claim_until, queued_at, input, output, started_at, finished_at, policy,
                              expected_micros, expected_unknown, attempts)
      SELECT run.id, ${step.stepKey}, ${step.nodeId}, ${step.label}, ${step.kind},
             ${sql.array(step.iteration, 'int4')}, ${step.outputKey}, run.base + ${ordinal}::int,
             ${done === undefined ? 'running' : 'success'}, run.epoch, ${done === undefined ? step.claim : null},
             ${done === undefined ? step.claimMs : null}::int * interval '1 ms' + clock_timestamp(),
             ${step.queuedAt.toISOString()}::timestamptz, ${json(step.input)}, ${json(done?.output)},
             moment.now, CASE WHEN ${done !== undefined} THEN moment.now END, ${json(step.judged.verdicts)},
             ${counted?.most ?? null}::bigint, ${counted?.most === null}, ${again ?? 1}::int
      FROM run, ${moment} WHERE ${continues}
      ON CONFLICT (run_id, step_key) DO UPDATE SET
        status = excluded.status, claim = excluded.claim, claim_until = excluded.claim_until, epoch = excluded.epoch,
        input = excluded.input, output = excluded.output,
        attempts = CASE WHEN ${lost} THEN excluded.attempts ELSE s.attempts + 1 END,
        attempt_started_at = excluded.started_at, attempt_ended_at = NULL,
        expected_micros = excluded.expected_micros, expected_unknown = excluded.expected_unknown,
        finished_at = excluded.finished_at, error = NULL, policy = ${verdictsKept},
        forgiven = CASE WHEN s.epoch < excluded.epoch THEN s.errors ELSE s.forgiven END,
        queued_at = CASE WHEN s.epoch < excluded.epoch THEN excluded.queued_at ELSE s.queued_at END,
        started_at = CASE WHEN s.epoch < excluded.epoch THEN excluded.started_at ELSE s.started_at END
      WHERE s.status NOT IN ('success', 'skipped')
        AND NOT (s.status IN ('failed', 'cancelled') AND s.epoch = excluded.epoch)
        AND NOT (${lost} AND s.attempts >= excluded.attempts)
      RETURNING new.step_key, new.errors, new.attempts, new.generation,
                (new.expected_unknown OR new.expected_micros IS NOT NULL) AS counted,
                coalesce(old.epoch < new.epoch, true) AS opened, new.status = 'success' AS closed,
                new.node_id, old.policy::jsonb AS judged
    ), verdict_events AS (${verdictEvents(step.judged.verdicts, sql.fragment`claimed`)}
    ), frame_rows AS (
      INSERT INTO run_frames (run_id, seq, frame) ${movedFrames(frames, controlAndClaimed)} ORDER BY 2
    )
    SELECT ${syncCommit(done !== undefined || lost)}, EXISTS (SELECT FROM run) AS active, EXISTS (SELECT FROM claimed) AS claimed,
           (SELECT counted FROM claimed), (SELECT errors FROM claimed), (SELECT attempts FROM claimed), (SELECT generation FROM claimed),
           ${stopped},
           (SELECT cost_cap_micros IS NOT NULL OR EXISTS (
              SELECT FROM budget_holds h WHERE h.run_id = run.id AND h.status = 'open') FROM run) AS budgeted,
           coalesce((SELECT revision FROM known_policy) <> ${step.judged.revision}::int, false)
             OR EXISTS (SELECT FROM held WHERE NOT current) AS stale
  `);
}

const nameOfClaim = (decided: boolean, lost: boolean): string => {
  if (lost) return 'begin_step_again';
  return decided ? 'begin_counted_step' : 'begin_step';
};

/** Undefined when limits must be checked first. */
async function outcomeOf(
  db: Db,
  step: StepBeginning,
  row: z.infer<typeof begun>,
): Promise<BeginOutcome | undefined> {
  if (row.claimed) {
    return {
      outcome: 'begun',
      errors: row.errors ?? 0,
      attempts: row.attempts ?? 1,
      generation: row.generation ?? 0,
      budgeted: row.budgeted ?? false,
      counted: row.counted ?? false,
    };
  }
  if (row.stale) return { outcome: 'stale' };
  // Also when the run is no longer active: a finished step stays finished.
  const kept = await readOutcome(db, step.pendingWrites.run_id, step.stepKey);
  if (kept?.status === 'success') return { outcome: 'finished', output: kept.output };
  // A step that failed before the last resume is retried when there is room for it.
  if (row.active && kept?.status === 'failed' && kept.current) {
    return { outcome: 'failed', error: kept.error ?? 'failed' };
  }
  if (row.blocked !== null) {
    const { budget_id, name, committed, limit_micros } = row.blocked;
    return {
      outcome: 'blocked',
      blocked: {
        budgetId: budget_id,
        name,
        committedMicros: committed,
        limitMicros: limit_micros,
      },
    };
  }
  return row.limited ? undefined : { outcome: 'refused' };
}

const outcomeRow = z.object({
  status: z.string(),
  output: z.json().nullable(),
  error: z.string().nullable(),
  /** True when there was no resume since. */
  current: z.boolean(),
});

async function readOutcome(db: Db, runId: string, stepKey: string) {
  return db.maybeOne(sql.prepared('read_step_outcome', outcomeRow)`
    SELECT s.status, s.output, s.error, s.epoch = r.resumed_count AS current
    FROM steps s JOIN runs r ON r.id = s.run_id
    WHERE s.run_id = ${runId} AND s.step_key = ${stepKey}
  `);
}

export interface StepSpending {
  costMicros: number;
  model?: string;
  usage?: { input_tokens: number; output_tokens: number };
  unpriced?: boolean;
}

export interface StepEnd {
  runId: string;
  stepKey: string;
  nodeId: string;
  claim: string;
  /** The attempt's possible cost was reserved when it started. */
  counted?: boolean;
  spending: StepSpending;
  /** The claim and number of the attempt, to write the claim again if it is lost. */
  beginning?: Beginning;
}

export interface Beginning {
  step: StepBeginning;
  attempt: number;
}

/** `booked`: the run exists, and the ledger has this attempt or a later one. */
const booked = { booked: z.boolean() };
const ended = z.object({ won: z.boolean(), ...booked });

/**
 * The commit of a claim does not wait for the disk, so a database crash can lose it while the attempt continues. An end
 * that does not find its attempt writes nothing. Then the claim is written again, and the end after it, unless another
 * attempt has taken over or the run no longer accepts it. The cost of a refused attempt is still booked.
 */
async function endWith<T extends { booked: boolean }>(
  db: Pool,
  end: StepEnd,
  write: (db: Db) => Promise<T>,
): Promise<T> {
  const row = await ending(db, end, write);
  const { beginning } = end;
  if (row.booked || beginning === undefined) return row;
  if (await beginAgain(db, beginning)) return ending(db, end, write);
  await ending(db, end, (on) => bookUnbegun(on, end, beginning));
  return row;
}

async function beginAgain(db: Db, { step, attempt }: Beginning): Promise<boolean> {
  return (await claimStep(db, step, { again: attempt })).claimed;
}

/**
 * Books the cost of an attempt that is missing from the ledger and no longer counts. A new row gets the epoch before
 * the last resume, so that a current attempt can start.
 */
async function bookUnbegun(db: Db, end: StepEnd, { step, attempt }: Beginning): Promise<void> {
  const { spending } = end;
  const name = paid(end) ? 'book_unbegun_paid_step' : 'book_unbegun_step';
  await db.query(sql.prepared(name, z.object({}))`
    WITH run AS (${bookCost({ ...end, beginning: undefined })}
    )${paid(end) ? sql.fragment`, ${chargeHolds(spending.costMicros)}` : sql.fragment``}
    INSERT INTO steps AS s (run_id, step_key, node_id, label, kind, iteration, output_key, ordinal, status, epoch,
                            queued_at, input, started_at, finished_at, policy, attempts, cost_micros, unpriced)
    SELECT run.id, ${step.stepKey}, ${step.nodeId}, ${step.label}, ${step.kind}, ${sql.array(step.iteration, 'int4')},
           ${step.outputKey}, run.frame_seq, 'cancelled', greatest(0, run.resumed_count - 1),
           ${step.queuedAt.toISOString()}::timestamptz, ${json(step.input)}, moment.now, moment.now,
           ${json(step.judged.verdicts)}, ${attempt}::int, ${spending.costMicros}::bigint, ${spending.unpriced ?? false}
    FROM run, ${moment}
    ON CONFLICT (run_id, step_key) DO UPDATE SET
      cost_micros = s.cost_micros + excluded.cost_micros, unpriced = s.unpriced OR excluded.unpriced
  `);
}

/**
 * Records the step's output, books its cost and emits `step_completed`. Only the attempt that holds the claim decides
 * the outcome. The cost is always booked, also late. Returns the final output, which another attempt may have written,
 * or undefined when the step has not (yet) succeeded.
 */
export async function finishStep(db: Pool, end: StepEnd, output: Json): Promise<Json | undefined> {
  const won = await endStep(db, end, {
    status: 'success',
    output,
    frame: { run_id: end.runId, type: 'step_completed', node_id: end.nodeId },
  });
  if (won) return output;
  const kept = await readOutcome(db, end.runId, end.stepKey);
  return kept?.status === 'success' ? kept.output : undefined;
}

/** Ends a cancelled attempt. It emits no frame, since the run has already ended. */
export async function cancelStep(db: Pool, end: StepEnd): Promise<void> {
  await endStep(db, end, { status: 'cancelled' });
}

/**
 * Releases the claim of an attempt that stopped before its end. While the run is open, the step waits for its next
 * attempt; in a run that has ended, the step is cancelled. The cost is kept.
 */
export async function releaseStep(db: Pool, end: StepEnd): Promise<void> {
  await endStep(db, end, { status: 'cancelled', waitsIfOpen: true });
}

async function endStep(
  db: Pool,
  end: StepEnd,
  result: {
    status: 'success' | 'cancelled';
    waitsIfOpen?: boolean;
    output?: Json;
    frame?: StreamFrame;
  },
): Promise<boolean> {
  const { spending } = end;
  const waits = sql.fragment`(${result.waitsIfOpen ?? false} AND ${runIsOpen})`;
  const statement = sql.prepared(paid(end) ? 'end_paid_step' : 'end_step', ended)`
    WITH run AS (${bookCost(end)}
    ), ${charge(end)} won AS (
      UPDATE steps SET
        cost_micros = cost_micros + ${spending.costMicros}::bigint,
        status = CASE WHEN ${waits} THEN 'running' ELSE ${result.status} END,
        output = ${json(result.output)}, model = ${spending.model ?? null}, usage = ${json(spending.usage)},
        unpriced = unpriced OR ${spending.unpriced ?? false},
        finished_at = CASE WHEN NOT ${waits} THEN clock_timestamp() END,
        attempt_ended_at = CASE WHEN ${waits} THEN clock_timestamp() END, claim = NULL, claim_until = NULL
      WHERE ${heldBy(end)} RETURNING step_key
    ), late AS (${bookLate(end)}
    ), ${bookLateAttempt(end)} frame_row AS (
      INSERT INTO run_frames (run_id, seq, frame)
      SELECT run.id, run.frame_seq, ${json(result.frame)} FROM run, won
      WHERE ${result.frame !== undefined} AND run.status IN ('pending', 'running', 'paused')
    )
    SELECT EXISTS (SELECT FROM won) AS won, EXISTS (SELECT FROM run) AS booked
  `;
  return (await endWith(db, end, (on) => on.one(statement))).won;
}

/** Ends an attempt in one statement, and replaces its reservation with its actual cost. */
async function ending<T>(db: Pool, end: StepEnd, work: (db: Db) => Promise<T>): Promise<T> {
  if (end.counted !== true) return work(db);
  return db.transaction(async (tx) => {
    const result = await work(tx);
    await recountHolds(tx, end.runId);
    return result;
  });
}

/** The run's row is locked first, so that all writes follow the order of the frame numbers. */
const bookCost = (end: StepEnd) => sql.fragment`
  UPDATE runs SET cost_micros = cost_micros + ${end.spending.costMicros}::bigint, frame_seq = frame_seq + 1,
                  updated_at = now()
  WHERE id = ${end.runId} AND ${isKnown(end)} RETURNING id, frame_seq, status, cost_micros, workspace_id, created_at, created_by,
                         resumed_count`;

/** Whether the ledger has this attempt or a later one. Always true for an end without `beginning`. */
const isKnown = ({ runId, stepKey, beginning }: Pick<StepEnd, 'runId' | 'stepKey' | 'beginning'>) =>
  sql.fragment`(${beginning === undefined} OR EXISTS (
    SELECT FROM steps s WHERE s.run_id = ${runId} AND s.step_key = ${stepKey}
      AND s.attempts >= ${beginning?.attempt ?? null}::int))`;

const paid = (end: StepEnd): boolean => end.spending.costMicros > 0;

/** Most steps cost nothing, and their statements skip the budgets. */
const charge = (end: StepEnd) =>
  paid(end) ? sql.fragment`${chargeHolds(end.spending.costMicros)},` : sql.fragment``;

/**
 * The step, if this attempt still holds its claim. The end of the run cancels the step but keeps the claim, so the
 * attempt can still store its result.
 */
const heldBy = (end: StepEnd) => sql.fragment`
  run_id = (SELECT id FROM run) AND step_key = ${end.stepKey} AND status IN ('running', 'cancelled')
  AND claim = ${end.claim}`;

/** Whether the run, whose row the statement has locked, still needs work. */
const runIsOpen = sql.fragment`((SELECT status FROM run) IN ('pending', 'running', 'paused'))`;

/** Books the cost of an attempt that no longer holds the claim. */
const bookLate = (end: StepEnd) => sql.fragment`
  UPDATE steps SET cost_micros = cost_micros + ${end.spending.costMicros}::bigint,
                   unpriced = unpriced OR ${end.spending.unpriced ?? false}
  WHERE run_id = (SELECT id FROM run) AND step_key = ${end.stepKey} AND NOT EXISTS (SELECT FROM won)
  RETURNING run_id, step_key`;

/**
 * Adds the cost to the earlier attempt, if it is found. An attempt that was stored while this statement waited is not
 * found; the newest attempt then shows the cost, and the sum for the step is still right.
 */
const bookLateAttempt = (end: StepEnd) =>
  paid(end)
    ? sql.fragment`late_attempt AS (
      UPDATE step_attempts a SET cost_micros = a.cost_micros + ${end.spending.costMicros}::bigint
      FROM late WHERE a.run_id = late.run_id AND a.step_key = late.step_key AND a.claim = ${end.claim}
    ),`
    : sql.fragment``;

export interface StepError {
  message: string;
  retryable: boolean;
  /** The external service gave a final response: the next retry needs a new idempotency key. */
  definite: boolean;
  maxAttempts: number;
}

const erred = z.object({ status: z.string().nullable(), tries: z.number().nullable(), ...booked });

/**
 * Counts a node error. When no retries are left, the step is `failed` and `step_failed` is emitted. Returns whether
 * this was the last try, and how many tries have failed since the last resume. Undefined when the step or its run does
 * not exist, or another attempt has taken over.
 */
export async function recordStepError(
  db: Pool,
  end: StepEnd,
  error: StepError,
): Promise<{ final: boolean; tries: number } | undefined> {
  const frame: StreamFrame = {
    run_id: end.runId,
    type: 'step_failed',
    node_id: end.nodeId,
    error: error.message,
  };
  const isFinal = sql.fragment`
    (${!error.retryable} OR errors - forgiven + 1 >= ${error.maxAttempts}::int)`;
  const statement = sql.prepared(paid(end) ? 'record_paid_step_error' : 'record_step_error', erred)`
    WITH run AS (${bookCost(end)}
    ), ${charge(end)} won AS (
      UPDATE steps SET
        cost_micros = cost_micros + ${end.spending.costMicros}::bigint,
        unpriced = unpriced OR ${end.spending.unpriced ?? false}, errors = errors + 1,
        generation = generation + CASE WHEN ${error.definite} THEN 1 ELSE 0 END, error = ${error.message},
        status = CASE WHEN ${isFinal} THEN 'failed' WHEN ${runIsOpen} THEN 'running' ELSE 'cancelled' END,
        finished_at = CASE WHEN ${isFinal} OR NOT ${runIsOpen} THEN clock_timestamp() END,
        attempt_ended_at = clock_timestamp(), claim = NULL, claim_until = NULL
      WHERE ${heldBy(end)} RETURNING status, errors - forgiven AS tries
    ), late AS (${bookLate(end)}
    ), ${bookLateAttempt(end)} frame_row AS (
      INSERT INTO run_frames (run_id, seq, frame)
      SELECT run.id, run.frame_seq, ${json(frame)} FROM run, won
      WHERE won.status = 'failed' AND run.status IN ('pending', 'running', 'paused')
    )
    SELECT (SELECT status FROM won), (SELECT tries FROM won), EXISTS (SELECT FROM run) AS booked
  `;
  const { status, tries } = await endWith(db, end, (on) => on.one(statement));
  return status === null || tries === null ? undefined : { final: status === 'failed', tries };
}

/**
 * Renews the claim of a running attempt, and writes the claim again if it was lost. Only long steps need it; see
 * executeNode.
 */
export async function renewClaim(
  db: Db,
  held: { runId: string; stepKey: string; claim: string; claimMs: number; beginning: Beginning },
): Promise<void> {
  const { known } = await db.one(sql.prepared('renew_claim', z.object({ known: z.boolean() }))`
    WITH renewed AS (
      UPDATE steps SET claim_until = clock_timestamp() + ${held.claimMs}::int * interval '1 ms'
      WHERE run_id = ${held.runId} AND step_key = ${held.stepKey} AND claim = ${held.claim}
    )
    SELECT ${isKnown(held)} AS known
  `);
  if (!known) await beginAgain(db, held.beginning);
}

/** Whether an attempt at a step of this run may still be running. */
export async function hasLiveClaim(db: Db, runId: string): Promise<boolean> {
  return db.oneFirst(sql.prepared('has_live_claim', z.object({ live: z.boolean() }))`
    SELECT EXISTS (SELECT FROM steps WHERE run_id = ${runId} AND claim_until > clock_timestamp()) AS live
  `);
}

const json = (value: unknown) =>
  value === undefined ? sql.fragment`${null}::json` : sql.fragment`${JSON.stringify(value)}::json`;

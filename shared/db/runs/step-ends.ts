import { z } from 'zod';
import type { StreamFrame } from '#shared/contract/stream.ts';
import type { AgentPart } from '#shared/graph/call-parts.ts';
import type { ErrorKind } from '#shared/graph/caught-error.ts';
import type { Json } from '#shared/json.ts';
import type { Usage } from '#shared/node-error.ts';
import { moment } from './pending-writes.ts';
import { type Db, type Pool, sql } from '#shared/db/pool.ts';
import { completedFrame, failedFrame, framedKey, isTurn } from '#shared/db/steps/done.ts';
import { chargeHolds } from '#shared/db/money/holds.ts';
import { recountHolds } from '#shared/db/money/step-room.ts';
import { agentColumns, agentValues, claimStep, json, readOutcome } from './steps.ts';
import type { StepBeginning } from '#shared/db/steps/beginning.ts';

export interface StepSpending {
  costMicros: number;
  model?: string;
  usage?: Usage;
  unpriced?: boolean;
  estimated?: boolean;
}

export interface StepEnd {
  runId: string;
  stepKey: string;
  nodeId: string;
  agent?: AgentPart | undefined;
  claim: string;
  /** Whether the attempt's possible cost was reserved when it started. */
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
                            queued_at, input, started_at, finished_at, policy, attempts, cost_micros, unpriced,
                            cost_estimated, ${agentColumns})
    SELECT run.id, ${step.stepKey}, ${step.nodeId}, ${step.label}, ${step.kind}, ${sql.array(step.iteration, 'int4')},
           ${step.outputKey}, run.frame_seq, 'cancelled', greatest(0, run.resumed_count - 1),
           ${step.queuedAt.toISOString()}::timestamptz, ${json(step.input)}, moment.now, moment.now,
           ${json(step.judged.verdicts)}, ${attempt}::int, ${spending.costMicros}::bigint, ${spending.unpriced ?? false},
           ${spending.estimated ?? false},
           ${agentValues(step.agent)}
    FROM run, ${moment}
    ON CONFLICT (run_id, step_key) DO UPDATE SET
      cost_micros = s.cost_micros + excluded.cost_micros, unpriced = s.unpriced OR excluded.unpriced,
      cost_estimated = s.cost_estimated OR excluded.cost_estimated
  `);
}

/**
 * Records the step's output, books its cost and emits `step_completed`, or another `frame`. Only the attempt that holds the claim decides
 * the outcome. The cost is always booked, also late. Returns the final output, which another attempt may have written,
 * or undefined when the step has not (yet) succeeded.
 */
export async function finishStep(
  db: Pool,
  end: StepEnd,
  output: Json,
  frame: StreamFrame = completedFrame(end.runId, end.nodeId, framedKey(end)),
): Promise<Json | undefined> {
  const won = await endStep(db, end, { status: 'success', output, frame });
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
        cost_estimated = cost_estimated OR ${spending.estimated ?? false},
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
                   unpriced = unpriced OR ${end.spending.unpriced ?? false},
                   cost_estimated = cost_estimated OR ${end.spending.estimated ?? false}
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
  /** The default is `node`. */
  kind?: ErrorKind;
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
  const frame = failedFrame(end.runId, end.nodeId, framedKey(end), error.message);
  const isFinal = sql.fragment`
    (${!error.retryable} OR errors - forgiven + 1 >= ${error.maxAttempts}::int)`;
  const statement = sql.prepared(paid(end) ? 'record_paid_step_error' : 'record_step_error', erred)`
    WITH run AS (${bookCost(end)}
    ), ${charge(end)} won AS (
      UPDATE steps SET
        cost_micros = cost_micros + ${end.spending.costMicros}::bigint,
        unpriced = unpriced OR ${end.spending.unpriced ?? false},
        cost_estimated = cost_estimated OR ${end.spending.estimated ?? false}, errors = errors + 1,
        generation = generation + CASE WHEN ${error.definite} THEN 1 ELSE 0 END, error = ${error.message},
        error_kind = ${error.kind ?? 'node'},
        status = CASE WHEN ${isFinal} THEN 'failed' WHEN ${runIsOpen} THEN 'running' ELSE 'cancelled' END,
        finished_at = CASE WHEN ${isFinal} OR NOT ${runIsOpen} THEN clock_timestamp() END,
        attempt_ended_at = clock_timestamp(), claim = NULL, claim_until = NULL
      WHERE ${heldBy(end)} RETURNING status, errors - forgiven AS tries
    ), late AS (${bookLate(end)}
    ), ${bookLateAttempt(end)} frame_row AS (
      INSERT INTO run_frames (run_id, seq, frame)
      SELECT run.id, run.frame_seq, ${json(frame)} FROM run, won
      WHERE won.status = 'failed' AND run.status IN ('pending', 'running', 'paused') AND ${!isTurn(end.agent)}
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

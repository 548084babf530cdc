import { z } from 'zod';
import type { StreamFrame } from '#shared/contract/runs/stream.ts';
import type { AgentPart } from '#shared/graph/call-parts.ts';
import type { ErrorKind } from '#shared/graph/caught-error.ts';
import type { Json } from '#shared/json.ts';
import type { Usage } from '#shared/node-error.ts';
import { type Db, jsonOrNull, type Pool, sql, statement } from '#shared/db/pool.ts';
import { completedFrame, failedFrame, framedKey, isTurn } from './done.ts';
import { LEASE_MS, type OutboxRow, outboxRow } from '#shared/db/runs/outbox.ts';
import { recountHolds } from '#shared/db/money/step-room.ts';
import { agentColumns, agentValues, claimStep, json, readOutcome } from './steps.ts';
import type { StepBeginning } from './beginning.ts';

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
  /** Whether the attempt's possible cost was reserved at its start. */
  counted?: boolean;
  /** Whether the attempt has taken calls of limits. */
  limited?: boolean;
  spending: StepSpending;
  /** The claim and number of the attempt, to write the claim again if it is lost. */
  beginning?: Beginning;
  /** Dispatches notices for steps that waited for the attempt's calls. */
  notify?: ((woken: readonly OutboxRow[]) => void) | undefined;
}

export interface Beginning {
  step: StepBeginning;
  attempt: number;
}

const ended = z.object({
  /** Whether the run exists, and its ledger has this attempt or a later one. */
  known: z.boolean(),
  /** The present status of the step; null when another attempt decides it. */
  status: z.string().nullable(),
  /** The errors since the last resume. */
  tries: z.number().nullable(),
  woken: z.array(outboxRow).nullable(),
});

/** How an attempt ends. `released`: while the run is open, the step waits for its next attempt. */
interface Result {
  result: 'success' | 'failed' | 'cancelled' | 'released';
  output?: Json;
  frame?: StreamFrame;
  error?: StepError;
}

/**
 * Ends an attempt and replaces its reservation with its actual cost, with one call of the database function
 * `end_step_2`, which shows the order of the rows.
 *
 * The commit of a claim does not wait for the disk, so a database crash can lose it while the attempt continues. If the
 * attempt is missing, its end writes nothing. Then the claim is written again, followed by the end, unless another
 * attempt has taken over or the run no longer accepts it. The cost of a refused attempt is still booked.
 *
 * If the connection is lost, it is unknown whether the end was written. A retry with the same object looks first, so that
 * the cost is not booked twice.
 */
async function endStep(db: Pool, end: StepEnd, result: Result): Promise<z.infer<typeof ended>> {
  const call = ending(end, result);
  const before = uncertain.has(end) ? await findEnd(db, end, result) : null;
  if (before !== null) return before;
  uncertain.add(end);
  const row = await db.one(call);
  uncertain.delete(end);
  if (row.woken !== null) end.notify?.(row.woken);
  if (row.known || end.beginning === undefined) return row;
  if (await beginAgain(db, end.beginning)) return db.one(call);
  await bookUnbegun(db, end, end.beginning);
  return row;
}

/** Ends that were sent and not answered. */
const uncertain = new WeakSet<StepEnd>();

/** The end that an unanswered statement has written; null if there is none, or a later attempt has replaced it. */
const findEnd = (
  db: Pool,
  { runId, stepKey, beginning }: StepEnd,
  { result }: Result,
): Promise<z.infer<typeof ended> | null> =>
  db.transaction(async (tx) => {
    // The statement can still be running: it locks the run first.
    await tx.query(statement(z.object({}))`SELECT FROM runs WHERE id = ${runId} FOR NO KEY UPDATE`);
    return tx.maybeOne(statement(ended)`
      SELECT true AS known, status, errors - forgiven AS tries, NULL::json AS woken FROM steps
      WHERE run_id = ${runId} AND step_key = ${stepKey} AND claim IS NULL AND attempts = ${beginning?.attempt ?? null}::int
        AND status = ${result}
    `);
  });

function ending(end: StepEnd, { result, output, frame, error }: Result) {
  const { spending } = end;
  return statement(ended)`
    SELECT * FROM end_step_2(
      run => ${end.runId}, step => ${end.stepKey}, claim => ${end.claim}, attempt => ${end.beginning?.attempt ?? null},
      counted => ${end.counted ?? false},
      limited => ${end.limited ?? false}, lease_ms => ${LEASE_MS},
      result => ${result}, output => ${json(output)}, frame => ${jsonOrNull(frame)},
      error => ${error?.message ?? null}, error_kind => ${error === undefined ? null : (error.kind ?? 'node')},
      retryable => ${error?.retryable ?? false}, max_attempts => ${error?.maxAttempts ?? 0},
      definite => ${error?.definite ?? false},
      cost_micros => ${spending.costMicros}, model => ${error === undefined ? (spending.model ?? null) : null},
      usage => ${jsonOrNull(error === undefined ? spending.usage : null)}, unpriced => ${spending.unpriced ?? false},
      cost_estimated => ${spending.estimated ?? false})
  `;
}

const beginAgain = async (db: Db, { step, attempt }: Beginning): Promise<boolean> =>
  (await claimStep(db, step, { again: attempt })).outcome === 'begun';

/**
 * Books the cost of an attempt that is missing from the ledger and no longer counts. A new row gets the epoch before
 * the last resume, so that a current attempt can start.
 */
async function bookUnbegun(db: Pool, end: StepEnd, { step, attempt }: Beginning): Promise<void> {
  const { spending } = end;
  await db.transaction(async (tx) => {
    await tx.query(statement(z.object({}))`
      INSERT INTO steps AS s (run_id, step_key, node_id, label, kind, iteration, output_key, ordinal, status, epoch,
                              queued_at, input, started_at, finished_at, policy, attempts, cost_micros, unpriced,
                              cost_estimated, ${agentColumns})
      SELECT ${end.runId}, ${step.stepKey}, ${step.nodeId}, ${step.label}, ${step.kind},
             ${sql.array([...step.iteration], 'int4')}, ${step.outputKey}, run.frame_seq, 'cancelled',
             greatest(0, run.resumed_count - 1), ${step.queuedAt.toISOString()}::timestamptz, ${json(step.input)},
             moment, moment, ${json(step.judged.verdicts)}, ${attempt}::int, ${spending.costMicros}::bigint,
             ${spending.unpriced ?? false}, ${spending.estimated ?? false}, ${agentValues(step.agent)}
      FROM book_cost_1(${end.runId}, ${spending.costMicros}) AS run, clock_timestamp() AS moment
      WHERE run.status IS NOT NULL
      ON CONFLICT (run_id, step_key) DO UPDATE SET
        cost_micros = s.cost_micros + excluded.cost_micros, unpriced = s.unpriced OR excluded.unpriced,
        cost_estimated = s.cost_estimated OR excluded.cost_estimated
    `);
    if (end.counted === true) await recountHolds(tx, end.runId);
  });
}

/**
 * Records the step's output, books its cost and emits `step_completed`, or another `frame`. Only the attempt that holds
 * the claim decides the outcome. The cost is always booked, even late. Returns the final output, which another attempt
 * may have written, or undefined when the step has not (yet) succeeded.
 */
export async function finishStep(
  db: Pool,
  end: StepEnd,
  output: Json,
  frame: StreamFrame = completedFrame(end.runId, end.nodeId, framedKey(end)),
): Promise<Json | undefined> {
  const { status } = await endStep(db, end, { result: 'success', output, frame });
  if (status !== null) return output;
  const kept = await readOutcome(db, end.runId, end.stepKey);
  return kept?.status === 'success' ? kept.output : undefined;
}

/** Ends a cancelled attempt. It emits no frame, since the run has already ended. */
export async function cancelStep(db: Pool, end: StepEnd): Promise<void> {
  await endStep(db, end, { result: 'cancelled' });
}

/**
 * Releases the claim of an attempt that stopped early. While the run is open, the step waits for its next attempt; if
 * the run has ended, the step is cancelled. The cost is booked.
 */
export async function releaseStep(db: Pool, end: StepEnd): Promise<void> {
  await endStep(db, end, { result: 'released' });
}

export interface StepError {
  message: string;
  retryable: boolean;
  /** The external service gave a definite response, so the next retry needs a new idempotency key. */
  definite: boolean;
  /** The default is `node`. */
  kind?: ErrorKind;
  maxAttempts: number;
}

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
  const frame = isTurn(end.agent)
    ? undefined
    : failedFrame(end.runId, end.nodeId, framedKey(end), error.message);
  const { status, tries } = await endStep(db, end, { result: 'failed', error, frame });
  return status === null || tries === null ? undefined : { final: status === 'failed', tries };
}

/**
 * Renews the claim of a running attempt, or writes it again if it was lost. Only long steps need this; see
 * `executeNode`.
 */
export async function renewClaim(
  db: Db,
  held: { runId: string; stepKey: string; claim: string; claimMs: number; beginning: Beginning },
): Promise<void> {
  const { known } = await db.one(statement(z.object({ known: z.boolean() }))`
    WITH renewed AS (
      UPDATE steps SET claim_until = clock_timestamp() + ${held.claimMs}::int * interval '1 ms'
      WHERE run_id = ${held.runId} AND step_key = ${held.stepKey} AND claim = ${held.claim}
    )
    SELECT EXISTS (
      SELECT FROM steps WHERE run_id = ${held.runId} AND step_key = ${held.stepKey}
        AND attempts >= ${held.beginning.attempt}) AS known
  `);
  if (!known) await beginAgain(db, held.beginning);
}

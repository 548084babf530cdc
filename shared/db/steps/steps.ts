import { z } from 'zod';
import type { FailureDetails } from '#shared/execution.ts';
import type { AgentPart } from '#shared/graph/call-parts.ts';
import { errorKinds } from '#shared/graph/caught-error.ts';
import type { Json } from '#shared/json.ts';
import { type Done, framesOf } from './done.ts';
import { type Db, jsonOrNull, type Pool, sql, statement, syncCommit } from '#shared/db/pool.ts';
import { type OutboxRow, LEASE_MS, outboxRow } from '#shared/db/runs/outbox.ts';
import { admitStep, lockBudgets, recountHolds } from '#shared/db/money/step-room.ts';
import type { Blocked } from '#shared/db/money/blocked.ts';
import { type StepCost, type Stop, UNKNOWN_COST } from '#shared/money/spending.ts';
import { storedJson } from '#shared/db/stored-json.ts';
import type { StepBeginning } from './beginning.ts';
import { controlRows } from '#shared/db/runs/pending-writes.ts';

const failed = z.object({ error: z.string(), kind: z.enum(errorKinds), attempts: z.number() });

const woken = z.array(outboxRow);

const begun = z.object({
  errors: z.number(),
  attempts: z.number(),
  generation: z.number(),
  epoch: z.number(),
  budgeted: z.boolean(),
  waited_ms: z.number().optional(),
  woken: woken.optional(),
});

const noSlot = z.object({ wait_ms: z.number(), target: z.string(), woken });

const stop = z.object({
  budget_id: z.string().nullable(),
  name: z.string().nullable(),
  committed: z.number(),
  limit_micros: z.number(),
});

/** The result of `begin_step_2`. */
const beginning = z.discriminatedUnion('outcome', [
  z.object({ outcome: z.literal('begun'), facts: begun }),
  z.object({ outcome: z.literal('finished'), facts: z.object({ output: storedJson() }) }),
  z.object({ outcome: z.literal('failed'), facts: failed }),
  z.object({ outcome: z.literal('blocked'), facts: stop }),
  z.object({ outcome: z.literal('no_slot'), facts: noSlot }),
  z.object({ outcome: z.enum(['stale', 'limited', 'refused']), facts: z.null() }),
]);

export type BeginOutcome =
  | {
      outcome: 'begun';
      errors: number;
      attempts: number;
      generation: number;
      /** The number of resumes of the run at that time. */
      epoch: number;
      /** A cap or a budget applies, so a model without a price must not be used. */
      budgeted: boolean;
      /** Whether its possible cost is reserved until the step ends. */
      counted: boolean;
      /** How long it waited for a free call; undefined if it did not. */
      waitedMs: number | undefined;
      /** Notices for steps behind it in the queue, to dispatch. */
      woken: readonly OutboxRow[] | undefined;
    }
  /** The step has already finished, with this output. */
  | { outcome: 'finished'; output: Json }
  /** The step had no retries left. */
  | { outcome: 'failed'; error: string; details: FailureDetails }
  /** The possible cost of steps in progress leaves no room under a cap or a budget. Retry soon. */
  | { outcome: 'waits' }
  /** A limit of the policies has no free call of this tool or model. Retry when woken, or after this time. */
  | { outcome: 'no_slot'; waitMs: number; target: string; woken: readonly OutboxRow[] }
  /** The run's cap or a budget is exhausted. */
  | { outcome: 'blocked'; blocked: Blocked }
  /** The run has ended, was deleted, or belongs to another execution. */
  | { outcome: 'refused' }
  /** The workspace's policies changed after the step was judged. Nothing was written. */
  | { outcome: 'stale' };

/**
 * Claims a step for one attempt, writes the control steps that came with it, and emits `step_started` when the step is
 * new or is retried after a resume. It makes one call of the database function `begin_step_2`, which shows the order of
 * the checks and rows. If a database crash loses the claim, it is written again.
 *
 * With `done`, one statement starts and completes the step. Only work without external effects can be done before the
 * claim.
 *
 * The step only starts if the policies have not changed since the verdicts. The verdicts are stored as governance
 * events, and later attempts do not repeat them.
 *
 * Where a limit of the policies counts the call, the same statement takes it, or the step waits in a queue.
 *
 * Where a cap or a budget with an estimate applies, a step that may cost something starts in a transaction that decides
 * by locked rows.
 */
export async function beginStep(db: Pool, step: StepBeginning, done?: Done): Promise<BeginOutcome> {
  const first = await claimStep(db, step, { done });
  if (first.outcome !== 'limited') return outcomeOf(first);
  const cost = typeof step.cost === 'function' ? await step.cost() : (step.cost ?? UNKNOWN_COST);
  return db.transaction(async (tx) => {
    const { stepKey, pendingWrites } = step;
    const admitted = await admitStep(tx, { runId: pendingWrites.run_id, stepKey, cost });
    if (admitted === undefined) return { outcome: 'refused' };
    const { admittance, counted } = admitted;
    // What waits for a call is locked last.
    if (admittance === 'begin' && step.judged.calls !== undefined) {
      await lockBudgets(tx, pendingWrites.run_id);
    }
    const claimed = admittance === 'begin' ? await claimStep(tx, step, { counted }) : undefined;
    // Even when the step does not start, because an attempt whose worker died may still have a reservation.
    await recountHolds(tx, pendingWrites.run_id);
    if (claimed !== undefined) return outcomeOf(claimed, true);
    // Another attempt may have ended the step before the run's row was locked. A finished step needs no reservation.
    const kept = await readOutcome(tx, pendingWrites.run_id, stepKey);
    if (kept?.status === 'success') return { outcome: 'finished', output: kept.output };
    return typeof admittance === 'object'
      ? { outcome: 'blocked', blocked: blockedBy(admittance) }
      : { outcome: 'waits' };
  });
}

const blockedBy = ({ budget, committed, limit, experiment, most }: Stop): Blocked => ({
  budgetId: budget?.budgetId ?? null,
  name: budget?.name ?? null,
  committedMicros: committed,
  limitMicros: limit,
  ...(experiment ? { experiment: { most } } : {}),
  ...(most === null ? {} : { requestMicros: most }),
});

/** How a claim is written; see `claimStep`. */
interface ClaimOptions {
  done?: Done | undefined;
  counted?: StepCost;
  again?: number;
}

/**
 * Claims the step in one statement. With `counted`, the limits were already checked and this cost is reserved. With
 * `again` (the number of an attempt whose claim was lost in a database crash), they were also checked, and the step is
 * only claimed if the ledger does not have the attempt yet.
 */
export async function claimStep(
  db: Db,
  step: StepBeginning,
  { done, counted, again }: ClaimOptions,
): Promise<z.infer<typeof beginning>> {
  const { pendingWrites, judged, agent, cost } = step;
  const { control, frames } = controlRows(pendingWrites);
  const { started, ended } = framesOf(step, done);
  const recorded = done?.recorded;
  const judgedBefore = again !== undefined || recorded !== undefined;
  // A crash of the database must not lose the calls that were taken. They are in the ledger if the claim is written again.
  const calls = judgedBefore ? undefined : judged.calls;
  const free = done !== undefined || (typeof cost === 'object' && cost.most === 0);
  return db.one(statement(beginning)`
    SELECT ${syncCommit(done !== undefined || again !== undefined || calls !== undefined)}, b.outcome, b.facts
    FROM begin_step_2(
      run => ${pendingWrites.run_id}, workspace => ${judged.workspaceId}, execution => ${step.execution},
      control => ${JSON.stringify(control)}, observed => ${JSON.stringify(pendingWrites.observed)},
      frames => ${JSON.stringify(frames)},
      step => ${step.stepKey}, node => ${step.nodeId}, label => ${step.label}, kind => ${step.kind},
      iteration => ${sql.array([...step.iteration], 'int4')}, output_key => ${step.outputKey},
      queued_at => ${step.queuedAt.toISOString()}, input => ${JSON.stringify(step.input)},
      agent_step => ${agent?.step_key ?? null}, turn => ${agent?.turn ?? null}, call_index => ${agent?.call ?? null},
      call_tool => ${agent?.tool ?? null},
      verdicts => ${JSON.stringify(judged.verdicts)}, revision => ${judgedBefore ? null : judged.revision},
      calls => ${jsonOrNull(calls)}, lease_ms => ${LEASE_MS},
      claim => ${done === undefined ? step.claim : null}, claim_ms => ${done === undefined ? step.claimMs : null},
      attempt => ${again ?? null},
      free => ${free}, counted => ${counted !== undefined}, most_micros => ${counted?.most ?? null},
      done => ${done === undefined ? null : (recorded?.status ?? 'success')}, output => ${json(done?.output)},
      error => ${recorded?.error ?? null}, error_kind => ${recorded?.kind ?? null}, errors => ${recorded?.errors ?? null},
      model => ${recorded?.model ?? null}, reused_from => ${recorded?.reusedFrom ?? null},
      started => ${jsonOrNull(started)}, ended => ${jsonOrNull(ended)}
    ) AS b
  `);
}

function outcomeOf(found: z.infer<typeof beginning>, counted = false): BeginOutcome {
  switch (found.outcome) {
    case 'begun': {
      const { waited_ms: waitedMs, woken: notices, ...facts } = found.facts;
      return { outcome: 'begun', ...facts, counted, waitedMs, woken: notices };
    }
    case 'no_slot': {
      const { wait_ms: waitMs, target, woken: notices } = found.facts;
      return { outcome: 'no_slot', waitMs, target, woken: notices };
    }
    case 'finished':
      return { outcome: 'finished', output: found.facts.output };
    case 'failed': {
      const { error, ...details } = found.facts;
      return { outcome: 'failed', error, details };
    }
    case 'blocked': {
      const { budget_id: budgetId, name, committed, limit_micros: limitMicros } = found.facts;
      return {
        outcome: 'blocked',
        blocked: { budgetId, name, committedMicros: committed, limitMicros },
      };
    }
    case 'stale':
      return { outcome: 'stale' };
    default:
      return { outcome: 'refused' };
  }
}

/** The agent and turn that a turn or call belongs to. */
export const agentColumns = sql.fragment`parent_step_key, turn, call_index, call_tool`;
export const agentValues = (agent: AgentPart | undefined) => sql.fragment`
  ${agent?.step_key ?? null}::text, ${agent?.turn ?? null}::int, ${agent?.call ?? null}::int, ${agent?.tool ?? null}::text`;

const outcomeRow = z.object({
  status: z.string(),
  output: storedJson(),
  error: z.string().nullable(),
  kind: z.enum(errorKinds),
  attempts: z.number(),
  /** Whether its error is current: it was caught, or the run was not resumed since. */
  current: z.boolean(),
});

export async function readOutcome(db: Db, runId: string, stepKey: string) {
  return db.maybeOne(statement(outcomeRow)`
    SELECT s.status, s.output, s.error, coalesce(s.error_kind, 'node') AS kind,
           greatest(1, s.errors - s.forgiven) AS attempts, s.caught OR s.epoch = r.resumed_count AS current
    FROM steps s JOIN runs r ON r.id = s.run_id
    WHERE s.run_id = ${runId} AND s.step_key = ${stepKey}
  `);
}

/** Whether an attempt at a step of this run may still be running. */
export async function hasLiveClaim(db: Db, runId: string): Promise<boolean> {
  return db.oneFirst(statement(z.object({ live: z.boolean() }))`
    SELECT EXISTS (SELECT FROM steps WHERE run_id = ${runId} AND claim_until > clock_timestamp()) AS live
  `);
}

export const json = (value: unknown) =>
  value === undefined ? sql.fragment`${null}::json` : sql.fragment`${JSON.stringify(value)}::json`;

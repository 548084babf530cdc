import { z } from 'zod';
import type { FailureDetails } from '#shared/execution.ts';
import type { AgentPart } from '#shared/graph/call-parts.ts';
import { errorKinds } from '#shared/graph/caught-error.ts';
import type { Json } from '#shared/json.ts';
import { controlRows, moment, movedFrames, pendingWriteCtes } from './pending-writes.ts';
import { type Done, framesOf, recordedColumns } from '#shared/db/steps/done.ts';
import { verdictEvents } from '#shared/db/audit/governance.ts';
import { type Db, type Pool, sql, syncCommit, type FragmentSqlToken } from '#shared/db/pool.ts';
import {
  admitStep,
  blockedRun,
  isBudgetedRehearsal,
  limitedRun,
  recountHolds,
} from '#shared/db/money/step-room.ts';
import type { Blocked } from '#shared/db/money/blocked.ts';
import { type StepCost, type Stop, UNKNOWN_COST } from '#shared/spending.ts';
import { phaseMs, acceptsWorkOf } from './row.ts';
import { storedJson } from '#shared/db/stored-json.ts';
import type { StepBeginning } from '#shared/db/steps/beginning.ts';

/** The step's verdicts: those of earlier attempts since the last resume, and the new ones. */
export const verdictsKept = sql.fragment`
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
  epoch: z.number().nullable(),
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
      /** How often the run had been resumed. */
      epoch: number;
      /** A cap or a budget applies: a model without a price must not be used. */
      budgeted: boolean;
      /** Its possible cost is reserved until the step ends. */
      counted: boolean;
    }
  /** The step has already finished, with this output. */
  | { outcome: 'finished'; output: Json }
  /** The step had no retries left. */
  | { outcome: 'failed'; error: string; details: FailureDetails }
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
export async function beginStep(db: Pool, step: StepBeginning, done?: Done): Promise<BeginOutcome> {
  const row = await claimStep(db, step, { done });
  const outcome = await outcomeOf(db, step, row);
  if (outcome !== undefined) return outcome;
  const cost = typeof step.cost === 'function' ? await step.cost() : (step.cost ?? UNKNOWN_COST);
  return db.transaction(async (tx) => {
    const { stepKey, pendingWrites } = step;
    const admitted = await admitStep(tx, { runId: pendingWrites.run_id, stepKey, cost });
    if (admitted === undefined) return { outcome: 'refused' };
    const { admittance, counted } = admitted;
    const claimed = admittance === 'begin' ? await claimStep(tx, step, { counted }) : undefined;
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

/** The limit checks before a step starts, for a run under a cap or a budget; none when they are already decided. */
function limitsOf(decided: boolean, free: boolean) {
  if (decided) {
    return {
      stops: sql.fragment``,
      continues: sql.fragment`true`,
      stopped: sql.fragment`NULL::json AS blocked, false AS limited`,
    };
  }
  return {
    stops: sql.fragment`blocked AS MATERIALIZED (${blockedRun} LIMIT 1
    ), limited AS MATERIALIZED (${limitedRun} AND ${!free}
    ),`,
    continues: sql.fragment`NOT EXISTS (SELECT FROM blocked) AND NOT EXISTS (SELECT FROM limited)`,
    stopped: sql.fragment`(SELECT row_to_json(blocked) FROM blocked) AS blocked, EXISTS (SELECT FROM limited) AS limited`,
  };
}

/** The run's row, locked and updated, if the run still accepts this work. */
const heldRun = (step: StepBeginning, frames: number, lost: boolean) => sql.fragment`
    held AS (
      UPDATE runs SET
        frame_seq = frame_seq + ${frames}::int,
        waiting_ms = waiting_ms + CASE WHEN status = 'paused' THEN ${phaseMs} ELSE 0 END,
        phase_since = CASE WHEN status = 'running' AND phase_since IS NOT NULL
                           THEN phase_since ELSE clock_timestamp() END,
        started_at = coalesce(started_at, clock_timestamp()),
        status = 'running', updated_at = now(), lost_since = NULL, temporal_run_id = ${step.execution}
      WHERE id = ${step.pendingWrites.run_id} AND workspace_id = ${step.judged.workspaceId}
        AND ${acceptsWorkOf(step.execution)}
        AND (${lost} OR (SELECT revision FROM known_policy) = ${step.judged.revision}::int)
      RETURNING id, resumed_count AS epoch, frame_seq - ${frames}::int AS base, workspace_id, workflow_id,
                workflow_version, parent_run_id, experiment_id, cost_micros, cost_cap_micros, budget_exempt,
                ${lost} OR policy_revision_now(workspace_id) = ${step.judged.revision}::int AS current
    )`;

/** Where a turn or a call of an agent belongs. */
export const agentColumns = sql.fragment`parent_step_key, turn, call_index, call_tool`;
export const agentValues = (agent: AgentPart | undefined) => sql.fragment`
  ${agent?.step_key ?? null}::text, ${agent?.turn ?? null}::int, ${agent?.call ?? null}::int, ${agent?.tool ?? null}::text`;

/** The step's row: a new one, or that of an earlier attempt that did not end the step. */
const claimedStep = (
  step: StepBeginning,
  { done, counted, again }: ClaimOptions,
  { ordinal, continues }: { ordinal: number; continues: FragmentSqlToken },
  recorded = recordedColumns(done),
) => sql.fragment`
    claimed AS (
      INSERT INTO steps AS s (run_id, step_key, node_id, label, kind, iteration, output_key, ordinal, status, epoch,
                              claim, claim_until, queued_at, input, output, started_at, finished_at, policy,
                              expected_micros, expected_unknown, attempts, ${agentColumns}${recorded.columns})
      SELECT run.id, ${step.stepKey}, ${step.nodeId}, ${step.label}, ${step.kind},
             ${sql.array(step.iteration, 'int4')}, ${step.outputKey}, run.base + ${ordinal}::int,
             ${done === undefined ? 'running' : (done.recorded?.status ?? 'success')}, run.epoch, ${done === undefined ? step.claim : null},
             ${done === undefined ? step.claimMs : null}::int * interval '1 ms' + clock_timestamp(),
             ${step.queuedAt.toISOString()}::timestamptz, ${json(step.input)}, ${json(done?.output)},
             moment.now, CASE WHEN ${done !== undefined} THEN moment.now END, ${json(step.judged.verdicts)},
             ${counted?.most ?? null}::bigint, ${counted?.most === null}, ${again ?? 1}::int, ${agentValues(step.agent)}${recorded.values}
      FROM run, ${moment} WHERE ${continues}
      ON CONFLICT (run_id, step_key) DO UPDATE SET
        status = excluded.status, claim = excluded.claim, claim_until = excluded.claim_until, epoch = excluded.epoch,
        input = excluded.input, output = excluded.output,
        attempts = CASE WHEN ${again !== undefined} THEN excluded.attempts ELSE s.attempts + 1 END,
        attempt_started_at = excluded.started_at, attempt_ended_at = NULL,
        expected_micros = excluded.expected_micros, expected_unknown = excluded.expected_unknown,
        finished_at = excluded.finished_at, ${recorded.set}, policy = ${verdictsKept},
        forgiven = CASE WHEN s.epoch < excluded.epoch THEN s.errors ELSE s.forgiven END,
        queued_at = CASE WHEN s.epoch < excluded.epoch THEN excluded.queued_at ELSE s.queued_at END,
        -- A call that waited for approval has no attempt yet.
        started_at = CASE WHEN s.epoch < excluded.epoch OR s.attempts = 0 THEN excluded.started_at ELSE s.started_at END
      WHERE s.status NOT IN ('success', 'skipped') AND NOT s.caught
        AND NOT (s.status IN ('failed', 'cancelled') AND s.epoch = excluded.epoch)
        AND NOT (${again !== undefined} AND s.attempts >= excluded.attempts)
      RETURNING new.step_key, new.errors, new.attempts, new.generation, new.epoch,
                (new.expected_unknown OR new.expected_micros IS NOT NULL) AS counted,
                coalesce(old.epoch < new.epoch, true) AS opened, new.status <> 'running' AS closed,
                new.node_id, old.policy::jsonb AS judged
    )`;

/**
 * Claims the step in one statement. With `counted`, the limits are already checked and this cost is reserved. With
 * `again` (the number of an attempt whose claim a database crash lost), they are checked too, and the step is claimed
 * only if the ledger has no such attempt yet.
 */
export async function claimStep(
  db: Db,
  step: StepBeginning,
  options: ClaimOptions,
): Promise<z.infer<typeof begun>> {
  const { done, counted, again } = options;
  const { control, frames: before } = controlRows(step.pendingWrites);
  const { frames, ordinal } = framesOf(step, done, before);
  const free = done !== undefined || (typeof step.cost === 'object' && step.cost.most === 0);
  const recorded = done?.recorded !== undefined;
  const lost = again !== undefined || recorded;
  const decided = counted !== undefined || lost;
  const { stops, continues, stopped } = limitsOf(decided, free);
  return db.one(sql.prepared(nameOfClaim({ recorded, decided, lost }), begun)`
    WITH known_policy AS (
      SELECT policy_revision AS revision FROM workspaces WHERE id = ${step.judged.workspaceId}
    ), ${heldRun(step, frames.length, lost)}, run AS (
      SELECT * FROM held WHERE current
    ), ${stops} ${pendingWriteCtes(step.pendingWrites, control)}, ${claimedStep(step, options, { ordinal, continues })}, verdict_events AS (${verdictEvents(step.judged.verdicts, sql.fragment`claimed`)}
    ), frame_rows AS (
      INSERT INTO run_frames (run_id, seq, frame) ${movedFrames(frames, controlAndClaimed)} ORDER BY 2
    )
    SELECT ${syncCommit(done !== undefined || lost)}, EXISTS (SELECT FROM run) AS active, EXISTS (SELECT FROM claimed) AS claimed,
           (SELECT counted FROM claimed), (SELECT errors FROM claimed), (SELECT attempts FROM claimed), (SELECT generation FROM claimed),
           (SELECT epoch FROM claimed),
           ${stopped},
           (SELECT cost_cap_micros IS NOT NULL OR ${isBudgetedRehearsal} OR EXISTS (
              SELECT FROM budget_holds h WHERE h.run_id = run.id AND h.status = 'open') FROM run) AS budgeted,
           NOT ${lost} AND (coalesce((SELECT revision FROM known_policy) <> ${step.judged.revision}::int, false)
             OR EXISTS (SELECT FROM held WHERE NOT current)) AS stale
  `);
}

const nameOfClaim = (how: Record<'recorded' | 'decided' | 'lost', boolean>): string => {
  const { recorded, decided, lost } = how;
  if (recorded) return 'begin_recorded_step';
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
      epoch: row.epoch ?? 0,
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
    const { error, kind, attempts } = kept;
    return { outcome: 'failed', error: error ?? 'failed', details: { kind, attempts } };
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
  output: storedJson(),
  error: z.string().nullable(),
  kind: z.enum(errorKinds),
  attempts: z.number(),
  /** Its error stands: it was caught, or the run was not resumed since. */
  current: z.boolean(),
});

export async function readOutcome(db: Db, runId: string, stepKey: string) {
  return db.maybeOne(sql.prepared('read_step_outcome', outcomeRow)`
    SELECT s.status, s.output, s.error, coalesce(s.error_kind, 'node') AS kind,
           greatest(1, s.errors - s.forgiven) AS attempts, s.caught OR s.epoch = r.resumed_count AS current
    FROM steps s JOIN runs r ON r.id = s.run_id
    WHERE s.run_id = ${runId} AND s.step_key = ${stepKey}
  `);
}

/** Whether an attempt at a step of this run may still be running. */
export async function hasLiveClaim(db: Db, runId: string): Promise<boolean> {
  return db.oneFirst(sql.prepared('has_live_claim', z.object({ live: z.boolean() }))`
    SELECT EXISTS (SELECT FROM steps WHERE run_id = ${runId} AND claim_until > clock_timestamp()) AS live
  `);
}

export const json = (value: unknown) =>
  value === undefined ? sql.fragment`${null}::json` : sql.fragment`${JSON.stringify(value)}::json`;

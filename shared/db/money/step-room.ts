import { z } from 'zod';
import { overrunModes } from '../../contract/budget.ts';
import {
  admit,
  type Admittance,
  countedCost,
  isCovered,
  type RunRoom,
  type StepCost,
} from '../../spending.ts';
import { type Db, sql, type Tx } from '../pool.ts';
import { applyMoves, committedOf } from './holds.ts';

/** Whether a cap applies to `run`: its own, or perhaps one of a run above it. */
const isCapped = sql.fragment`(run.cost_cap_micros IS NOT NULL OR run.parent_run_id IS NOT NULL)`;

/**
 * The limit that stops a run before its next step, even a free one: a cap, else a budget. Expects a CTE `run` with `id`,
 * `parent_run_id`, `cost_micros`, `cost_cap_micros` and `budget_exempt`. The runs below a run count against its cap. A run
 * within its estimate is never stopped, even when other holds have filled the budget.
 */
export const blockedRun = sql.fragment`
  SELECT NULL::text AS budget_id, NULL::text AS name, c.cost_micros AS committed, c.cap_micros AS limit_micros
  FROM run CROSS JOIN LATERAL capped_spending(run.id, '') AS c
  WHERE ${isCapped} AND (c.cost_micros > c.cap_micros OR c.overrun = 'one_step' AND c.cost_micros = c.cap_micros)
  UNION ALL
  SELECT * FROM (
    SELECT b.id, b.name, c.committed, b.limit_micros
    FROM run JOIN budget_holds h ON h.run_id = run.id AND h.status = 'open'
    JOIN budgets b ON b.id = h.budget_id ${committedOf}
    WHERE NOT run.budget_exempt
      AND (c.committed > b.limit_micros
           OR c.committed = b.limit_micros AND (h.estimate_micros IS NULL OR b.overrun = 'one_step'))
      AND (h.estimate_micros IS NULL OR run.cost_micros - h.base_micros > h.estimate_micros)
    ORDER BY b.id) AS budget`;

/** Whether `run` is a rehearsal of an experiment with a budget, or below one. */
export const isBudgetedRehearsal = sql.fragment`
  ((run.experiment_id IS NOT NULL OR run.parent_run_id IS NOT NULL) AND budgeted_experiment(run.id) IS NOT NULL)`;

/**
 * Whether a step's possible cost must be reserved before it starts. Expects a CTE `run` with `id`, `parent_run_id`,
 * `cost_cap_micros` and `experiment_id`.
 */
export const limitedRun = sql.fragment`
  SELECT FROM run
  WHERE (cost_cap_micros IS NOT NULL
         OR (parent_run_id IS NOT NULL AND EXISTS (
               SELECT FROM runs_above(run.id) AS a WHERE a.cap_micros IS NOT NULL))
         OR EXISTS (SELECT FROM budget_holds h
                    WHERE h.run_id = run.id AND h.status = 'open' AND h.estimate_micros IS NOT NULL)
         OR ${isBudgetedRehearsal})`;

/** The steps in progress of run `r`, as `f`, except the step with this key. */
const inFlight = (exceptStepKey: string) => sql.fragment`
  CROSS JOIN LATERAL (
    SELECT coalesce(sum(s.expected_micros), 0)::bigint AS micros, coalesce(bool_or(s.expected_unknown), false) AS unknown
    FROM steps s
    WHERE s.run_id = r.id AND s.step_key <> ${exceptStepKey} AND s.status = 'running'
      -- An attempt whose worker died counts only until its claim expires.
      AND s.claim_until > clock_timestamp()) AS f`;

const cap = z.object({
  cost: z.number(),
  cap: z.number(),
  inFlight: z.object({ micros: z.number(), unknown: z.boolean() }),
});

const isOneStep = z.enum(overrunModes).transform((overrun) => overrun === 'one_step');

const roomRow = z.object({
  experiment: cap.nullable(),
  caps: z.array(cap.extend({ oneStep: isOneStep })),
  in_flight: z.number(),
  unknown: z.boolean(),
  budgets: z.array(
    z.object({
      budgetId: z.string(),
      name: z.string(),
      limit: z.number(),
      estimate: z.number().nullable(),
      used: z.number(),
      held: z.number(),
      committed: z.number(),
      pending: z.number(),
      pendingUnknown: z.boolean(),
      oneStep: isOneStep,
    }),
  ),
});

/** Whether a step can start, and what it counts as while it runs. */
interface Admitted {
  admittance: Admittance;
  counted: StepCost;
}

/**
 * Decides whether a step can start under the limits of its run: see `admit`. Locks the run's row, after that of its
 * experiment and those of the runs above it with a cap, and its budgets' rows when the step may exceed the run's holds. Each is read by a statement that starts after the lock, so that no value is
 * older than the lock. Undefined when the run does not exist.
 */
export async function admitStep(
  tx: Tx,
  step: { runId: string; stepKey: string; cost: StepCost },
): Promise<Admitted | undefined> {
  const { runId, stepKey, cost } = step;
  await tx.query(sql.prepared('spending_lock_experiment', z.object({}))`
    SELECT FROM experiments WHERE id = budgeted_experiment(${runId}) FOR NO KEY UPDATE`);
  await tx.query(sql.prepared('spending_lock_run', z.object({}))`
    SELECT FROM runs
    WHERE id = ANY (ARRAY(SELECT a.id FROM runs_above(${runId}) AS a WHERE a.cap_micros IS NOT NULL OR a.id = ${runId}))
    ORDER BY depth FOR NO KEY UPDATE`);
  const room = await readRoom(tx, runId, stepKey);
  if (room === undefined) return undefined;
  const found = admitted(room, cost);
  const { admittance, counted } = found;
  if (admittance === 'begin' && (counted.most === 0 || isCovered(room, counted))) return found;
  await tx.query(sql.prepared('spending_lock_budgets', z.object({}))`
    SELECT FROM budgets WHERE id IN (
      SELECT budget_id FROM budget_holds WHERE run_id = ${runId} AND status = 'open' AND estimate_micros IS NOT NULL)
    ORDER BY id FOR NO KEY UPDATE`);
  const held = await readRoom(tx, runId, stepKey);
  return held === undefined ? undefined : admitted(held, cost);
}

const admitted = (room: RunRoom, cost: StepCost): Admitted => {
  const counted = countedCost(room, cost);
  return { admittance: admit(room, counted), counted };
};

async function readRoom(tx: Tx, runId: string, stepKey: string): Promise<RunRoom | undefined> {
  const row = await tx.maybeOne(sql.prepared('spending_read_room', roomRow)`
    SELECT f.micros AS in_flight, f.unknown,
      (SELECT json_build_object('cost', s.spent_micros, 'cap', e.budget_micros, 'inFlight',
                json_build_object('micros', s.pending_micros, 'unknown', s.pending_unknown))
       FROM experiments e CROSS JOIN LATERAL experiment_spending(e.id, r.id, ${stepKey}) AS s
       WHERE e.id = budgeted_experiment(r.id)) AS experiment,
      (SELECT coalesce(json_agg(json_build_object('cost', c.cost_micros, 'cap', c.cap_micros, 'inFlight',
                json_build_object('micros', c.pending_micros, 'unknown', c.pending_unknown),
                'oneStep', c.overrun)), '[]')
       FROM capped_spending(r.id, ${stepKey}) AS c) AS caps,
      coalesce((
        SELECT json_agg(json_build_object(
          'budgetId', b.id, 'name', b.name, 'limit', b.limit_micros, 'estimate', h.estimate_micros,
          'used', r.cost_micros - h.base_micros, 'held', h.held_micros - h.pending_micros, 'committed', c.committed,
          'pending', p.others, 'pendingUnknown', p.unknown, 'oneStep', b.overrun) ORDER BY b.id)
        FROM budget_holds h JOIN budgets b ON b.id = h.budget_id ${committedOf}
        WHERE h.run_id = r.id AND h.status = 'open' AND NOT r.budget_exempt), '[]') AS budgets
    FROM runs r ${inFlight(stepKey)}
    WHERE r.id = ${runId}
  `);
  if (row === null) return undefined;
  const { experiment, caps, in_flight: micros, unknown, budgets } = row;
  return { experiment, caps, inFlight: { micros, unknown }, budgets };
}

/**
 * Sets the holds of a run to its cost plus the possible cost of its steps in progress, where that exceeds the
 * estimates. The caller must have locked the run's row in an earlier statement.
 */
export async function recountHolds(tx: Tx, runId: string): Promise<void> {
  const used = sql.fragment`(r.cost_micros - h.base_micros)`;
  await tx.query(sql.prepared('spending_recount_holds', z.object({}))`
    WITH r AS (
      SELECT r.id, r.cost_micros, f.micros, f.unknown FROM runs r ${inFlight('')} WHERE r.id = ${runId}
    ), recounted AS (
      UPDATE budget_holds h SET
        held_micros = greatest(h.estimate_micros, ${used} + r.micros),
        pending_micros = greatest(h.estimate_micros, ${used} + r.micros) - greatest(h.estimate_micros, ${used}),
        pending_unknown = r.unknown AND ${used} >= h.estimate_micros
      FROM r
      WHERE h.run_id = r.id AND h.status = 'open' AND h.estimate_micros IS NOT NULL
        AND (h.held_micros, h.pending_micros, h.pending_unknown) IS DISTINCT FROM (
          greatest(h.estimate_micros, ${used} + r.micros),
          greatest(h.estimate_micros, ${used} + r.micros) - greatest(h.estimate_micros, ${used}),
          r.unknown AND ${used} >= h.estimate_micros)
      RETURNING h.budget_id, h.window_start, 0::bigint AS spent, new.held_micros - old.held_micros AS reserved
    ), ${applyMoves(sql.fragment`recounted`)}
    SELECT FROM r
  `);
}

/** How many of a workflow's newest runs are searched for node costs, and how many of them count. */
const RUNS_LOOKED_THROUGH = 100;

const RUNS_COUNTED = 5;

/**
 * The highest recent cost of a step of this node, with its retries: in the run itself, in an earlier iteration of a
 * loop, and in the last successful runs of the same version. Null when there is none.
 */
export async function lastCost(
  db: Db,
  { runId, nodeId }: { runId: string; nodeId: string },
): Promise<number | null> {
  return db.oneFirst(sql.prepared('spending_last_cost', z.object({ most: z.number().nullable() }))`
    WITH run AS (
      SELECT id, workflow_id, workflow_version FROM runs WHERE id = ${runId}
    ), newest AS (
      SELECT r.id, r.status, r.workflow_version, r.created_at FROM runs r
      WHERE r.workflow_id = (SELECT workflow_id FROM run)
      ORDER BY r.created_at DESC, r.id DESC LIMIT ${RUNS_LOOKED_THROUGH}
    ), counted AS (
      SELECT id FROM run
      UNION (SELECT n.id FROM newest n JOIN run ON n.workflow_version = run.workflow_version
             WHERE n.status = 'success' ORDER BY n.created_at DESC LIMIT ${RUNS_COUNTED})
    )
    SELECT max(s.cost_micros) AS most FROM counted c JOIN steps s ON s.run_id = c.id
    WHERE s.node_id = ${nodeId} AND s.status = 'success' AND NOT s.unpriced
  `);
}

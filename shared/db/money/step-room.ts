import { z } from 'zod';
import { overrunModes } from '#shared/contract/budget.ts';
import {
  admit,
  type Admittance,
  type BudgetRoom,
  countedCost,
  isCovered,
  type RunRoom,
  type StepCost,
} from '#shared/spending.ts';
import { type Db, sql, type Tx } from '#shared/db/pool.ts';
import {
  applyBothMoves,
  committedOf,
  inFlight,
  lender,
  nearestLender,
  returnUnused,
} from './holds.ts';

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
      releasable: z.number(),
      contained: z.boolean(),
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
 * experiment and those of the runs above it with a cap or with a hold that contains the run's. Takes from such a hold what
 * the step may need beyond the run's. Locks the budgets' rows when the step may exceed that. Each is read by a statement
 * that starts after the lock, so that no value is older than the lock. Undefined when the run does not exist.
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
    WHERE id = ANY (ARRAY(
      SELECT a.id FROM runs_above(${runId}) AS a
      WHERE a.cap_micros IS NOT NULL OR a.id = ${runId} OR EXISTS (
        SELECT FROM budget_holds h WHERE h.run_id = a.id AND h.status = 'open' AND h.estimate_micros IS NOT NULL)))
    ORDER BY depth FOR NO KEY UPDATE`);
  const own = await readRoom(tx, runId, stepKey);
  if (own === undefined) return undefined;
  const needed = countedCost(own, cost);
  const takes = !isCovered(own, needed) && own.budgets.some(({ contained }) => contained);
  if (takes) await takeRoom(tx, { runId, stepKey, most: needed.most });
  const room = takes ? await readRoom(tx, runId, stepKey) : own;
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

/** What the steps in progress of the other runs that share the hold of run `top` may leave of it. */
const releasable = sql.fragment`(
  SELECT coalesce(sum(least(
           greatest(0, o.estimate_micros - (r.cost_micros - o.base_micros)),
           CASE WHEN NOT f.unknown THEN f.micros END)), 0)::bigint
  FROM (SELECT top.id UNION ALL SELECT w.id FROM runs_below(top.id) AS w) AS t
  JOIN runs r ON r.id = t.id AND r.id <> h.run_id ${inFlight('')}
  JOIN budget_holds o ON o.run_id = r.id AND o.budget_id = h.budget_id AND o.status = 'open'
    AND o.window_start = h.window_start AND o.estimate_micros IS NOT NULL AND (o.contained OR o.run_id = top.id))`;

/** Takes what a step may need beyond the contained holds of its run, or all that their lenders have free. */
async function takeRoom(
  tx: Tx,
  { runId, stepKey, most }: { runId: string; stepKey: string; most: number | null },
): Promise<void> {
  await tx.query(sql.prepared('spending_take_room', z.object({}))`
    WITH run AS (
      SELECT r.id, r.parent_run_id, r.cost_micros, f.micros FROM runs r ${inFlight(stepKey)}
      WHERE r.id = ${runId} AND NOT r.budget_exempt
    ), ${lender(sql.fragment`(SELECT parent_run_id FROM run)`)}, taking AS (
      SELECT h.budget_id, h.n, l.run_id AS lender_id, l.n AS lender_n,
             least(l.free, CASE WHEN ${most}::bigint IS NOT NULL THEN greatest(
               0, run.cost_micros - h.base_micros + run.micros + ${most}::bigint - h.estimate_micros) END) AS amount
      FROM run JOIN budget_holds h ON h.run_id = run.id AND h.status = 'open' AND h.contained
      JOIN lender l ON l.budget_id = h.budget_id AND l.window_start = h.window_start
    ), lent AS (
      UPDATE budget_holds l SET estimate_micros = l.estimate_micros - t.amount, held_micros = l.held_micros - t.amount
      FROM taking t
      WHERE l.budget_id = t.budget_id AND l.run_id = t.lender_id AND l.n = t.lender_n AND t.amount > 0
      RETURNING l.budget_id, l.window_start, 0::bigint AS spent, new.held_micros - old.held_micros AS reserved
    ), taken AS (
      UPDATE budget_holds h SET
        estimate_micros = h.estimate_micros + t.amount,
        held_micros = greatest(h.held_micros, h.estimate_micros + t.amount),
        pending_micros = greatest(h.held_micros, h.estimate_micros + t.amount)
                         - greatest(h.held_micros - h.pending_micros, h.estimate_micros + t.amount)
      FROM taking t
      WHERE h.budget_id = t.budget_id AND h.run_id = ${runId} AND h.n = t.n AND t.amount > 0
      RETURNING h.budget_id, h.window_start, 0::bigint AS spent, new.held_micros - old.held_micros AS reserved
    ), ${applyBothMoves(sql.fragment`lent`, sql.fragment`taken`)}
    SELECT FROM run
  `);
}

type Room = Omit<RunRoom, 'budgets'> & {
  budgets: readonly (BudgetRoom & { contained: boolean })[];
};

async function readRoom(tx: Tx, runId: string, stepKey: string): Promise<Room | undefined> {
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
          'pending', p.others, 'pendingUnknown', p.unknown, 'oneStep', b.overrun, 'contained', h.contained,
          'releasable', ${releasable}) ORDER BY b.id)
        FROM budget_holds h JOIN budgets b ON b.id = h.budget_id ${committedOf}
        LEFT JOIN LATERAL ${nearestLender(sql.fragment`r.parent_run_id`, sql.fragment`h`)} AS l ON h.contained
        CROSS JOIN LATERAL (SELECT CASE WHEN h.contained THEN l.run_id ELSE h.run_id END AS id) AS top
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
 * estimates. A contained hold gives back what it has taken above that. The caller must have locked the run's row in an
 * earlier statement.
 */
export async function recountHolds(tx: Tx, runId: string): Promise<void> {
  const used = sql.fragment`(r.cost_micros - h.base_micros)`;
  const estimate = sql.fragment`
    CASE WHEN h.contained AND NOT r.unknown THEN least(h.estimate_micros, ${used} + r.micros) ELSE h.estimate_micros END`;
  const held = sql.fragment`greatest(${estimate}, ${used} + r.micros)`;
  const pending = sql.fragment`${held} - greatest(${estimate}, ${used})`;
  await tx.query(sql.prepared('spending_recount_holds', z.object({}))`
    WITH r AS (
      SELECT r.id, r.cost_micros, f.micros, f.unknown FROM runs r ${inFlight('')} WHERE r.id = ${runId}
    ), recounted AS (
      UPDATE budget_holds h SET
        estimate_micros = ${estimate}, held_micros = ${held}, pending_micros = ${pending},
        pending_unknown = r.unknown AND ${used} >= h.estimate_micros
      FROM r
      WHERE h.run_id = r.id AND h.status = 'open' AND h.estimate_micros IS NOT NULL
        AND (h.estimate_micros, h.held_micros, h.pending_micros, h.pending_unknown) IS DISTINCT FROM (
          ${estimate}, ${held}, ${pending}, r.unknown AND ${used} >= h.estimate_micros)
      RETURNING h.run_id, h.budget_id, h.window_start, 0::bigint AS spent,
        new.held_micros - old.held_micros AS reserved, old.estimate_micros - new.estimate_micros AS unused
    ), ${returnUnused(sql.fragment`recounted`, sql.fragment`SELECT id FROM r`)},
    ${applyBothMoves(sql.fragment`recounted`, sql.fragment`returned`)}
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

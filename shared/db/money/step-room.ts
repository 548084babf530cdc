import { z } from 'zod';
import { overrunModes } from '#shared/contract/money/budget.ts';
import {
  admit,
  type Admittance,
  countedCost,
  isCovered,
  type RunRoom,
  type StepCost,
} from '#shared/money/spending.ts';
import { type Db, statement, type Tx } from '#shared/db/pool.ts';

const cap = z.object({
  cost: z.number(),
  cap: z.number(),
  inFlight: z.object({ micros: z.number(), unknown: z.boolean() }),
});

const isOneStep = z.enum(overrunModes).transform((overrun) => overrun === 'one_step');

const room = z.object({
  experiment: cap.nullable(),
  caps: z.array(cap.extend({ oneStep: isOneStep })),
  inFlight: z.object({ micros: z.number(), unknown: z.boolean() }),
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

const roomRow = z.object({ room: room.nullable() });

/** Whether a step can start, and the cost that is reserved for it while it runs. */
interface Admitted {
  admittance: Admittance;
  counted: StepCost;
}

/**
 * Decides whether a step can start under the limits of its run: see `admit`. Locks the run's row, after that of its
 * experiment and those of the runs above it with a cap or with a hold that contains the run's. Takes from such a hold
 * what the step may need beyond the run's own. Locks the budgets' rows when the step may exceed that. The remaining
 * amounts are read again after each lock, so that no value is stale. Undefined when the run does not exist.
 */
export async function admitStep(
  tx: Tx,
  step: { runId: string; stepKey: string; cost: StepCost },
): Promise<Admitted | undefined> {
  const { runId, stepKey, cost } = step;
  const own = await tx.oneFirst(statement(roomRow)`
    SELECT step_room_1(${runId}, ${stepKey}) AS room FROM lock_limits_1(${runId})`);
  if (own === null) return undefined;
  const needed = countedCost(own, cost);
  const takes = !isCovered(own, needed) && own.budgets.some(({ contained }) => contained);
  const taken = takes
    ? await tx.oneFirst(statement(roomRow)`
        SELECT step_room_1(${runId}, ${stepKey}) AS room FROM take_room_1(${runId}, ${stepKey}, ${needed.most})`)
    : own;
  if (taken === null) return undefined;
  const found = admitted(taken, cost);
  const { admittance, counted } = found;
  if (admittance === 'begin' && (counted.most === 0 || isCovered(taken, counted))) return found;
  const locked = await tx.oneFirst(statement(roomRow)`
    SELECT step_room_1(${runId}, ${stepKey}) AS room FROM lock_budgets_1(${runId})`);
  return locked === null ? undefined : admitted(locked, cost);
}

const admitted = (found: RunRoom, cost: StepCost): Admitted => {
  const counted = countedCost(found, cost);
  return { admittance: admit(found, counted), counted };
};

/** Locks the budgets whose estimate the run holds. */
export async function lockBudgets(tx: Tx, runId: string): Promise<void> {
  await tx.query(statement(z.object({}))`SELECT FROM lock_budgets_1(${runId})`);
}

/**
 * Sets the holds of a run to its cost plus that of its steps in progress. The caller must have locked the run's row.
 */
export async function recountHolds(tx: Tx, runId: string): Promise<void> {
  await tx.query(statement(z.object({}))`
    SELECT FROM recount_holds_1(${runId})`);
}

/** How many of a workflow's newest runs are searched for node costs, and how many of these count. */
const RUNS_LOOKED_THROUGH = 100;

const RUNS_COUNTED = 5;

/**
 * The highest recent cost of a step of this node, with its retries: from earlier loop iterations in the same run, and
 * from the last successful runs of the same version. Null when there is none.
 */
export async function lastCost(
  db: Db,
  { runId, nodeId }: { runId: string; nodeId: string },
): Promise<number | null> {
  return db.oneFirst(statement(z.object({ most: z.number().nullable() }))`
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

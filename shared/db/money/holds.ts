import { z } from 'zod';
import type { PolicyVerdict } from '../../contract/governance.ts';
import { AppError } from '../../errors.ts';
import type { JsonObject } from '../../json.ts';
import { toDollars } from '../../money.ts';
import { admit, type Admittance, isCovered, type RunRoom, type StepCost } from '../../spending.ts';
import { type Db, type FragmentSqlToken, refusalOf, sql, type Tx } from '../pool.ts';

/**
 * Holds of runs on block budgets, as parts of the statements that admit, charge and end runs. The counters are on the
 * budget's row, and only a locked row is trusted. Its lock is taken as late as possible, after the run's, and several
 * in the order of their ids. The same statement writes each change of a counter to the ledger (`budget_holds`), so
 * spent and reserved of a window always equal the sums of its rows.
 */

/**
 * Waits for all transactions that place holds in the workspace (`share_budgets`, which uses the same lock number), and
 * makes later ones wait until the transaction ends. Call it before any other lock. Postgres grants an advisory lock in
 * the order of requests; a row lock that many admissions share might never be free.
 */
export async function lockBudgets(tx: Tx, workspaceId: string): Promise<void> {
  await tx.query(sql.prepared('budgets_lock_workspace', z.object({}))`
    SELECT FROM pg_advisory_xact_lock(4201, hashtext(${workspaceId}))`);
}

/** Waits for transactions that create a budget, and makes later ones wait until the transaction ends. */
export async function shareBudgets(tx: Tx, workspaceId: string): Promise<void> {
  await tx.query(sql.prepared('budgets_share', z.object({}))`
    SELECT FROM share_budgets(${workspaceId})`);
}

/** The current window of a budget `b`. A clock that is slightly behind does not return to the previous window. */
const windowNow = sql.fragment`greatest(b.window_start, budget_window_start(b."window", now()))`;

const countersOf = sql.fragment`
  b.id, b.name, b.limit_micros, b.estimate_micros, ${windowNow} AS window_start,
  CASE WHEN b.window_start < ${windowNow} THEN 0 ELSE b.spent_micros END AS spent,
  CASE WHEN b.window_start < ${windowNow} THEN 0 ELSE b.reserved_micros END AS reserved
  FROM subject s
  JOIN budgets b ON b.workspace_id = s.workspace_id AND (b.workflow_id IS NULL OR b.workflow_id = s.workflow_id)`;

const fits = sql.fragment`
  CASE WHEN s.exempt THEN true
       WHEN b.estimate_micros IS NULL THEN b.spent < b.limit_micros
       ELSE b.spent + b.reserved < b.limit_micros AND b.spent + b.reserved + b.estimate_micros <= b.limit_micros END`;

/**
 * Places the holds of a run that starts or resumes. Expects a CTE `subject` with at most one row: `run_id, n,
 * base_micros, workspace_id, workflow_id, exempt`. Returns `wanted` (the budgets, and whether the hold `fits` each) and
 * writes nothing unless all fit: then the caller has to refuse, see `refusedBudget`.
 *
 * With an estimate a hold fits when committed < limit and committed + estimate <= limit. Without one nothing is
 * reserved or locked: it fits when spent < limit. An exempt run is always admitted and still counted.
 */
export const placeHolds = sql.fragment`
  glanced AS (
    SELECT ${countersOf}
  ), hopeless AS (
    -- Already full without any lock: a flood of refused triggers must not queue for the row.
    SELECT b.* FROM glanced b, subject s WHERE NOT (${fits})
  ), reserving AS (
    -- The snapshot chooses which rows to lock. The estimate then comes from the locked row: it may have been
    -- cleared.
    SELECT ${countersOf} JOIN glanced g ON g.id = b.id
    WHERE g.estimate_micros IS NOT NULL AND NOT EXISTS (SELECT FROM hopeless)
    ORDER BY b.id FOR UPDATE OF b
  ), wanted AS (
    SELECT b.*, CASE WHEN s.exempt THEN 0 ELSE b.estimate_micros END AS estimate, ${fits} AS fits
    FROM (
      SELECT * FROM reserving
      UNION ALL SELECT * FROM glanced WHERE estimate_micros IS NULL
      UNION ALL SELECT * FROM hopeless WHERE estimate_micros IS NOT NULL
    ) b, subject s
  ), reserved AS (
    UPDATE budgets b SET window_start = w.window_start, spent_micros = w.spent, reserved_micros = w.reserved + w.estimate
    FROM wanted w WHERE b.id = w.id AND w.estimate_micros IS NOT NULL AND (SELECT bool_and(fits) FROM wanted)
  ), kept AS (
    -- Unlocked budgets could be deleted before the commit. The foreign key takes the same lock anyway.
    SELECT id FROM budgets WHERE id IN (SELECT id FROM wanted WHERE estimate_micros IS NULL)
    ORDER BY id FOR KEY SHARE
  ), placed AS (
    INSERT INTO budget_holds (budget_id, run_id, n, window_start, base_micros, estimate_micros, held_micros)
    SELECT w.id, s.run_id, s.n, w.window_start, s.base_micros,
           CASE WHEN w.estimate_micros IS NOT NULL THEN w.estimate END,
           CASE WHEN w.estimate_micros IS NOT NULL THEN w.estimate ELSE 0 END
    FROM wanted w, subject s
    WHERE (w.estimate_micros IS NOT NULL OR w.id IN (SELECT id FROM kept)) AND (SELECT bool_and(fits) FROM wanted)
  )`;

/** Rows of a CTE `refused`: these end the statement when a budget has no room. */
export const refusedBudget = sql.fragment`
  SELECT * FROM (
    SELECT refuse('budget', json_build_object('budget_id', id, 'name', name, 'limit_micros', limit_micros,
                  'committed_micros', CASE WHEN estimate_micros IS NULL THEN spent ELSE spent + reserved END,
                  'estimate_micros', estimate_micros))
    FROM wanted WHERE NOT fits ORDER BY id LIMIT 1) AS budget`;

/** Applies `moves` (budget_id, window_start, spent, reserved: the amounts to add) to the counters. */
const applyMoves = (moves: FragmentSqlToken) => sql.fragment`
  counted AS (
    UPDATE budgets b SET
      window_start = greatest(b.window_start, m.window_start),
      spent_micros = CASE WHEN b.window_start < m.window_start THEN 0 ELSE b.spent_micros END
                     + CASE WHEN b.window_start > m.window_start THEN 0 ELSE m.spent END,
      reserved_micros = greatest(0, CASE WHEN b.window_start < m.window_start THEN 0 ELSE b.reserved_micros END
                        + CASE WHEN b.window_start > m.window_start THEN 0 ELSE m.reserved END)
    FROM (
      -- The counters can only belong to the newest of a budget's windows.
      SELECT DISTINCT ON (budget_id) budget_id, window_start, sum(spent)::bigint AS spent,
             sum(reserved)::bigint AS reserved
      FROM ${moves} AS moves
      JOIN (SELECT id FROM budgets WHERE id IN (SELECT budget_id FROM ${moves} AS m) ORDER BY id FOR UPDATE) AS held
        ON held.id = moves.budget_id
      GROUP BY budget_id, window_start ORDER BY budget_id, window_start DESC
    ) AS m
    WHERE b.id = m.budget_id
  )`;

/**
 * Closes the open holds of runs that end: the cost since a hold was placed becomes spent, in the window of the hold.
 * Expects a CTE `run` with `id` and `cost_micros`. A hold closes only once.
 */
export const closeHolds = (status: 'settled' | 'reaped' = 'settled') => sql.fragment`
  closed_holds AS (
    UPDATE budget_holds h SET status = ${status}, closed_at = now(), held_micros = 0, pending_micros = 0,
      pending_unknown = false,
      spent_micros = greatest(run.cost_micros - h.base_micros, 0)
    FROM run WHERE h.run_id = run.id AND h.status = 'open'
    RETURNING h.budget_id, h.window_start, new.spent_micros AS spent, -old.held_micros AS reserved
  ), ${applyMoves(sql.fragment`closed_holds`)}`;

/**
 * Counts a step's cost. Expects a CTE `run` that has just locked the run's row: `id`, `workspace_id`, `created_at`,
 * `created_by`, `resumed_count` and the new `cost_micros`. Open holds with an estimate grow when the run has cost more
 * than they hold; closed holds get the cost added.
 *
 * The statement may have waited for that lock, so its snapshot of other tables can be older than the run's row. It
 * therefore finds the holds by columns that never change, and reads from the locked row whether they are open. Holds
 * that a resume placed during the wait are not visible, and need no change: they started before this cost was added.
 */
export const chargeHolds = (costMicros: number) => sql.fragment`
  used AS (
    INSERT INTO usage_deltas (workspace_id, day, cost_micros, member_id)
    SELECT workspace_id, created_at::date, ${costMicros}::bigint, created_by FROM run
  ), charges AS (
    UPDATE budget_holds h SET
      held_micros = CASE WHEN h.status = 'open' AND h.estimate_micros IS NOT NULL
                         THEN greatest(h.held_micros, run.cost_micros - h.base_micros) ELSE h.held_micros END,
      spent_micros = CASE WHEN h.status = 'open' THEN h.spent_micros ELSE h.spent_micros + ${costMicros}::bigint END
    FROM run WHERE h.run_id = run.id AND h.n = run.resumed_count
    RETURNING h.budget_id, h.window_start, new.spent_micros - old.spent_micros AS spent,
              new.held_micros - old.held_micros AS reserved
  ), ${applyMoves(sql.fragment`charges`)}`;

/**
 * `committed`: the committed amount of a budget `b` in the window of a hold `h`. `p`: what steps in progress may cost
 * beyond the estimates of their runs; the counters include it.
 */
const committedOf = sql.fragment`
  CROSS JOIN LATERAL (
    SELECT coalesce(sum(o.pending_micros), 0)::bigint AS pending,
           coalesce(sum(o.pending_micros) FILTER (WHERE o.run_id <> h.run_id), 0)::bigint AS others,
           coalesce(bool_or(o.pending_unknown) FILTER (WHERE o.run_id <> h.run_id), false) AS unknown
    FROM budget_holds o
    WHERE o.budget_id = b.id AND (o.pending_micros > 0 OR o.pending_unknown)
      AND o.status = 'open' AND o.window_start = h.window_start) AS p
  CROSS JOIN LATERAL (SELECT CASE
    WHEN b.window_start = h.window_start AND h.estimate_micros IS NULL THEN b.spent_micros
    WHEN b.window_start = h.window_start THEN b.spent_micros + b.reserved_micros - p.pending
    -- The window has passed; only its ledger rows are left.
    ELSE (SELECT coalesce(sum(o.spent_micros + o.held_micros - o.pending_micros), 0)::bigint FROM budget_holds o
          WHERE o.budget_id = b.id AND o.window_start = h.window_start) END AS committed) AS c`;

/**
 * What stops a run before its next step: its own cap, else a budget. Expects a CTE `run` with `id`, `cost_micros`,
 * `cost_cap_micros` and `budget_exempt`. A run within its estimate is never stopped, even when other holds have filled
 * the budget.
 */
export const blockedRun = sql.fragment`
  SELECT NULL::text AS budget_id, NULL::text AS name, run.cost_micros AS committed, run.cost_cap_micros AS limit_micros
  FROM run WHERE run.cost_micros >= run.cost_cap_micros
  UNION ALL
  SELECT * FROM (
    SELECT b.id, b.name, c.committed, b.limit_micros
    FROM run JOIN budget_holds h ON h.run_id = run.id AND h.status = 'open'
    JOIN budgets b ON b.id = h.budget_id ${committedOf}
    WHERE NOT run.budget_exempt AND c.committed >= b.limit_micros
      AND (h.estimate_micros IS NULL OR run.cost_micros - h.base_micros > h.estimate_micros)
    ORDER BY b.id) AS budget`;

/**
 * Whether a step's possible cost must be reserved before it starts. Expects a CTE `run` with `id` and
 * `cost_cap_micros`.
 */
export const limitedRun = sql.fragment`
  SELECT FROM run
  WHERE (cost_cap_micros IS NOT NULL
         OR EXISTS (SELECT FROM budget_holds h
                    WHERE h.run_id = run.id AND h.status = 'open' AND h.estimate_micros IS NOT NULL))`;

/** The steps in progress of run `r`, as `f`, except the step with this key. */
const inFlight = (exceptStepKey: string) => sql.fragment`
  CROSS JOIN LATERAL (
    SELECT coalesce(sum(s.expected_micros), 0)::bigint AS micros, coalesce(bool_or(s.expected_unknown), false) AS unknown
    FROM steps s
    WHERE s.run_id = r.id AND s.step_key <> ${exceptStepKey} AND s.status = 'running'
      -- An attempt whose worker died counts only until its claim expires.
      AND s.claim_until > clock_timestamp()) AS f`;

const roomRow = z.object({
  cost: z.number(),
  cap: z.number().nullable(),
  in_flight: z.number(),
  unknown: z.boolean(),
  budgets: z.array(
    z.object({
      budgetId: z.string(),
      name: z.string(),
      limit: z.number(),
      estimate: z.number().nullable(),
      used: z.number(),
      committed: z.number(),
      pending: z.number(),
      pendingUnknown: z.boolean(),
    }),
  ),
});

/**
 * Decides whether a step can start under the limits of its run: see `admit`. Locks the run's row, and its budgets' rows
 * when the step may exceed the run's holds. Each is read by a statement that starts after the lock, so that no value is
 * older than the lock. Undefined when the run does not exist.
 */
export async function admitStep(
  tx: Tx,
  step: { runId: string; stepKey: string; cost: StepCost },
): Promise<Admittance | undefined> {
  const { runId, stepKey, cost } = step;
  await tx.query(sql.prepared('spending_lock_run', z.object({}))`
    SELECT FROM runs WHERE id = ${runId} FOR NO KEY UPDATE`);
  const room = await readRoom(tx, runId, stepKey);
  if (room === undefined) return undefined;
  const admittance = admit(room, cost);
  if (admittance === 'begin' && (cost.most === 0 || isCovered(room, cost))) return admittance;
  await tx.query(sql.prepared('spending_lock_budgets', z.object({}))`
    SELECT FROM budgets WHERE id IN (
      SELECT budget_id FROM budget_holds WHERE run_id = ${runId} AND status = 'open' AND estimate_micros IS NOT NULL)
    ORDER BY id FOR NO KEY UPDATE`);
  const held = await readRoom(tx, runId, stepKey);
  return held === undefined ? undefined : admit(held, cost);
}

async function readRoom(tx: Tx, runId: string, stepKey: string): Promise<RunRoom | undefined> {
  const row = await tx.maybeOne(sql.prepared('spending_read_room', roomRow)`
    SELECT r.cost_micros AS cost, r.cost_cap_micros AS cap, f.micros AS in_flight, f.unknown,
      coalesce((
        SELECT json_agg(json_build_object(
          'budgetId', b.id, 'name', b.name, 'limit', b.limit_micros, 'estimate', h.estimate_micros,
          'used', r.cost_micros - h.base_micros, 'committed', c.committed, 'pending', p.others,
          'pendingUnknown', p.unknown) ORDER BY b.id)
        FROM budget_holds h JOIN budgets b ON b.id = h.budget_id ${committedOf}
        WHERE h.run_id = r.id AND h.status = 'open' AND NOT r.budget_exempt), '[]') AS budgets
    FROM runs r ${inFlight(stepKey)}
    WHERE r.id = ${runId}
  `);
  if (row === null) return undefined;
  const { cost, cap, in_flight: micros, unknown, budgets } = row;
  return { cost, cap, inFlight: { micros, unknown }, budgets };
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

/** Why a run cannot start or continue because of a cap or a budget. */
export interface Blocked {
  /** Null: the run's own cap. */
  budgetId: string | null;
  name: string | null;
  committedMicros: number;
  limitMicros: number;
  /** The hold that the run would need; only for a run that has not started. */
  estimateMicros?: number | null;
}

/** Two decimals, or six when the amount is not a whole number of cents. */
const usd = (micros: number): string => toDollars(micros).toFixed(micros % 10_000 === 0 ? 2 : 6);

/**
 * The message for the caller or the failed run. Below the limit, the message includes the estimate that does not fit.
 */
export function blockedText(blocked: Blocked): string {
  const { name, committedMicros, limitMicros, estimateMicros } = blocked;
  const amounts = `$${usd(committedMicros)} of $${usd(limitMicros)}`;
  if (name === null) return `Run cost cap reached: ${amounts} spent`;
  const text = `Budget '${name}' exhausted: ${amounts} committed`;
  if (estimateMicros == null || committedMicros >= limitMicros) return text;
  return `${text}; this run needs an estimate of $${usd(estimateMicros)}`;
}

/** The evidence of a governance event. */
export const blockedEvidence = (blocked: Blocked): JsonObject => ({
  ...(blocked.budgetId === null ? {} : { budget_id: blocked.budgetId, budget: blocked.name }),
  committed_usd: toDollars(blocked.committedMicros),
  limit_usd: toDollars(blocked.limitMicros),
  ...(blocked.estimateMicros == null ? {} : { estimate_usd: toDollars(blocked.estimateMicros) }),
});

/** The verdict of a cap or a budget. */
export const blockedVerdict = (blocked: Blocked): PolicyVerdict =>
  stoppedVerdict(blockedText(blocked), blockedEvidence(blocked));

/** The same verdict from the text and evidence that an execution returned. */
export const stoppedVerdict = (reason: string, evidence: JsonObject): PolicyVerdict => ({
  type: 'budget_blocked',
  policy: 'budget',
  decision: 'blocked',
  reason,
  evidence,
});

const budgetFacts = z.object({
  budget_id: z.string(),
  name: z.string(),
  limit_micros: z.number(),
  committed_micros: z.number(),
  estimate_micros: z.number().nullable(),
});

/** AppError `budget_exceeded` with the cap or budget. */
export class BudgetExceeded extends AppError {
  readonly blocked: Blocked;

  constructor(blocked: Blocked) {
    super('budget_exceeded', blockedText(blocked));
    this.blocked = blocked;
  }
}

/** The error to throw for a budget refusal; other errors unchanged. */
export function asBudgetError(error: unknown): unknown {
  const refusal = refusalOf(error);
  if (refusal?.reason !== 'budget') return error;
  const facts = budgetFacts.parse(refusal.facts);
  return new BudgetExceeded({
    budgetId: facts.budget_id,
    name: facts.name,
    limitMicros: facts.limit_micros,
    committedMicros: facts.committed_micros,
    estimateMicros: facts.estimate_micros,
  });
}

const reapedRow = z.object({ reaped: z.number() });

/**
 * Closes holds of runs that are deleted or have ended without closing them. At most `limit` runs at a time; holds
 * younger than `graceMs` are skipped. Returns how many were closed.
 */
export async function reapHolds(db: Db, limit: number, graceMs: number): Promise<number> {
  return db.oneFirst(sql.prepared('holds_reap', reapedRow)`
    WITH orphans AS (
      SELECT h.run_id, coalesce(r.cost_micros, 0) AS cost_micros
      FROM budget_holds h LEFT JOIN runs r ON r.id = h.run_id
      WHERE h.status = 'open' AND h.opened_at < now() - ${graceMs}::int * interval '1 ms'
        AND (r.id IS NULL OR r.status IN ('success', 'failed'))
      ORDER BY h.opened_at LIMIT ${limit}
      FOR UPDATE OF h SKIP LOCKED
    ), run AS (
      SELECT DISTINCT run_id AS id, cost_micros FROM orphans
    ), ${closeHolds('reaped')}
    SELECT count(*) AS reaped FROM closed_holds
  `);
}

import { z } from 'zod';
import type { PolicyVerdict } from '../../contract/governance.ts';
import { AppError } from '../../errors.ts';
import type { JsonObject } from '../../json.ts';
import { toDollars } from '../../money.ts';
import { admit, type Admittance, isCovered, type RunRoom, type StepCost } from '../../spending.ts';
import { type Db, type FragmentSqlToken, refusalOf, sql, type Tx } from '../pool.ts';

/**
 * Holds of runs on block budgets, as parts of the statements that admit, charge and end runs. Counters stand on the
 * budget's row and only the row that is held is trusted: its lock is taken as late as can be, several in the order
 * of their ids, after the run's. Every move of a counter is written in the ledger (`budget_holds`) by the same
 * statement, so that spent and reserved of a window are the sums of its rows at any moment.
 */

/**
 * Waits for all who place holds in the workspace (`share_budgets`, whose number this is), and lets later ones wait until
 * the transaction ends. To be called before any other lock is taken. An advisory lock is granted in the order of asking:
 * a row lock that one admission after the other shares might never be free.
 */
export async function lockBudgets(tx: Tx, workspaceId: string): Promise<void> {
  await tx.query(sql.prepared('budgets_lock_workspace', z.object({}))`
    SELECT FROM pg_advisory_xact_lock(4201, hashtext(${workspaceId}))`);
}

/** Waits for whoever creates a budget, and lets later ones wait until the transaction ends. */
export async function shareBudgets(tx: Tx, workspaceId: string): Promise<void> {
  await tx.query(sql.prepared('budgets_share', z.object({}))`
    SELECT FROM share_budgets(${workspaceId})`);
}

/** The current window of a budget `b`. A clock a little behind does not bring back the window before. */
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
 * Places the holds of a run that is about to start or to go on. Expects a CTE `subject` with at most one row:
 * `run_id, n, base_micros, workspace_id, workflow_id, exempt`. Gives `wanted` (the budgets, and whether the hold
 * `fits` each) and writes nothing unless all fit: then the caller has to refuse, see `refusedBudget`.
 *
 * With an estimate a hold fits when committed < limit and committed + estimate <= limit. Without one nothing is
 * reserved, so nothing is locked: it fits when spent < limit. An exempt run is let in and still counted.
 */
export const placeHolds = sql.fragment`
  glanced AS (
    SELECT ${countersOf}
  ), hopeless AS (
    -- Full already without anybody being waited for: a flood of refused triggers must not queue for the row.
    SELECT b.* FROM glanced b, subject s WHERE NOT (${fits})
  ), reserving AS (
    -- The snapshot chooses what is locked. The estimate is then the locked row's: it may have been cleared.
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
    -- Those that are not locked may be deleted meanwhile. The lock is the one that the foreign key takes anyway.
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

/** Rows of a CTE `refused`: what ends the statement when a budget has no room. */
export const refusedBudget = sql.fragment`
  SELECT * FROM (
    SELECT refuse('budget', json_build_object('budget_id', id, 'name', name, 'limit_micros', limit_micros,
                  'committed_micros', CASE WHEN estimate_micros IS NULL THEN spent ELSE spent + reserved END,
                  'estimate_micros', estimate_micros))
    FROM wanted WHERE NOT fits ORDER BY id LIMIT 1) AS budget`;

/** Applies `moves` (budget_id, window_start, spent, reserved: what is added to each) to the counters. */
const applyMoves = (moves: FragmentSqlToken) => sql.fragment`
  counted AS (
    UPDATE budgets b SET
      window_start = greatest(b.window_start, m.window_start),
      spent_micros = CASE WHEN b.window_start < m.window_start THEN 0 ELSE b.spent_micros END
                     + CASE WHEN b.window_start > m.window_start THEN 0 ELSE m.spent END,
      reserved_micros = greatest(0, CASE WHEN b.window_start < m.window_start THEN 0 ELSE b.reserved_micros END
                        + CASE WHEN b.window_start > m.window_start THEN 0 ELSE m.reserved END)
    FROM (
      -- Of a budget's windows only the newest can be the one its counters are of.
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
 * Ends the open holds of runs that end: what each cost since its hold was placed is spent, in the window the hold was
 * placed in. Expects a CTE `run` with `id` and `cost_micros`. A hold ends once, whoever comes first.
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
 * Counts what a step cost. Expects a CTE `run` that has just locked the run's row: `id`, `workspace_id`, `created_at`,
 * `created_by`, `resumed_count` and the new `cost_micros`. Open holds with an estimate grow when the run has cost more
 * than they hold; to those that have ended the cost is added.
 *
 * The statement may have waited for that lock, so what it sees of other tables can be older than the run's row. Hence
 * the holds are found by what never changes, and whether they are open is asked of the row as it is held. Holds that
 * a resume has placed meanwhile are not seen at all, and need nothing: they began before this cost was added.
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
 * What is really committed of a budget `b` in the window of a hold `h` on it, and `p`: what steps at work may still
 * cost beyond the estimates of their runs, which the counters have in them.
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
    -- The window has passed; only its ledger still knows it.
    ELSE (SELECT coalesce(sum(o.spent_micros + o.held_micros - o.pending_micros), 0)::bigint FROM budget_holds o
          WHERE o.budget_id = b.id AND o.window_start = h.window_start) END AS committed) AS c`;

/**
 * What stops a run before its next step: its own cap, else a budget. Expects a CTE `run` with `id`, `cost_micros`,
 * `cost_cap_micros` and `budget_exempt`. A run within its estimate is never stopped: that much is its own, also when it
 * has used all of it and the holds of others have filled the budget.
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
 * Whether what a step may cost has to be counted before it begins. Expects a CTE `run` with `id` and
 * `cost_cap_micros`.
 */
export const limitedRun = sql.fragment`
  SELECT FROM run
  WHERE (cost_cap_micros IS NOT NULL
         OR EXISTS (SELECT FROM budget_holds h
                    WHERE h.run_id = run.id AND h.status = 'open' AND h.estimate_micros IS NOT NULL))`;

/** The steps of run `r` that are at work, as `f`; without the step of this key. */
const inFlight = (exceptStepKey: string) => sql.fragment`
  CROSS JOIN LATERAL (
    SELECT coalesce(sum(s.expected_micros), 0)::bigint AS micros, coalesce(bool_or(s.expected_unknown), false) AS unknown
    FROM steps s
    WHERE s.run_id = r.id AND s.step_key <> ${exceptStepKey} AND s.status = 'running'
      -- An attempt whose worker died counts no longer than its claim lasts.
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
 * Decides whether a step may begin under the limits of its run: see `admit`. Holds the run's row from here on, and
 * those of its budgets when the step may go beyond what the run holds. Each is read by a statement that begins after
 * the rows are held, so that nothing it sees is older than they are. Undefined when the run is gone.
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
 * Lets the holds of a run be what it has cost and what its steps at work may cost, where that is more than their
 * estimates. The caller holds the run's row, since an earlier statement.
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

/** How many of a workflow's newest runs are looked through for what its nodes cost, and how many of them count. */
const RUNS_LOOKED_THROUGH = 100;
const RUNS_COUNTED = 5;

/**
 * The most that a step of this node has cost lately, with its retries: in the run itself, in an earlier round of a
 * loop, and in the last runs of the same version that ended well. Null when there is none.
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

/** Why a run may not start or go on for the sake of money. */
export interface Blocked {
  /** Null: the run's own cap. */
  budgetId: string | null;
  name: string | null;
  committedMicros: number;
  limitMicros: number;
  /** What the run would have to hold; only of a run that has not begun. */
  estimateMicros?: number | null;
}

/** Two decimals, or as many as the amount has. */
const usd = (micros: number): string => toDollars(micros).toFixed(micros % 10_000 === 0 ? 2 : 6);

/** The sentence a caller or a failed run is given. Below the limit it is the estimate that does not fit: it says so. */
export function blockedText(blocked: Blocked): string {
  const { name, committedMicros, limitMicros, estimateMicros } = blocked;
  const amounts = `$${usd(committedMicros)} of $${usd(limitMicros)}`;
  if (name === null) return `Run cost cap reached: ${amounts} spent`;
  const text = `Budget '${name}' exhausted: ${amounts} committed`;
  if (estimateMicros == null || committedMicros >= limitMicros) return text;
  return `${text}; this run needs an estimate of $${usd(estimateMicros)}`;
}

/** What a governance event says of it. */
export const blockedEvidence = (blocked: Blocked): JsonObject => ({
  ...(blocked.budgetId === null ? {} : { budget_id: blocked.budgetId, budget: blocked.name }),
  committed_usd: toDollars(blocked.committedMicros),
  limit_usd: toDollars(blocked.limitMicros),
  ...(blocked.estimateMicros == null ? {} : { estimate_usd: toDollars(blocked.estimateMicros) }),
});

/** The verdict that a cap or a budget gave. */
export const blockedVerdict = (blocked: Blocked): PolicyVerdict =>
  stoppedVerdict(blockedText(blocked), blockedEvidence(blocked));

/** The same from its text and evidence, as they come back through an execution. */
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

/** AppError `budget_exceeded` with what it is about. */
export class BudgetExceeded extends AppError {
  readonly blocked: Blocked;

  constructor(blocked: Blocked) {
    super('budget_exceeded', blockedText(blocked));
    this.blocked = blocked;
  }
}

/** The error to throw instead of a budget's refusal; anything else as it is. */
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
 * Ends holds that nobody will end: their run is gone, or has ended without them. At most `limit` runs at a time;
 * holds younger than `graceMs` are left alone. Returns how many were ended.
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

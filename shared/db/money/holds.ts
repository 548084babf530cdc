import { z } from 'zod';
import { type Db, type FragmentSqlToken, sql, type Tx } from '#shared/db/pool.ts';

/**
 * Holds of runs on block budgets, as parts of the statements that charge and end runs; the database function `place_holds_1`
 * places them. The counters are on the budget's row, and only a locked row is trusted. Its lock is taken as late as possible, after the run's, and several
 * in the order of their ids. The same statement writes each change of a counter to the ledger (`budget_holds`), so
 * spent and reserved of a window always equal the sums of its rows.
 *
 * The hold of a run that another one started is contained in the hold of the nearest run above it that placed an estimate:
 * its lender. It has no estimate of its own. It takes what a request needs from the part of the lender's that nothing uses,
 * and gives back what the request did not use: `estimate_micros` moves from one hold to the other.
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

/** The steps in progress of run `r`, as `f`, except the step with this key. */
export const inFlight = (exceptStepKey: string) => sql.fragment`
  CROSS JOIN LATERAL (
    SELECT coalesce(sum(s.expected_micros), 0)::bigint AS micros, coalesce(bool_or(s.expected_unknown), false) AS unknown
    FROM steps s
    WHERE s.run_id = r.id AND s.step_key <> ${exceptStepKey} AND s.status = 'running'
      -- An attempt whose worker died counts only until its claim expires.
      AND s.claim_until > clock_timestamp()) AS f`;

/** A CTE: by budget, the lender of the runs that `parent` starts, and what is free in its hold. */
export const lender = (parent: FragmentSqlToken) => sql.fragment`
  lender AS (
    SELECT DISTINCT ON (h.budget_id) h.budget_id, h.run_id, h.n, h.window_start,
           greatest(0, h.estimate_micros - (r.cost_micros - h.base_micros) - f.micros)::bigint AS free
    FROM runs_above(${parent}) AS a JOIN runs r ON r.id = a.id ${inFlight('')}
    JOIN budget_holds h ON h.run_id = r.id AND ${isLender(sql.fragment`h`)}
    ORDER BY h.budget_id, a.depth DESC
  )`;

const isLender = (hold: FragmentSqlToken) =>
  sql.fragment`${hold}.status = 'open' AND NOT ${hold}.contained AND ${hold}.estimate_micros IS NOT NULL`;

/** The lender of the runs that `parent` starts for one row with `budget_id` and `window_start`. */
export const nearestLender = (parent: FragmentSqlToken, row: FragmentSqlToken) => sql.fragment`(
  SELECT o.budget_id, o.run_id, o.n FROM runs_above(${parent}) AS a
  JOIN budget_holds o ON o.run_id = a.id AND ${isLender(sql.fragment`o`)}
  WHERE o.budget_id = ${row}.budget_id AND o.window_start = ${row}.window_start
  ORDER BY a.depth DESC LIMIT 1)`;

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
 * Gives the amounts `unused` of a CTE (`run_id, budget_id, window_start, unused`) back to the lenders of those runs, as a
 * CTE `returned`. A lender among `ended` has closed its hold in the same statement, and one that has ended before gets
 * nothing: then no one holds the amount any longer.
 */
export const returnUnused = (from: FragmentSqlToken, ended: FragmentSqlToken) => sql.fragment`
  returned AS (
    UPDATE budget_holds l SET
      estimate_micros = l.estimate_micros + g.unused,
      held_micros = greatest(l.held_micros, l.estimate_micros + g.unused),
      pending_micros = greatest(l.held_micros, l.estimate_micros + g.unused)
                       - greatest(l.held_micros - l.pending_micros, l.estimate_micros + g.unused)
    FROM (
      SELECT o.budget_id, o.run_id, o.n, sum(c.unused)::bigint AS unused
      FROM ${from} AS c JOIN runs r ON r.id = c.run_id
      CROSS JOIN LATERAL ${nearestLender(sql.fragment`r.parent_run_id`, sql.fragment`c`)} AS o
      WHERE c.unused > 0 AND o.run_id NOT IN (${ended})
      GROUP BY o.budget_id, o.run_id, o.n ORDER BY o.budget_id, o.run_id
    ) AS g
    WHERE l.budget_id = g.budget_id AND l.run_id = g.run_id AND l.n = g.n AND l.status = 'open'
    RETURNING l.budget_id, l.window_start, 0::bigint AS spent, new.held_micros - old.held_micros AS reserved
  )`;

/**
 * Applies the moves of two CTEs. They are joined in a CTE of their own: a row that is locked after a wait is checked again,
 * and Postgres keeps the rows of a CTE for that, but not those of a union.
 */
export const applyBothMoves = (one: FragmentSqlToken, other: FragmentSqlToken) => sql.fragment`
  moved AS MATERIALIZED (
    SELECT budget_id, window_start, spent, reserved FROM ${one}
    UNION ALL SELECT budget_id, window_start, spent, reserved FROM ${other}
  ), ${applyMoves(sql.fragment`moved`)}`;

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
    RETURNING h.run_id, h.budget_id, h.window_start, new.spent_micros AS spent, -old.held_micros AS reserved,
      CASE WHEN h.contained THEN greatest(0, old.estimate_micros - new.spent_micros) ELSE 0 END AS unused
  ), ${returnUnused(sql.fragment`closed_holds`, sql.fragment`SELECT id FROM run`)},
  ${applyBothMoves(sql.fragment`closed_holds`, sql.fragment`returned`)}`;

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
 * `committed`: the committed amount of a budget `b` in the window of a hold `h`. `p`: the possible cost of steps in
 * progress beyond the estimates of their runs, which the counters include.
 */
export const committedOf = sql.fragment`
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

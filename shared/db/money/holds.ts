import { z } from 'zod';
import { type Db, statement, type Tx } from '#shared/db/pool.ts';

/**
 * Holds of runs on block budgets. Database functions place them (`place_holds_1`), charge them with the cost of steps
 * (`charge_holds_1`), set them to what steps in progress may cost (`recount_holds_1`) and close them (`close_holds_1`).
 * The counters are on the budget's row, and only a locked row is trusted. Its lock is taken as late as possible: after
 * the run's, before a hold is changed, and several in the order of their ids. Each change of a counter is also one of
 * the ledger (`budget_holds`), so spent and reserved of a window always equal the sums of its rows.
 *
 * The hold of a child run is part of the hold of the nearest run above it that placed an estimate: its lender. It has
 * no estimate of its own. It takes what a request needs from the unused part of the lender's hold, and returns what the
 * request did not use: `estimate_micros` moves from one hold to the other.
 */

/**
 * Waits for all transactions that place holds in the workspace (`share_budgets`, which uses the same lock number), and
 * makes later ones wait until the transaction ends. Call it before any other lock. Postgres grants an advisory lock in
 * the order of requests; a row lock that many admissions share might never be free.
 */
export async function lockBudgets(tx: Tx, workspaceId: string): Promise<void> {
  await tx.query(statement(z.object({}))`
    SELECT FROM pg_advisory_xact_lock(4201, hashtext(${workspaceId}))`);
}

/** Waits for transactions that create a budget, and makes later ones wait until the transaction ends. */
export async function shareBudgets(tx: Tx, workspaceId: string): Promise<void> {
  await tx.query(statement(z.object({}))`
    SELECT FROM share_budgets(${workspaceId})`);
}

const reapedRow = z.object({ reaped: z.number() });

/**
 * Closes holds of runs that were deleted, or that ended without closing them. Processes up to `limit` runs, and skips
 * holds younger than `graceMs`. Returns how many were closed.
 */
export async function reapHolds(db: Db, limit: number, graceMs: number): Promise<number> {
  return db.oneFirst(statement(reapedRow)`
    SELECT reap_holds_1(now() - ${graceMs}::int * interval '1 ms', ${limit}) AS reaped
  `);
}

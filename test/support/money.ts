import { expect } from '@jest/globals';
import { z } from 'zod';
import { type Pool, sql } from '#shared/db/pool.ts';

const row = z.object({
  id: z.string(),
  spent: z.number(),
  reserved: z.number(),
  ledger_spent: z.number(),
  ledger_reserved: z.number(),
});

/** The counters of every budget are the sums of its ledger, and only open runs hold reservations. */
export async function expectLedgerToAgree(db: Pool): Promise<void> {
  const rows = await db.any(sql.type(row)`
    SELECT b.id, b.spent_micros AS spent, b.reserved_micros AS reserved,
           coalesce(sum(h.spent_micros) FILTER (WHERE h.window_start = b.window_start), 0) AS ledger_spent,
           coalesce(sum(h.held_micros) FILTER (WHERE h.window_start = b.window_start), 0) AS ledger_reserved
    FROM budgets b LEFT JOIN budget_holds h ON h.budget_id = b.id GROUP BY b.id
  `);
  for (const { id, spent, reserved, ledger_spent, ledger_reserved } of rows) {
    expect([id, spent, reserved]).toEqual([id, ledger_spent, ledger_reserved]);
  }
  const strays = await db.any(sql.type(z.object({ run_id: z.string() }))`
    SELECT h.run_id FROM budget_holds h LEFT JOIN runs r ON r.id = h.run_id
    WHERE h.status = 'open' AND (r.id IS NULL OR r.status IN ('success', 'failed'))
  `);
  expect(strays).toEqual([]);
}

/** The cost of every run is the sum of its steps, and usage is the sum of all runs, including deleted ones. */
export async function expectCostsToAgree(db: Pool, deletedMicros = 0): Promise<void> {
  const sums = await db.one(sql.type(
    z.object({ runs: z.number(), steps: z.number(), usage: z.number() }),
  )`
    SELECT (SELECT coalesce(sum(cost_micros), 0) FROM runs) AS runs,
           (SELECT coalesce(sum(cost_micros), 0) FROM steps) AS steps,
           (SELECT coalesce(sum(cost_micros), 0) FROM usage_deltas)
           + (SELECT coalesce(sum(cost_micros), 0) FROM usage_days) AS usage
  `);
  expect(sums).toEqual({ runs: sums.runs, steps: sums.runs, usage: sums.runs + deletedMicros });
}

import { z } from 'zod';
import { type BudgetHistory, TOTAL_HISTORY_DAYS } from '#shared/contract/money/budget.ts';
import { notFound } from '#shared/errors.ts';
import { toDollars } from '#shared/money/money.ts';
import { currentWindow, windowBounds } from './budgets.ts';
import { type Db, statement } from '#shared/db/pool.ts';

const historyRow = z.object({
  limit_micros: z.number(),
  window_start: z.string().nullable(),
  window_end: z.string().nullable(),
  days: z.array(z.object({ date: z.string(), spent_micros: z.number() })),
});

/**
 * The spend in a budget's current window by the UTC day on which holds closed, or in recent days for a budget without a
 * window. Read from the ledger, whose sums always equal the counters, so the days of a window add up to its spend.
 * Throws AppError `not_found`.
 */
export async function readBudgetHistory(
  db: Db,
  scope: { workspaceId: string; budgetId: string },
): Promise<BudgetHistory> {
  // A hold that closed while clocks differed slightly is counted on the nearest day.
  const row = await db.maybeOne(statement(historyRow)`
    SELECT b.limit_micros, ${windowBounds},
           (SELECT json_agg(json_build_object('date', to_char(d.day, 'YYYY-MM-DD'),
                                              'spent_micros', coalesce(s.spent_micros, 0)) ORDER BY d.day)
            FROM generate_series(p.first, p.last, interval '1 day') AS d (day)
            LEFT JOIN (
              SELECT least(greatest((h.closed_at AT TIME ZONE 'UTC')::date, p.first), p.last) AS day,
                     sum(h.spent_micros) AS spent_micros
              FROM budget_holds h
              WHERE h.budget_id = b.id AND h.window_start = w.start AND h.closed_at >= p.since
              GROUP BY 1) s ON s.day = d.day::date) AS days
    FROM budgets b ${currentWindow}
    CROSS JOIN LATERAL (
      SELECT t.first, greatest(t.first, t.today) AS last,
             (t.first - CASE WHEN b."window" = 'total' THEN 0 ELSE 1 END)::timestamp AT TIME ZONE 'UTC' AS since
      FROM (SELECT (now() AT TIME ZONE 'UTC')::date AS today,
                   CASE WHEN b."window" = 'total'
                        THEN (now() AT TIME ZONE 'UTC')::date - (${TOTAL_HISTORY_DAYS}::int - 1)
                        ELSE (w.start AT TIME ZONE 'UTC')::date END AS first) t
    ) AS p
    WHERE b.id = ${scope.budgetId} AND b.workspace_id = ${scope.workspaceId}
  `);
  if (row === null) throw notFound('Budget');
  return {
    window_start: row.window_start,
    window_end: row.window_end,
    limit_usd: toDollars(row.limit_micros),
    days: row.days.map(({ date, spent_micros }) => ({ date, spent_usd: toDollars(spent_micros) })),
  };
}

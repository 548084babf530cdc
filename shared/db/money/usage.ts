import { z } from 'zod';
import type { MetricsOverview, Usage } from '#shared/contract/money/usage.ts';
import { toDollars } from '#shared/money/money.ts';
import { planNames, plans } from '#shared/people/plans.ts';
import { addCosts } from '#shared/db/people/member-stats.ts';
import { type Db, sql, statement, syncCommit } from '#shared/db/pool.ts';

/** Deltas added to their days in one statement. */
export const FOLD_BATCH = 2_000;

/**
 * Adds the oldest deltas, at most `batch`, to their days, and returns how many. One statement: a reader sees each delta
 * exactly once, before and after. Concurrent processes share the work. Days are locked in one order to avoid deadlocks.
 * Deltas of a deleted workspace are dropped.
 */
export async function foldUsage(db: Db, batch = FOLD_BATCH): Promise<number> {
  const row = z.object({ folded: z.number(), set_config: z.unknown() });
  const { folded } = await db.one(statement(row)`
    WITH picked AS MATERIALIZED (
      SELECT id FROM usage_deltas ORDER BY id LIMIT ${batch} FOR UPDATE SKIP LOCKED
    ), taken AS (
      DELETE FROM usage_deltas d USING picked WHERE d.id = picked.id RETURNING d.*
    ), added AS (
      INSERT INTO usage_days AS u
        (workspace_id, day, runs, succeeded, failed, cost_micros, evaluated, checks_passed, checks_total)
      SELECT t.workspace_id, t.day, sum(t.runs), sum(t.succeeded), sum(t.failed), sum(t.cost_micros),
             sum(t.evaluated), sum(t.checks_passed), sum(t.checks_total)
      FROM taken t JOIN workspaces w ON w.id = t.workspace_id
      GROUP BY t.workspace_id, t.day ORDER BY t.workspace_id, t.day
      ON CONFLICT (workspace_id, day) DO UPDATE SET
        runs = u.runs + excluded.runs, succeeded = u.succeeded + excluded.succeeded,
        failed = u.failed + excluded.failed, cost_micros = u.cost_micros + excluded.cost_micros,
        evaluated = u.evaluated + excluded.evaluated, checks_passed = u.checks_passed + excluded.checks_passed,
        checks_total = u.checks_total + excluded.checks_total
    ), ${addCosts(sql.fragment`taken`)}
    SELECT (SELECT count(*) FROM taken) AS folded, ${syncCommit(false)}
  `);
  return folded;
}

/** Folded and unfolded deltas together. Only correct within one statement, since a fold may run between two. */
export const allUsage = (workspaceId: string) => sql.fragment`(
  SELECT day, runs, succeeded, failed, cost_micros, evaluated, checks_passed, checks_total
  FROM usage_days WHERE workspace_id = ${workspaceId}
  UNION ALL
  SELECT day, runs, succeeded, failed, cost_micros, evaluated, checks_passed, checks_total
  FROM usage_deltas WHERE workspace_id = ${workspaceId})`;

const usageRow = z.object({
  plan: z.enum(planNames),
  runs_used: z.number(),
  cost_micros: z.number(),
  period_start: z.string(),
  period_end: z.string(),
});

/**
 * The plan usage of a workspace in the calendar month (UTC) of `at` (ISO 8601), which defaults to now. The number of
 * runs comes from the same counters as the quota.
 */
export async function readUsage(
  db: Db,
  { workspaceId, at = null }: { workspaceId: string; at?: string | null },
): Promise<Usage> {
  const row = await db.one(statement(usageRow)`
    WITH period AS (
      SELECT m.month::date AS first, (m.month + interval '1 month')::date AS next
      FROM date_trunc('month', coalesce(${at}::timestamptz, now()) AT TIME ZONE 'UTC') AS m (month)
    )
    SELECT w.plan,
           coalesce((SELECT sum(c.runs) FROM run_counters c
                     WHERE c.workspace_id = w.id AND c.month = p.first), 0) AS runs_used,
           coalesce((SELECT sum(u.cost_micros) FROM ${allUsage(workspaceId)} u
                     WHERE u.day >= p.first AND u.day < p.next), 0) AS cost_micros,
           p.first::timestamp AT TIME ZONE 'UTC' AS period_start,
           (p.next::timestamp - interval '1 second') AT TIME ZONE 'UTC' AS period_end
    FROM workspaces w, period p WHERE w.id = ${workspaceId}
  `);
  return {
    plan: row.plan,
    runs_used: row.runs_used,
    runs_limit: plans[row.plan].runsPerMonth,
    cost_usd: toDollars(row.cost_micros),
    period_start: row.period_start,
    period_end: row.period_end,
  };
}

const overviewRow = z.object({
  runs: z.number(),
  succeeded: z.number(),
  failed: z.number(),
  cost_micros: z.number(),
  evaluated: z.number(),
  checks_passed: z.number(),
  checks_total: z.number(),
  active_workflows: z.number(),
  days: z.array(z.object({ date: z.string(), count: z.number(), cost_micros: z.number() })),
});

/** Percent with one decimal; undefined when the total is 0. */
const percent = (part: number, whole: number): number | undefined =>
  whole === 0 ? undefined : Math.round((part / whole) * 1000) / 10;

/** Reads the daily totals, so that the cost does not depend on the number of runs. */
export async function readOverview(
  db: Db,
  { workspaceId, at = null }: { workspaceId: string; at?: string | null },
): Promise<MetricsOverview> {
  const row = await db.one(statement(overviewRow)`
    WITH days AS MATERIALIZED (
      SELECT day, sum(runs) AS runs, sum(succeeded) AS succeeded, sum(failed) AS failed,
             sum(cost_micros) AS cost_micros, sum(evaluated) AS evaluated,
             sum(checks_passed) AS checks_passed, sum(checks_total) AS checks_total
      FROM ${allUsage(workspaceId)} u GROUP BY day
    ), shown AS (
      SELECT (today.day - n) AS day
      FROM (SELECT (coalesce(${at}::timestamptz, now()) AT TIME ZONE 'UTC')::date AS day) today,
           generate_series(0, 13) AS n
    )
    SELECT coalesce(sum(runs), 0) AS runs, coalesce(sum(succeeded), 0) AS succeeded,
           coalesce(sum(failed), 0) AS failed, coalesce(sum(cost_micros), 0) AS cost_micros,
           coalesce(sum(evaluated), 0) AS evaluated, coalesce(sum(checks_passed), 0) AS checks_passed,
           coalesce(sum(checks_total), 0) AS checks_total,
           (SELECT count(*) FROM workflows
            WHERE workspace_id = ${workspaceId} AND status = 'published') AS active_workflows,
           (SELECT json_agg(json_build_object('date', to_char(s.day, 'YYYY-MM-DD'), 'count', coalesce(d.runs, 0),
                                              'cost_micros', coalesce(d.cost_micros, 0)) ORDER BY s.day)
            FROM shown s LEFT JOIN days d ON d.day = s.day) AS days
    FROM days
  `);
  return {
    total_runs: row.runs,
    success_rate: percent(row.succeeded, row.succeeded + row.failed) ?? 0,
    total_cost_usd: toDollars(row.cost_micros),
    active_workflows: row.active_workflows,
    runs_by_day: row.days.map(({ date, count, cost_micros }) => ({
      date,
      count,
      cost_usd: toDollars(cost_micros),
    })),
    eval_pass_rate: percent(row.checks_passed, row.checks_total) ?? null,
    evaluated_runs: row.evaluated,
  };
}

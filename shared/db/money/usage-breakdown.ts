import { z } from 'zod';
import { MAX_BREAKDOWN_ROWS, type UsageBreakdown } from '#shared/contract/money/usage.ts';
import { toDollars } from '#shared/money/money.ts';
import {
  type FragmentSqlToken,
  inSnapshot,
  type Pool,
  sql,
  statement,
  type Tx,
} from '#shared/db/pool.ts';
import { allUsage } from './usage.ts';

/**
 * Whole days of a workspace: `since` is the first instant of the first day, `end` the instant after the last day. ISO
 * 8601.
 */
interface Days {
  workspaceId: string;
  since: string;
  end: string;
}

/**
 * The cost of the runs of the last `days` days (UTC, including today): by workflow and by model for stored runs, by day
 * for all. `at` (ISO 8601) defaults to now. It reads one snapshot: if nothing was deleted, all three lists have the
 * same sum.
 */
export async function readUsageBreakdown(
  db: Pool,
  { workspaceId, days, at = null }: { workspaceId: string; days: number; at?: string | null },
): Promise<UsageBreakdown> {
  return inSnapshot(db, async (tx) => {
    // The best plan depends on the number of runs in these days: a generic plan would read every step, even for a
    // workspace with three runs.
    await tx.query(sql.unsafe`SET LOCAL plan_cache_mode = force_custom_plan`);
    const { since, until, end, by_day } = await readDays(tx, { workspaceId, days, at });
    const of = { workspaceId, since, end };
    return {
      since,
      until,
      by_workflow: await costsByWorkflow(tx, of),
      by_model: await costsByModel(tx, of),
      by_day: by_day.map(({ date, runs, cost_micros }) => ({
        date,
        runs,
        cost_usd: toDollars(cost_micros),
      })),
    };
  });
}

const daysRow = z.object({
  since: z.string(),
  until: z.string(),
  end: z.string(),
  by_day: z.array(z.object({ date: z.string(), runs: z.number(), cost_micros: z.number() })),
});

const readDays = (
  tx: Tx,
  of: { workspaceId: string; days: number; at: string | null },
): Promise<z.infer<typeof daysRow>> =>
  tx.one(statement(daysRow)`
    WITH period AS (
      SELECT t.at, (t.at AT TIME ZONE 'UTC')::date - (${of.days}::int - 1) AS first,
             (t.at AT TIME ZONE 'UTC')::date AS last
      FROM (SELECT coalesce(${of.at}::timestamptz, now()) AS at) t
    ), used AS (
      SELECT day, sum(runs) AS runs, sum(cost_micros) AS cost_micros
      FROM ${allUsage(of.workspaceId)} u, period p WHERE day BETWEEN p.first AND p.last GROUP BY day
    )
    SELECT p.first::timestamp AT TIME ZONE 'UTC' AS since, p.at AS until,
           (p.last + 1)::timestamp AT TIME ZONE 'UTC' AS end,
           (SELECT json_agg(json_build_object('date', to_char(d.day, 'YYYY-MM-DD'), 'runs', coalesce(u.runs, 0),
                                              'cost_micros', coalesce(u.cost_micros, 0)) ORDER BY d.day)
            FROM generate_series(p.first, p.last, interval '1 day') AS d (day)
            LEFT JOIN used u ON u.day = d.day::date) AS by_day
    FROM period p
  `);

/** Condition for runs `r` that were created in these days. */
const ofDays = ({ workspaceId, since, end }: Days): FragmentSqlToken => sql.fragment`
  r.workspace_id = ${workspaceId} AND r.created_at >= ${since}::timestamptz AND r.created_at < ${end}::timestamptz`;

const workflowRow = z.object({
  place: z.number(),
  workflow_id: z.string(),
  name: z.string(),
  runs: z.number(),
  cost_micros: z.number(),
  unpriced_steps: z.number(),
});

async function costsByWorkflow(tx: Tx, of: Days): Promise<UsageBreakdown['by_workflow']> {
  const rows = await tx.any(statement(workflowRow)`
    WITH costs AS (
      SELECT r.workflow_id, count(*) FILTER (WHERE r.rehearsal IS NULL) AS runs, sum(r.cost_micros) AS cost_micros
      FROM runs r WHERE ${ofDays(of)} GROUP BY r.workflow_id
    ), unpriced AS (
      SELECT r.workflow_id, count(*) AS steps
      FROM runs r JOIN steps s ON s.run_id = r.id
      WHERE ${ofDays(of)} AND s.unpriced AND s.reused_from IS NULL GROUP BY r.workflow_id
    ), placed AS (
      SELECT *, least(${MAX_BREAKDOWN_ROWS + 1}::int,
                      row_number() OVER (ORDER BY cost_micros DESC, runs DESC, workflow_id)) AS place
      FROM costs
    )
    SELECT p.place, min(p.workflow_id) AS workflow_id, min(w.name) AS name, sum(p.runs) AS runs,
           sum(p.cost_micros) AS cost_micros, coalesce(sum(u.steps), 0) AS unpriced_steps
    FROM placed p JOIN workflows w ON w.id = p.workflow_id LEFT JOIN unpriced u ON u.workflow_id = p.workflow_id
    GROUP BY p.place ORDER BY p.place
  `);
  return rows.map(({ place, workflow_id, name, cost_micros, ...counts }) => ({
    ...(isOther(place) ? { workflow_id: null, name: OTHER } : { workflow_id, name }),
    ...counts,
    cost_usd: toDollars(cost_micros),
  }));
}

const modelRow = z.object({
  place: z.number(),
  model: z.string().nullable(),
  steps: z.number(),
  input_tokens: z.number(),
  output_tokens: z.number(),
  cost_micros: z.number(),
  unpriced_steps: z.number(),
});

async function costsByModel(tx: Tx, of: Days): Promise<UsageBreakdown['by_model']> {
  const rows = await tx.any(statement(modelRow)`
    WITH costs AS (
      SELECT s.model, count(*) AS steps, sum((s.usage ->> 'input_tokens')::int) AS input_tokens,
             sum((s.usage ->> 'output_tokens')::int) AS output_tokens, sum(s.cost_micros) AS cost_micros,
             count(*) FILTER (WHERE s.unpriced) AS unpriced_steps
      FROM runs r JOIN steps s ON s.run_id = r.id
      WHERE ${ofDays(of)} AND s.reused_from IS NULL AND (s.model IS NOT NULL OR s.cost_micros > 0 OR s.unpriced)
      GROUP BY s.model
    ), placed AS (
      SELECT *, least(${MAX_BREAKDOWN_ROWS + 1}::int,
                      row_number() OVER (ORDER BY cost_micros DESC, steps DESC, model)) AS place
      FROM costs
    )
    SELECT place, min(model) AS model, sum(steps) AS steps, coalesce(sum(input_tokens), 0) AS input_tokens,
           coalesce(sum(output_tokens), 0) AS output_tokens, sum(cost_micros) AS cost_micros,
           sum(unpriced_steps) AS unpriced_steps
    FROM placed GROUP BY place ORDER BY place
  `);
  return rows.map(({ place, model, cost_micros, ...counts }) => ({
    model: isOther(place) ? OTHER : model,
    ...counts,
    cost_usd: toDollars(cost_micros),
  }));
}

const OTHER = 'other';
const isOther = (place: number): boolean => place > MAX_BREAKDOWN_ROWS;

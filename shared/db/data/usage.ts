import { z } from 'zod';
import { dataKeyModes } from '#shared/contract/data/envelope.ts';
import type { DataUsage, WorkspaceDataUsage } from '#shared/contract/data/usage.ts';
import { notFound } from '#shared/errors.ts';
import { planNames, plans } from '#shared/people/plans.ts';
import { thisMonth } from '#shared/db/month.ts';
import { type Db, sql, statement } from '#shared/db/pool.ts';

const KEYS_SHOWN = 200;

const monthRow = z.object({
  month: z.string(),
  period_start: z.string(),
  period_end: z.string(),
  plan: z.enum(planNames),
  requests: z.number(),
  credits: z.number(),
  records: z.number(),
  deliveries: z.number(),
  source_checks: z.number(),
});

const usedByKey = {
  id: z.string(),
  name: z.string(),
  requests: z.number(),
  credits: z.number(),
  request_limit: z.number().nullable(),
  credit_limit: z.number().nullable(),
};

const monthColumns = sql.fragment`
  to_char(p.first, 'YYYY-MM') AS month, p.first::timestamp AT TIME ZONE 'UTC' AS period_start,
  ((p.first + interval '1 month') - interval '1 second') AT TIME ZONE 'UTC' AS period_end, w.plan,
  coalesce(m.requests, 0) AS requests, coalesce(m.credits, 0) AS credits, coalesce(m.records, 0) AS records,
  coalesce(m.deliveries, 0) AS deliveries, coalesce(m.source_checks, 0) AS source_checks`;
const monthOf = sql.fragment`
  workspaces w CROSS JOIN (SELECT ${thisMonth} AS first) p
  LEFT JOIN data_months m ON m.workspace_id = w.id AND m.month = p.first`;

/** The usage of the workspace and one of its keys in the current calendar month, UTC. */
export async function readDataUsage(
  db: Db,
  { workspaceId, keyId }: { workspaceId: string; keyId: string },
): Promise<DataUsage> {
  const row = z.object({ ...monthRow.shape, key: z.object(usedByKey) });
  const usage = await db.maybeOne(statement(row)`
    SELECT ${monthColumns},
           json_build_object('id', k.id, 'name', k.name, 'request_limit', k.monthly_request_allowance,
             'credit_limit', k.monthly_credit_allowance, 'requests', coalesce(u.requests, 0),
             'credits', coalesce(u.credits, 0)) AS key
    FROM ${monthOf} JOIN data_keys k ON k.workspace_id = w.id AND k.id = ${keyId}
    LEFT JOIN data_key_months u ON u.key_id = k.id AND u.month = p.first
    WHERE w.id = ${workspaceId}
  `);
  if (usage === null) throw notFound('API key');
  const { id, name, ...used } = usage.key;
  return { ...toMonth(usage), key: { id, name, ...toMeters(used) } };
}

const keyRow = z.object({ ...usedByKey, mode: z.enum(dataKeyModes), records: z.number() });

/** The usage of a workspace in the current calendar month, UTC, in total and by key. */
export async function readWorkspaceDataUsage(
  db: Db,
  { workspaceId }: { workspaceId: string },
): Promise<WorkspaceDataUsage> {
  const month = await db.one(statement(monthRow)`
    SELECT ${monthColumns} FROM ${monthOf} WHERE w.id = ${workspaceId}
  `);
  const keys = await db.any(statement(keyRow)`
    SELECT k.id, k.name, k.mode, u.requests, u.credits, u.records,
           k.monthly_request_allowance AS request_limit, k.monthly_credit_allowance AS credit_limit
    FROM data_key_months u JOIN data_keys k ON k.id = u.key_id
    WHERE u.workspace_id = ${workspaceId} AND u.month = ${thisMonth}
    ORDER BY u.credits DESC, u.requests DESC, k.id LIMIT ${KEYS_SHOWN}
  `);
  return {
    ...toMonth(month),
    keys: keys.map(({ id, name, mode, records, ...used }) => ({
      id,
      name,
      mode,
      records,
      ...toMeters(used),
    })),
  };
}

function toMonth(row: z.infer<typeof monthRow>) {
  const { dataRequestsPerMonth, dataCreditsPerMonth } = plans[row.plan];
  return {
    month: row.month,
    period_start: row.period_start,
    period_end: row.period_end,
    plan: row.plan,
    requests: { used: row.requests, limit: dataRequestsPerMonth },
    credits: { used: row.credits, limit: dataCreditsPerMonth },
    records: row.records,
    webhook_deliveries: row.deliveries,
    source_checks: row.source_checks,
  };
}

const toMeters = (used: {
  requests: number;
  credits: number;
  request_limit: number | null;
  credit_limit: number | null;
}) => ({
  requests: { used: used.requests, limit: used.request_limit },
  credits: { used: used.credits, limit: used.credit_limit },
});

import { request } from 'undici';
import { atMost, compare, figure, type Result } from '../result.ts';
import { query, type Stack } from '../stack.ts';
import { timed } from '../statistics.ts';

const few = 1_000;
const many = 1_000_000;
const days = 400;
const samples = 300;

/** What is asked all the time by every dashboard, so it may not cost more with the number of runs. */
const pages = { 'metrics overview': '/api/metrics/overview', usage: '/api/usage' };

/**
 * Reading figures over all runs when there are a million, against the same when there are a thousand. Both are seeded
 * in SQL: runs with their audit entries left out, what the writers would have added to the days, and some deltas that
 * wait to be folded.
 */
export async function overview(stack: Stack): Promise<Result[]> {
  const [workspace] = await query<{ id: string }>(
    stack.databaseUrl,
    'SELECT id FROM workspaces ORDER BY created_at, id LIMIT 1',
  );
  const workflow = await stack.service.define('Overview', { nodes: [], edges: [] });
  const scope = { workspace: workspace?.id ?? '', workflow };
  await seed(stack.databaseUrl, scope, 1, few);
  const before = await read(stack.apiUrl);
  await seed(stack.databaseUrl, scope, few + 1, many);
  const after = await read(stack.apiUrl);
  return Object.keys(pages).map((name) =>
    compare({
      measure: `${name}, 1,000,000 runs / 1,000`,
      unit: 'ms',
      ours: figure(after[name] ?? []),
      baseline: figure(before[name] ?? []),
      bound: atMost(2),
      notes: [`both are ours: ${samples} requests one after the other at each size, ${days} days`],
    }),
  );
}

/** The runs from one number to another, spread over the days, and what is told of them. */
async function seed(
  url: string,
  { workspace, workflow }: { workspace: string; workflow: string },
  from: number,
  to: number,
): Promise<void> {
  const values = [workspace, workflow, from, to];
  await query(
    url,
    `INSERT INTO runs (id, workspace_id, workflow_id, workflow_version, status, trigger, input, cost_micros,
                       created_at, started_at, finished_at)
     SELECT 'run_bench' || lpad(n::text, 10, '0'), $1, $2, 1, 'success', 'manual', '{}', n % 1000, at, at, at
     FROM generate_series($3::int, $4::int) n, LATERAL (SELECT now() - (n % ${days}) * interval '1 day' AS at) t`,
    values,
  );
  await query(
    url,
    `INSERT INTO usage_days AS u (workspace_id, day, runs, succeeded, cost_micros)
     SELECT workspace_id, (created_at AT TIME ZONE 'UTC')::date AS day, count(*), count(*), sum(cost_micros)
     FROM runs WHERE workspace_id = $1 AND workflow_id = $2
       AND id BETWEEN 'run_bench' || lpad($3::text, 10, '0') AND 'run_bench' || lpad($4::text, 10, '0')
     GROUP BY 1, 2
     ON CONFLICT (workspace_id, day) DO UPDATE
       SET runs = u.runs + excluded.runs, succeeded = u.succeeded + excluded.succeeded,
           cost_micros = u.cost_micros + excluded.cost_micros`,
    values,
  );
  await query(
    url,
    `INSERT INTO run_counters AS c (workspace_id, month, shard, runs)
     SELECT $1, date_trunc('month', now() AT TIME ZONE 'UTC')::date, 0, $2::int
     ON CONFLICT (workspace_id, month, shard) DO UPDATE SET runs = c.runs + excluded.runs`,
    [workspace, to - from + 1],
  );
  await query(
    url,
    `INSERT INTO usage_deltas (workspace_id, day, runs)
     SELECT $1, (now() AT TIME ZONE 'UTC')::date, 1 FROM generate_series(1, 200)`,
    [workspace],
  );
  for (const table of ['runs', 'usage_days', 'usage_deltas'])
    await query(url, `VACUUM ANALYZE ${table}`);
}

/** Milliseconds of each request, by page. */
async function read(apiUrl: string): Promise<Record<string, number[]>> {
  const times: Record<string, number[]> = {};
  const ask = async (path: string): Promise<void> => {
    const response = await request(`${apiUrl}${path}`);
    const text = await response.body.text();
    if (response.statusCode !== 200)
      throw new Error(`${path} answered ${response.statusCode}: ${text}`);
  };
  for (const path of Object.values(pages)) for (let n = 0; n < 20; n += 1) await ask(path);
  for (let n = 0; n < samples; n += 1) {
    for (const [name, path] of Object.entries(pages)) {
      (times[name] ??= []).push(await timed(() => ask(path)));
    }
  }
  return times;
}

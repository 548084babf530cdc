import { request } from 'undici';
import { freePorts } from '#scripts/stack/ports.ts';
import type { Processes } from '#bench/processes.ts';
import { atMost, compareSamples, type Result } from '#bench/result.ts';
import { freshDatabase, query, type Stack } from '#bench/stack.ts';
import { interleave, timed } from '#bench/statistics.ts';

const few = 1_000;
const many = 1_000_000;
const days = 400;
const limits = { count: 400, least: 100, budgetMs: 20_000 };

/** Every dashboard polls these, so their cost must not grow with the number of runs. */
const pages = {
  'metrics overview': '/api/metrics/overview',
  usage: '/api/usage',
  'budget status': '/api/budgets/bud_overview/status',
};

/**
 * Reads usage figures with a million runs and with a thousand, in another database on the same server behind another
 * API process. Both are seeded in SQL: runs, their daily totals, the counter of the month, and a budget whose ledger
 * holds a reservation for each run.
 */
export async function overview(stack: Stack, processes: Processes): Promise<Result[]> {
  const name = 'workflows_of_few_runs';
  const fewUrl = await freshDatabase(stack, name);
  const [port = 0] = await freePorts(1);
  const api = await processes.startNode({
    name: 'api-of-few-runs',
    script: 'api/main.ts',
    env: { ...stack.environment, DATABASE_URL: fewUrl, API_PORT: String(port) },
  });
  await seed(stack.databaseUrl, many);
  await seed(fewUrl, few);
  await query(stack.databaseUrl, 'CHECKPOINT');
  const results: Result[] = [];
  for (const [page, path] of Object.entries(pages)) {
    const ours = (): Promise<number> => timed(() => ask(`${stack.apiUrl}${path}`));
    const baseline = (): Promise<number> => timed(() => ask(`http://127.0.0.1:${port}${path}`));
    // Warm-up: both processes compile and prepare statements.
    await interleave({ count: 100, least: 100, budgetMs: 0 }, ours, baseline);
    const samples = await interleave(limits, ours, baseline);
    results.push(
      compareSamples(samples, {
        measure: `${page}, 1,000,000 runs / 1,000`,
        unit: 'ms',
        bound: atMost(2),
        notes: [`both are ours; the runs are spread over ${days} days`],
      }),
    );
  }
  await processes.stop(api);
  return results;
}

/** Runs of the default workspace, spread over the days, with their daily totals. */
async function seed(url: string, runs: number): Promise<void> {
  const [workspace] = await query<{ id: string }>(
    url,
    'SELECT id FROM workspaces ORDER BY created_at, id LIMIT 1',
  );
  const values = [workspace?.id ?? ''];
  await query(
    url,
    `INSERT INTO workflows (id, workspace_id, name, status) VALUES ('wf_overview', $1, 'Overview', 'published')`,
    values,
  );
  await query(
    url,
    `INSERT INTO workflow_versions (workflow_id, version, graph) VALUES ('wf_overview', 1, '{}')`,
  );
  await query(
    url,
    `INSERT INTO runs (id, workspace_id, workflow_id, workflow_version, status, trigger, input, cost_micros,
                       created_at, started_at, finished_at)
     SELECT 'run_overview_' || n, $1, 'wf_overview', 1, 'success', 'manual', '{}', n % 1000, at, at, at
     FROM generate_series(1, ${runs}) n, LATERAL (SELECT now() - (n % ${days}) * interval '1 day' AS at) t`,
    values,
  );
  await query(
    url,
    `INSERT INTO usage_days AS u (workspace_id, day, runs, succeeded, cost_micros)
     SELECT workspace_id, (created_at AT TIME ZONE 'UTC')::date AS day, count(*), count(*), sum(cost_micros)
     FROM runs WHERE workspace_id = $1 AND workflow_id = 'wf_overview' GROUP BY 1, 2
     ON CONFLICT (workspace_id, day) DO UPDATE
       SET runs = u.runs + excluded.runs, succeeded = u.succeeded + excluded.succeeded,
           cost_micros = u.cost_micros + excluded.cost_micros`,
    values,
  );
  await query(
    url,
    `INSERT INTO run_counters AS c (workspace_id, month, shard, runs)
     SELECT $1, date_trunc('month', now() AT TIME ZONE 'UTC')::date, 0, ${runs}
     ON CONFLICT (workspace_id, month, shard) DO UPDATE SET runs = c.runs + excluded.runs`,
    values,
  );
  await query(
    url,
    `INSERT INTO budgets (id, workspace_id, name, scope, "window", limit_micros, estimate_micros, window_start,
                          spent_micros)
     SELECT 'bud_overview', $1, 'Overview', 'workspace', 'total', 1000000000000, 1000, '-infinity', sum(cost_micros)
     FROM runs WHERE workflow_id = 'wf_overview'`,
    values,
  );
  await query(
    url,
    `INSERT INTO budget_holds (budget_id, run_id, n, window_start, estimate_micros, spent_micros, status, closed_at)
     SELECT 'bud_overview', id, 0, '-infinity', 1000, cost_micros, 'settled', finished_at
     FROM runs WHERE workflow_id = 'wf_overview'`,
  );
  const seeded = ['runs', 'usage_days', 'usage_deltas', 'run_counters', 'budgets', 'budget_holds'];
  for (const table of seeded) {
    await query(url, `VACUUM ANALYZE ${table}`);
  }
}

async function ask(url: string): Promise<void> {
  const response = await request(url);
  const text = await response.body.text();
  if (response.statusCode !== 200) {
    throw new Error(`${url} answered ${response.statusCode}: ${text}`);
  }
}

import type { RunListQuery } from '#shared/contract/runs/run.ts';
import { connectDatabase, type Pool } from '#shared/db/pool.ts';
import { listRuns } from '#shared/db/runs/run-list.ts';
import { atMost, compare, figure, type Result } from '#bench/result.ts';
import { freshDatabase, query, type Stack } from '#bench/stack.ts';
import { percentile } from '#bench/statistics.ts';

const database = 'runs_to_search';
const runs = 1_000_000;
const days = 400;
/** How often each filter is measured, each time with two pages. */
const times = 12;
const page = 50;

/** A different value each time, if there are many. The comment says how many runs match. */
const filters: Record<string, (time: number) => Partial<RunListQuery>> = {
  'no filter': () => ({}), // all
  'a status': () => ({ status: ['failed'] }), // 5 in 100
  'two rare statuses': () => ({ status: ['paused', 'running'] }), // 1 in 5,000
  'a rare trigger': () => ({ trigger: 'mcp' }), // 1 in 10,000
  'a rare kind of failure': () => ({ failure_kind: 'rejected' }), // 1 in 20,000
  'an old version': () => ({ workflow_id: 'wf_search_1', version: 1 }), // 1 in 800, the oldest
  'a high cost': () => ({ min_cost_usd: 9 }), // 1 in 5,000
  'a range of costs': () => ({ min_cost_usd: 0.0005, max_cost_usd: 0.00051 }), // 1 in 90
  'a long duration': () => ({ min_duration_ms: 3_000_000 }), // 1 in 7,000
  'a month, a status': (time) => ({ ...monthOf(time), status: ['failed'] }),
  'a frequent word': () => ({ q: 'ticket' }), // all
  'a word of few runs': (time) => ({ q: `customer${time * 70}` }), // 100 each
  'the start of a word': (time) => ({ q: `customer${time + 10}` }), // up to 11,000
  'a word of one run': (time) => ({ q: `order ${4_000_000 + time * 80_000}` }),
  'a word of no run': (time) => ({ q: `nothing${time}` }),
  'a word only in the oldest runs': () => ({ q: 'legacy' }), // the oldest hundredth
  'a word and a status': (time) => ({ q: `customer${time * 70}`, status: ['failed'] }),
  'a word, a month': (time) => ({ q: `customer${time}`, ...monthOf(time) }),
};

function monthOf(time: number): Partial<RunListQuery> {
  const at = (daysAgo: number): string => new Date(Date.now() - daysAgo * 86_400_000).toISOString();
  return { since: at(30 * time + 30), until: at(30 * time) };
}

/**
 * The list of a million runs of one workspace, interleaved with those of another, by each filter and some combinations.
 */
export async function search(stack: Stack): Promise<Result[]> {
  const url = await freshDatabase(stack, database);
  for (const statement of seeding) await query(url, statement);
  const db = await connectDatabase(url, { maxPoolSize: 2 });
  try {
    const results: Result[] = [];
    for (const [name, filterAt] of Object.entries(filters)) {
      const samples: number[] = [];
      for (let time = 0; time < times; time += 1) {
        samples.push(...(await readPages(db, filterAt(time))));
      }
      results.push(
        compare({
          measure: `a page of 1,000,000 runs by ${name}, 95th percentile`,
          unit: 'ms',
          ours: figure(samples),
          value: percentile(samples, 95),
          bound: atMost(200),
        }),
      );
    }
    return results;
  } finally {
    await db.end();
  }
}

/** The durations of the first two pages, in ms. */
async function readPages(db: Pool, filter: Partial<RunListQuery>): Promise<number[]> {
  const durations: number[] = [];
  let cursor: string | undefined;
  for (let number = 0; number < 2; number += 1) {
    const started = performance.now();
    const read = await listRuns(db, { workspaceId: 'ws_search', limit: page, ...filter, cursor });
    durations.push(performance.now() - started);
    if (read.next_cursor === null) break;
    cursor = read.next_cursor;
  }
  return durations;
}

const workflow = `'wf_search_' || n % 8`;
/** Oldest first, in the order in which they would have been written. */
const at = `LATERAL (SELECT now() - (${runs} - n)::float8 / ${runs} * interval '${days} days' AS at) t`;
const status = `CASE WHEN n % 20 = 3 THEN 'failed' WHEN n % 10000 = 5 THEN 'paused' WHEN n % 10000 = 6 THEN 'running' ELSE 'success' END`;
const runId = `'run_' || lpad(n::text, 26, '0')`;
const words = `ARRAY['run', lpad(n::text, 26, '0'), 'ticket', 'customer', 'customer' || n % 10000, (n % 10000)::text,
  'order', (4000000 + n)::text, 'priority', 'answer', 'thank', 'you', 'for', 'your', 'message', 'w' || n % 500, 'w' || n % 501,
  'w' || n % 502, 'w' || n % 503, CASE WHEN n < ${runs / 100} THEN 'legacy' ELSE 'current' END]`;

const seeding = [
  `INSERT INTO workspaces (id, name, plan) VALUES ('ws_search', 'Searched', 'enterprise'), ('ws_beside', 'Beside', 'enterprise')`,
  `INSERT INTO workflows (id, workspace_id, name, status)
   SELECT ${workflow}, 'ws_search', 'Searched ' || n, 'published' FROM generate_series(0, 7) n
   UNION ALL SELECT 'wf_beside', 'ws_beside', 'Beside', 'published'`,
  `INSERT INTO workflow_versions (workflow_id, version, graph)
   SELECT id, v, '{}' FROM workflows, generate_series(1, 100) v`,
  `SET session_replication_role = replica;
   INSERT INTO runs (id, workspace_id, workflow_id, workflow_version, status, trigger, input, output, error, failure, cost_micros,
                     active_ms, created_at, started_at, finished_at)
   SELECT ${runId}, 'ws_search', ${workflow}, 1 + n * 99 / ${runs}, ${status},
          CASE WHEN n % 10000 = 7 THEN 'mcp' WHEN n % 3 = 0 THEN 'webhook' ELSE 'manual' END,
          json_build_object('ticket', 'customer' || n % 10000 || ' order ' || 4000000 + n, 'text', repeat('x', 200)),
          json_build_object('answer', repeat('thank you ', 30)),
          CASE WHEN n % 20 = 3 THEN 'Node failed: ' || repeat('e', 100) END,
          CASE WHEN n % 20 = 3 THEN json_build_object('kind', CASE WHEN n % 20000 = 3 THEN 'rejected' ELSE 'node' END) END,
          CASE WHEN n % 5000 = 8 THEN 9500000 ELSE n % 1000 END,
          CASE WHEN n % 7000 = 9 THEN 3600000 ELSE n % 30000 END, at, at,
          CASE WHEN n % 10000 NOT IN (5, 6) THEN at + interval '5 s' END
   FROM generate_series(1, ${runs}) n, ${at}`,
  `SET session_replication_role = replica;
   INSERT INTO runs (id, workspace_id, workflow_id, workflow_version, status, trigger, input, created_at, finished_at)
   SELECT 'run_beside' || n, 'ws_beside', 'wf_beside', 1, 'success', 'manual', '{}', at, at
   FROM generate_series(1, ${runs}, 10) n, ${at}`,
  `DROP INDEX run_words_of;
   SET session_replication_role = replica;
   INSERT INTO run_words (run_id, words)
   SELECT ${runId}, array_to_tsvector(ARRAY(SELECT run_words_key('ws_search', at) || word FROM unnest(${words}) AS word))
   FROM generate_series(1, ${runs}) n, ${at};
   INSERT INTO run_words (run_id, words)
   SELECT 'run_beside' || n, array_to_tsvector(ARRAY[run_words_key('ws_beside', at) || 'ticket'])
   FROM generate_series(1, ${runs}, 10) n, ${at}`,
  `SET maintenance_work_mem = '512MB'; CREATE INDEX run_words_of ON run_words USING gin (words)`,
  'VACUUM ANALYZE runs',
  'VACUUM ANALYZE run_words',
];

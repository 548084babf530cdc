import { policiesInput } from '#shared/contract/policies/policy.ts';
import { insertJob, readJob } from '#shared/db/jobs/jobs.ts';
import { connectDatabase, type Pool } from '#shared/db/pool.ts';
import type { JsonObject } from '#shared/json.ts';
import { advanceJob } from '#shared/operations/jobs/advance.ts';
import type { RunDeps } from '#shared/operations/runs/runs.ts';
import { atLeast, compare, type Result, single } from '#bench/result.ts';
import { freshDatabase, query, type Stack } from '#bench/stack.ts';

const database = 'steps_to_judge';
const runs = 200_000;
const stepsPerRun = 5;
const total = runs * stepsPerRun;
const workspaceId = 'ws_judged';
/** The position is stored with each page: the work stops here, and continues as after a crash. */
const PART_MS = 20_000;

const policies = policiesInput.parse({
  model_allowlist: ['mock', 'openai/gpt-5'],
  tools: [
    {
      tool: 'http_request',
      blocked_arguments: [
        { argument: 'method', values: ['DELETE'] },
        { argument: 'url', pattern: '^https?://[^/]*\\.example\\.net(/|$)' },
      ],
    },
  ],
  redaction: {
    detectors: ['email', 'phone', 'credit_card', 'api_key'],
    patterns: [{ name: 'employee_id', regex: '\\bEMP-\\d{6}\\b' }],
  },
});

/**
 * A backtest of a million steps in one workspace: an agent and four HTTP calls per run, each with about 500 characters.
 * They are seeded in SQL in a separate database, and judged part by part, as by the workflow.
 */
export async function backtest(stack: Stack): Promise<Result[]> {
  const url = await freshDatabase(stack, database);
  for (const insert of inserts) {
    await query(url, `SET session_replication_role = replica; ${insert}`);
  }
  await query(url, 'VACUUM ANALYZE');
  const db = await connectDatabase(url, { maxPoolSize: 5 });
  try {
    const { seconds, parts, mostMb, summary } = await judgeAll(db);
    return [
      compare({
        measure: 'backtest of policies over 1,000,000 steps',
        unit: 'steps/s',
        ours: single(total / seconds),
        bound: atLeast(3_000),
        notes: [
          `${seconds.toFixed(0)} s in ${parts} parts, with at most ${mostMb.join(', ')} MB in each; ${JSON.stringify(summary)}`,
        ],
      }),
    ];
  } finally {
    await db.end();
  }
}

async function judgeAll(db: Pool) {
  const actor = { workspaceId, id: null, name: null };
  const request = { policies, since: '2020-01-01T00:00:00.000Z', in_force: [] };
  const { id: jobId } = await db.transaction((tx) =>
    insertJob(tx, actor as never, { kind: 'backtest', request: request as unknown as JsonObject }),
  );
  const { signal } = new AbortController();
  const scope = { workspaceId, jobId, round: 1 };
  let parts = 0;
  // The peak memory of this process and its threads in each part. It must not grow with the history.
  const mostMb: number[] = [];
  const onBatch = (): void => {
    mostMb[parts - 1] = Math.max(mostMb[parts - 1] ?? 0, process.memoryUsage().rss / 1_048_576);
  };
  // A backtest needs nothing else.
  const deps = { db } as Pick<RunDeps, 'db'> as RunDeps;
  const began = performance.now();
  do parts += 1;
  while ((await advanceJob(deps, scope, { budgetMs: PART_MS, onBatch, signal })) === 'more');
  const seconds = (performance.now() - began) / 1_000;
  const job = await readJob(db, { workspaceId, jobId, kind: 'backtest' }, 'Backtest');
  if (job.status !== 'done' || job.progress.done !== total) {
    throw new Error(`the backtest is ${job.status} after ${job.progress.done} steps`);
  }
  return { seconds, parts, mostMb: mostMb.map(Math.round), summary: job.result };
}

const runId = `'run_' || lpad(n::text, 26, '0')`;
const each = `generate_series(1, ${runs}) n`;
const at = `LATERAL (SELECT now() - n * interval '1 s' AS at) t`;
const prose = `repeat('The order arrived in time and nothing was missing. ', 9)`;
const mail = `CASE WHEN n % 20 = 0 THEN 'Write to ann@example.com.' ELSE '' END`;
const graph = JSON.stringify({
  nodes: [
    { id: 'ask', kind: 'agent', model: 'mock' },
    ...[1, 2, 3, 4].map((n) => ({ id: `n${n}`, kind: 'tool', tool_name: 'http_request' })),
  ],
  edges: [],
});

const inserts = [
  `INSERT INTO workspaces (id, name, plan) VALUES ('${workspaceId}', 'Judged', 'enterprise')`,
  `INSERT INTO workflows (id, workspace_id, name, status) VALUES ('wf_judged', '${workspaceId}', 'Judged', 'published')`,
  `INSERT INTO workflow_versions (workflow_id, version, graph) VALUES ('wf_judged', 1, '${graph}')`,
  `INSERT INTO runs (id, workspace_id, workflow_id, workflow_version, status, trigger, input, created_at, started_at,
                     finished_at)
   SELECT ${runId}, '${workspaceId}', 'wf_judged', 1, 'success', 'manual', '{}', at, at, at + interval '5 s'
   FROM ${each}, ${at}`,
  `INSERT INTO steps (run_id, step_key, node_id, label, kind, status, started_at, finished_at, input, output)
   SELECT ${runId}, 'ask', 'ask', 'Ask', 'agent', 'success', at, at,
          json_build_object('model', 'mock', 'prompt', ${prose} || ${mail}), '{}'
   FROM ${each}, ${at}`,
  `INSERT INTO steps (run_id, step_key, node_id, label, kind, status, started_at, finished_at, input, output)
   SELECT ${runId}, 'n' || s, 'n' || s, 'Call', 'tool', 'success', at, at,
          json_build_object('url', 'https://api.example.com/orders/' || n, 'method', 'POST', 'body',
                            json_build_object('note', ${prose} || ${mail}, 'order', n)), '{}'
   FROM ${each}, generate_series(1, 4) s, ${at}`,
];

import { readFileSync } from 'node:fs';
import { join } from 'node:path';
import { connectDatabase } from '#shared/db/pool.ts';
import { sweepPart } from '#shared/operations/sweep.ts';
import { loadConfig } from '#shared/platform/config.ts';
import { createLogger } from '#shared/platform/logger.ts';
import { connectTemporal } from '#shared/platform/temporal.ts';
import type { Processes } from '#bench/processes.ts';
import { atMost, compare, type Result, single } from '#bench/result.ts';
import { freshDatabase, query, type Stack } from '#bench/stack.ts';

const database = 'runs_to_sweep';
const runs = 1_000_000;
/** Shorter statements are not logged, in ms. */
const loggedFrom = 100;

/**
 * The retention sweep of a million ended runs of one workspace, all past its period: each has three steps and seven
 * frames, one in ten an idempotency key, one in twenty a retried step, one in a hundred a gate. They are seeded in SQL
 * in a separate database, and swept part by part, as by the workflow.
 */
export async function sweep(stack: Stack, processes: Processes): Promise<Result[]> {
  const url = await freshDatabase(stack, database);
  await seed(url);
  await query(url, `ALTER DATABASE ${database} SET log_min_duration_statement = ${loggedFrom}`);
  const used = stack.cpu()['postgres'] ?? Number.NaN;
  const { parts, seconds } = await sweepAll({ ...stack.environment, DATABASE_URL: url });
  const processorSeconds = ((stack.cpu()['postgres'] ?? Number.NaN) - used) / 1_000;
  const slow = longStatements(processes.folder);
  const [{ left } = { left: Number.NaN }] = await query<{ left: number }>(
    url,
    'SELECT count(*)::int AS left FROM (SELECT FROM runs UNION ALL SELECT FROM steps UNION ALL SELECT FROM run_frames) r',
  );
  if (left !== 0) throw new Error(`${left} rows are left after the sweep`);
  return [
    compare({
      measure: 'retention sweep of 1,000,000 runs of 3 steps',
      unit: 's',
      ours: single(seconds),
      bound: atMost(60),
      notes: [
        `${Math.round(runs / seconds).toLocaleString('en')} runs/s in ${parts} parts; ` +
          `${processorSeconds.toFixed(0)} s of processor time of Postgres, autovacuum included`,
      ],
    }),
    compare({
      measure: 'longest statement of the sweep',
      unit: 'ms',
      ours: single(slow[0]?.ms ?? loggedFrom),
      bound: atMost(1_000),
      notes: [
        `${slow.length} statements of ${loggedFrom} ms or more, the longest: ${slow
          .slice(0, 5)
          .map(({ ms, statement }) => `${statement} ${ms.toFixed(0)} ms`)
          .join(', ')}`,
      ],
    }),
  ];
}

async function sweepAll(
  environment: NodeJS.ProcessEnv,
): Promise<{ parts: number; seconds: number }> {
  const config = loadConfig(environment);
  const log = createLogger({ name: 'bench', level: 'warn' });
  const db = await connectDatabase(environment['DATABASE_URL'] ?? '', { maxPoolSize: 5 });
  const temporal = connectTemporal(config, db);
  const started = performance.now();
  let parts = 0;
  try {
    let after: string | undefined;
    do {
      const part = await sweepPart({ db, temporal, log, config }, { after });
      if (part.failed > 0) throw new Error('the workspace could not be swept');
      after = part.after;
      parts += 1;
    } while (after !== undefined);
  } finally {
    await temporal.close();
    await db.end();
  }
  return { parts, seconds: (performance.now() - started) / 1_000 };
}

interface Slow {
  ms: number;
  statement: string;
}

/** The statements in Postgres's log for this database, longest first. */
function longStatements(folder: string): Slow[] {
  const log = readFileSync(join(folder, 'logs', 'postgres.log'), 'utf8');
  const entry = new RegExp(
    `${database} LOG: +duration: ([\\d.]+) ms +(?:execute|parse|bind|statement:?) ([^\\s:]+)`,
    'g',
  );
  return [...log.matchAll(entry)]
    .map(([, ms, statement = '']) => ({ ms: Number(ms), statement }))
    .sort((a, b) => b.ms - a.ms);
}

const runId = `'run_' || lpad(n::text, 26, '0')`;
const each = (step = 1): string => `generate_series(1, ${runs}, ${step}) n`;
/** A run ends every few seconds; the last one ended eight days ago, one day after the period of the free plan. */
const at = `LATERAL (SELECT now() - interval '8 days' - (${runs} - n) * interval '8 s' AS at) t`;
const payload = (bytes: number): string => `json_build_object('text', repeat('x', ${bytes}))`;

const inserts = [
  `INSERT INTO workspaces (id, name, plan) VALUES ('ws_swept', 'Swept', 'free')`,
  `INSERT INTO workflows (id, workspace_id, name, status) VALUES ('wf_swept', 'ws_swept', 'Swept', 'published')`,
  `INSERT INTO workflow_versions (workflow_id, version, graph) VALUES ('wf_swept', 1, '{}')`,
  `INSERT INTO runs (id, workspace_id, workflow_id, workflow_version, status, trigger, input, state, output, created_at,
                     started_at, finished_at, frame_seq)
   SELECT ${runId}, 'ws_swept', 'wf_swept', 1, CASE WHEN n % 10 = 0 THEN 'failed' ELSE 'success' END, 'manual',
          ${payload(200)}, ${payload(300)}, ${payload(200)}, at, at, at + interval '5 s', 7
   FROM ${each()}, ${at}`,
  `INSERT INTO steps (run_id, step_key, node_id, label, kind, status, ordinal, event_id, started_at, finished_at, input,
                      output)
   SELECT ${runId}, 'n' || s, 'n' || s, 'Step ' || s, 'tool', 'success', s, s * 4, at, at, ${payload(200)}, ${payload(200)}
   FROM ${each()}, generate_series(1, 3) s, ${at}`,
  `INSERT INTO run_frames (run_id, seq, frame, created_at)
   SELECT ${runId}, s, json_build_object('run_id', ${runId}, 'type', 'step_started', 'node_id', 'n1', 'label', 'n1'), at
   FROM ${each()}, generate_series(1, 7) s, ${at}`,
  `INSERT INTO idempotency_keys (workspace_id, workflow_id, key, fingerprint, run_id)
   SELECT 'ws_swept', 'wf_swept', 'key ' || n, '', ${runId} FROM ${each(10)}`,
  `INSERT INTO step_attempts (run_id, step_key, attempt, started_at, ended_at, outcome, cost_micros)
   SELECT ${runId}, 'n1', 1, at, at, 'failed', 0 FROM ${each(20)}, ${at}`,
  `INSERT INTO gates (run_id, step_key, round, node_id, label, prompt, fails_on_reject, status)
   SELECT ${runId}, 'n2', 1, 'n2', 'Gate', 'Sure?', true, 'approved' FROM ${each(100)}`,
];

async function seed(url: string): Promise<void> {
  // Without triggers, which would look up the run of each row.
  for (const insert of inserts) {
    await query(url, `SET session_replication_role = replica; ${insert}`);
  }
  await query(url, 'VACUUM ANALYZE');
  await query(url, 'CHECKPOINT');
}

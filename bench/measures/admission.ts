import { randomUUID } from 'node:crypto';
import autocannon from 'autocannon';
import pg from 'pg';
import { admitRun } from '#shared/db/runs/admission.ts';
import { connectDatabase } from '#shared/db/pool.ts';
import { readDefaultOwner } from '#shared/db/people/workspaces.ts';
import { findRunnable } from '#shared/operations/runs/find-runnable.ts';
import { freePorts } from '#scripts/stack/ports.ts';
import { chain } from '#bench/graphs.ts';
import type { Processes } from '#bench/processes.ts';
import { atLeast, atMost, compare, compareSamples, figure, type Result } from '#bench/result.ts';
import { query, type Stack } from '#bench/stack.ts';
import { interleave, median, timed } from '#bench/statistics.ts';

const apiProcesses = 3;
const connectionsEach = 10;
const seconds = 4;
const rounds = 3;

/**
 * The cost of admission checks: alone, against a transaction that only writes the same rows; and under contention, when
 * many admissions share one quota row and one budget row.
 */
export async function admission(stack: Stack, processes: Processes): Promise<Result[]> {
  return [await alone(stack), await contended(stack, processes)];
}

const plan = (url: string, name: string) => query(url, 'UPDATE workspaces SET plan = $1', [name]);

async function alone({ service, databaseUrl }: Stack): Promise<Result> {
  const workflowId = await service.define('Admitted', chain(3));
  await plan(databaseUrl, 'pro');
  const budgets = [await service.budget(workflowId), await service.budget(workflowId)];
  const db = await connectDatabase(databaseUrl);
  const bare = new pg.Client({ connectionString: databaseUrl });
  await bare.connect();
  try {
    const actor = await readDefaultOwner(db);
    if (actor === undefined) throw new Error('There is no workspace yet');
    const ours = () =>
      timed(() =>
        admitRun(
          db,
          { actor, workflowId, trigger: 'manual', input: {}, idempotencyKey: randomUUID() },
          findRunnable,
        ),
      );
    const baseline = () =>
      timed(() => writeRows(bare, { workspace: actor.workspaceId, workflowId, budgets }));
    await interleave({ count: 100, least: 100, budgetMs: 1_000 }, ours, baseline);
    const samples = await interleave({ count: 600, least: 200, budgetMs: 10_000 }, ours, baseline);
    return compareSamples(samples, {
      measure: 'admission with key, quota and two budgets / a transaction of the same rows',
      unit: 'ms',
      bound: atMost(1.5),
      notes: ['no HTTP and no start on either side'],
    });
  } finally {
    await Promise.all([db.end(), bare.end()]);
    await service.remove(workflowId);
    await plan(databaseUrl, 'enterprise');
  }
}

/** Writes the rows of one admission with prepared statements and no checks. */
async function writeRows(
  client: pg.Client,
  run: { workspace: string; workflowId: string; budgets: string[] },
): Promise<void> {
  const id = `bare_${randomUUID()}`;
  const write = (name: string, text: string, values: unknown[]) =>
    client.query({ name: `rows_${name}`, text, values });
  await client.query('BEGIN');
  await write(
    'key',
    `INSERT INTO idempotency_keys (workspace_id, workflow_id, key, fingerprint, run_id) VALUES ($1, $2, $3, '\\x00', $3)`,
    [run.workspace, run.workflowId, id],
  );
  await write(
    'run',
    `INSERT INTO runs (id, workspace_id, workflow_id, workflow_version, trigger, input, created_by_name)
     VALUES ($1, $2, $3, 1, 'manual', '{}', 'bench')`,
    [id, run.workspace, run.workflowId],
  );
  await write(
    'usage',
    `INSERT INTO usage_deltas (workspace_id, day, runs) VALUES ($1, now()::date, 1)`,
    [run.workspace],
  );
  for (const budget of run.budgets) {
    await write(
      'hold',
      `INSERT INTO budget_holds (budget_id, run_id, n, window_start, estimate_micros) VALUES ($1, $2, 0, now(), 0)`,
      [budget, id],
    );
  }
  await write(
    'audit',
    `INSERT INTO audit_log (id, workspace_id, action, target_type, target_id) VALUES ($1, $2, 'run', 'workflow', $3)`,
    [id, run.workspace, run.workflowId],
  );
  await write(
    'outbox',
    `INSERT INTO outbox (run_id, kind, leased_until) VALUES ($1, 'start', now() + interval '1 hour')`,
    [id],
  );
  await client.query('COMMIT');
}

async function contended(stack: Stack, processes: Processes): Promise<Result> {
  const { service, databaseUrl, environment } = stack;
  const workflowId = await service.define('Contended', chain(1));
  const ports = await freePorts(apiProcesses);
  // These task queues have no worker, so the measure covers admission but not execution.
  const apis = await Promise.all(
    ports.map((port, index) =>
      processes.startNode({
        name: `api-${index + 1}`,
        script: 'api/main.ts',
        env: { ...environment, API_PORT: String(port), TASK_QUEUE_PREFIX: 'bench-nobody' },
      }),
    ),
  );
  const fire = (): Promise<number> => triggerRate(ports, workflowId);
  const open = async (): Promise<number> => {
    await plan(databaseUrl, 'enterprise');
    return fire();
  };
  const gated = async (): Promise<number> => {
    await plan(databaseUrl, 'pro');
    await query(databaseUrl, 'DELETE FROM run_counters');
    const budget = await service.budget(workflowId);
    const rate = await fire();
    await service.removeBudget(budget);
    return rate;
  };
  const rates = { ours: [] as number[], baseline: [] as number[] };
  await open();
  for (let round = 0; round < rounds; round += 1) {
    rates.ours.push(await gated());
    rates.baseline.push(await open());
  }
  for (const api of apis) await processes.stop(api);
  await service.remove(workflowId);
  await plan(databaseUrl, 'enterprise');
  return compare({
    measure: `admissions per second, one quota and one budget, ${apiProcesses} API processes / plan without limit, no budget`,
    unit: 'runs/s',
    ours: figure(rates.ours),
    baseline: figure(rates.baseline),
    value: median(rates.ours.map((rate, round) => rate / (rates.baseline[round] ?? Number.NaN))),
    bound: atLeast(0.6, 0.8),
    notes: [`${connectionsEach} connections to each process`],
  });
}

/** Triggers a workflow on all these API processes at once; returns accepted triggers per second. */
async function triggerRate(ports: readonly number[], workflowId: string): Promise<number> {
  const results = await Promise.all(
    ports.map((port) =>
      autocannon({
        url: `http://127.0.0.1:${port}/api/workflows/${workflowId}/runs`,
        method: 'POST',
        connections: connectionsEach,
        duration: seconds,
      }),
    ),
  );
  for (const { non2xx, errors } of results) {
    if (non2xx > 0 || errors > 0) throw new Error(`${non2xx} triggers refused, ${errors} failed`);
  }
  return results.reduce((sum, result) => sum + result.requests.total / seconds, 0);
}

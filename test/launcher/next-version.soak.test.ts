import { mkdirSync, mkdtempSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { setTimeout as sleep } from 'node:timers/promises';
import { afterAll, beforeAll, expect, test } from '@jest/globals';
import { ApiError, type Client, ConnectionError, createClient } from '#client/index.ts';
import { type Balancer, startBalancer } from '#scripts/cluster/balancer.ts';
import { messageOf } from '#scripts/stack/output.ts';
import { freePorts } from '#scripts/stack/ports.ts';
import { migrate } from '#shared/db/migrate.ts';
import { withClient } from '#shared/db/pool.ts';
import { createTestDatabase, type TestDatabase } from '#test/support/database.ts';
import { chain, eventually } from '#test/support/engine.ts';
import {
  startApiProcess,
  startWorkerProcess,
  type TestApi,
  type TestProcess,
} from '#test/support/processes.ts';
import { setting } from '#test/support/settings.ts';
import { testTemporal } from '#test/support/temporal.ts';
import { type Outside, startOutside } from './drill.ts';
import { makeNextVersion } from './next-version.ts';

// An update to the next version and back, while clients trigger runs, approve and read: the schema first, then the processes.
// The next version is a copy of this one with what docs/adding-a-migration.md allows.

/** Clients at the same time, and runs that each phase completes. */
const CLIENTS = 3;
const RUNS_PER_PHASE = 12;

let home: string;
let next: string;
let database: TestDatabase;
let outside: Outside;
let balancer: Balancer;
let ports: number[];
let env: Record<string, string>;
let added: string[];
const running: TestProcess[] = [];

beforeAll(async () => {
  home = mkdtempSync(join(process.env['TEST_FOLDER'] ?? tmpdir(), 'next-'));
  next = join(home, 'project');
  mkdirSync(next);
  added = await makeNextVersion(next);
  [database, outside, ports] = await Promise.all([
    createTestDatabase(),
    startOutside(),
    freePorts(2),
  ]);
  const { address, taskQueuePrefix } = testTemporal();
  env = {
    DATABASE_URL: database.url,
    TEMPORAL_ADDRESS: address,
    TASK_QUEUE_PREFIX: taskQueuePrefix,
    EGRESS_ALLOW: '127.0.0.0/8',
    LOG_LEVEL: 'warn',
    WORKFLOW_BUNDLE: setting('WORKFLOW_BUNDLE'),
    WORKER_METRICS_PORT: '0',
  };
  balancer = await startBalancer({ host: '127.0.0.1', port: 0, ports });
}, 60_000);
afterAll(async () => {
  await Promise.all(running.map((each) => each.kill()));
  await balancer.close();
  await outside.close();
  await database.drop();
  rmSync(home, { recursive: true, force: true });
});

/** Starts one API or worker of a version; both versions have an API port of their own. */
async function startApi(folder?: string): Promise<TestApi> {
  const port = ports[folder === undefined ? 0 : 1];
  const api = await startApiProcess({ ...env, API_PORT: String(port) }, folder);
  running.push(api);
  return api;
}
async function startWorker(folder?: string): Promise<TestProcess> {
  const worker = await startWorkerProcess(env, folder);
  running.push(worker);
  return worker;
}

interface Load {
  started: Set<string>;
  completed: Set<string>;
  failures: string[];
  stop(): Promise<void>;
}

/** What a client has to repeat by the contract: no answer, or 429 or 503. An approval that had counted is then refused. */
async function approve(client: Client, runId: string): Promise<void> {
  for (let repeated = false; ; repeated = true) {
    try {
      await client.approve(runId);
      return;
    } catch (error) {
      if (repeated && error instanceof ApiError && error.status === 409) return;
      const passing = error instanceof ApiError && [429, 503].includes(error.status);
      if (!passing && !(error instanceof ConnectionError)) throw error;
      await sleep(100);
    }
  }
}

async function startLoad(baseUrl: string): Promise<Load> {
  const client = createClient({ baseUrl, retries: 100, timeout: 120 });
  await client.setPlan('enterprise');
  const call = (id: string) => ({
    ...{ id, kind: 'tool' as const, tool_name: 'http_request' },
    params: { url: `${outside.url}/calm`, method: 'POST', body: { n: '{n}' } },
    retry: { max_attempts: 5 },
  });
  const graph = chain(call('before'), { id: 'gate', kind: 'human_gate' }, call('after'));
  const workflow = await client.createWorkflow({ name: 'Update', graph });
  const load = {
    started: new Set<string>(),
    completed: new Set<string>(),
    failures: [] as string[],
  };
  let stopping = false;
  const until = async (runId: string, wanted: string): Promise<void> => {
    for (;;) {
      const { status, failure } = await client.getRun(runId);
      if (status === wanted) return;
      if (status === 'failed') throw new Error(`${runId} failed: ${JSON.stringify(failure)}`);
      await sleep(100);
    }
  };
  const round = async (): Promise<void> => {
    const { id } = await client.triggerRun(workflow.id, { n: load.started.size });
    load.started.add(id);
    await until(id, 'paused');
    await client.listApprovals();
    await approve(client, id);
    await client.listRuns({ limit: 20 });
    await until(id, 'success');
    await client.listRunSteps(id);
    load.completed.add(id);
  };
  const loops = Array.from({ length: CLIENTS }, async () => {
    while (!stopping) {
      await round().catch((error: unknown) => load.failures.push(messageOf(error)));
    }
  });
  return {
    ...load,
    stop: async () => {
      stopping = true;
      await Promise.all(loops);
    },
  };
}

/** Lines of the log that report an error, without what a process says while it waits for the schema. */
const errorsOf = (process: TestProcess): string[] =>
  process
    .tail(1_000)
    .filter((line) => /^\{"level":[56]0/.test(line) && !line.includes('older than this version'));

test('a service is updated to the next version and back under load, and loses and repeats nothing', async () => {
  const [api, worker] = [await startApi(), await startWorker()];
  const load = await startLoad(`http://127.0.0.1:${balancer.port}`);
  const moreRuns = async (): Promise<void> => {
    const target = load.completed.size + RUNS_PER_PHASE;
    await eventually(() => load.completed.size >= target || load.failures.length > 0, 60_000);
    expect(load.failures).toEqual([]);
  };
  await moreRuns();

  // The next version starts too early, and waits.
  let nextIsReady = false;
  const nextApi = startApi(next).finally(() => (nextIsReady = true));
  await withClient(database.url, async (client) => {
    await client.query('CREATE INDEX CONCURRENTLY runs_of_next ON runs (workflow_id, updated_at)');
  });
  await moreRuns();
  expect(nextIsReady).toBe(false);

  // Its migrations run twice at once, beside the processes of this version.
  const options = {
    directory: join(next, 'migrations'),
    functions: join(next, 'shared/db/functions'),
    pauseMs: 200,
  };
  const applied = await Promise.all([1, 2].map(() => migrate(database.url, options)));
  expect(applied.flat()).toEqual(added);
  await moreRuns();

  // Both versions, then the next one alone.
  const replaced = [await nextApi, await startWorker(next)];
  await moreRuns();
  await Promise.all([worker.stop(), api.stop()]);
  await moreRuns();

  // Back, on the new schema.
  const back = [await startApi(), await startWorker()];
  const ready = await fetch(`http://127.0.0.1:${ports[0]}/api/ready`);
  expect([ready.status, await ready.json()]).toMatchObject([200, { status: 'ok' }]);
  await Promise.all(replaced.map((each) => each.stop()));
  await moreRuns();
  await load.stop();

  expect(load.failures).toEqual([]);
  expect(load.completed).toEqual(load.started);
  for (const id of load.started) {
    const keys = [...outside.accepted.keys()].filter((key) => key.startsWith(`${id}:`));
    expect(keys.map((key) => key.split(':')[1]).sort()).toEqual(['after', 'before']);
  }
  expect([api, worker, ...replaced, ...back].flatMap(errorsOf)).toEqual([]);
  await withClient(database.url, async (client) => {
    const { rows } = await client.query<{ of_next: string }>(
      'SELECT DISTINCT of_next FROM runs ORDER BY of_next',
    );
    // Runs from before the migration, of this version after it, and of the next version.
    expect(rows.map(({ of_next }) => of_next)).toEqual(['default', 'filled', 'next']);
  });
}, 300_000);

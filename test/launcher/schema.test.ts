import { type ChildProcess, spawn } from 'node:child_process';
import { once } from 'node:events';
import { join } from 'node:path';
import { afterEach, beforeEach, expect, test } from '@jest/globals';
import { migrate } from '#shared/db/migrate.ts';
import { nodeFlags } from '#scripts/stack/node-flags.ts';
import { createEmptyDatabase, type TestDatabase } from '#test/support/database.ts';
import { eventually } from '#test/support/engine.ts';
import { setting } from '#test/support/settings.ts';
import { testTemporal } from '#test/support/temporal.ts';

// In an update, processes of the new version can start before its migrations are applied.

const projectDir = join(import.meta.dirname, '../..');
let database: TestDatabase;
let child: ChildProcess;
let output = '';

beforeEach(async () => {
  database = await createEmptyDatabase();
});
afterEach(async () => {
  if (child.exitCode === null && child.signalCode === null) {
    const exited = once(child, 'exit');
    child.kill('SIGKILL');
    await exited;
  }
  await database.drop();
});

function start(name: string): void {
  const { NODE_OPTIONS: _flags, JEST_WORKER_ID: _id, ...inherited } = process.env;
  const { address, taskQueuePrefix } = testTemporal();
  output = '';
  child = spawn(process.execPath, [...nodeFlags, join(projectDir, name, 'main.ts')], {
    cwd: projectDir,
    env: {
      ...inherited,
      DATABASE_URL: database.url,
      TEMPORAL_ADDRESS: address,
      TASK_QUEUE_PREFIX: taskQueuePrefix,
      WORKFLOW_BUNDLE: setting('WORKFLOW_BUNDLE'),
      ...{ API_PORT: '0', WORKER_METRICS_PORT: '0', SEED: 'off', LOG_LEVEL: 'info' },
    },
    stdio: ['ignore', 'pipe', 'pipe', 'ipc'],
  });
  for (const stream of [child.stdout, child.stderr]) {
    stream?.on('data', (chunk) => (output += String(chunk)));
  }
}

const waits = () => eventually(() => output.includes('older than this version: run the migrate'));

test.each(['api', 'worker'])(
  'the %s is not ready on an older schema, and continues when the schema is migrated',
  async (name) => {
    start(name);
    let isReady = false;
    const ready = once(child, 'message').finally(() => (isReady = true));
    await waits();
    expect(output).toContain('"first":"0001_schema.sql"');
    expect(isReady).toBe(false);
    await migrate(database.url);
    expect(await ready).toContainEqual(expect.objectContaining({ ready: true }));
  },
);

test('a process that waits for the schema ends with its supervisor, and by signals', async () => {
  start('api');
  await waits();
  let exited = once(child, 'exit');
  child.disconnect();
  expect(await exited).toEqual([1, null]);
  expect(output).toContain('the supervisor has ended');
  start('worker');
  await waits();
  exited = once(child, 'exit');
  child.kill('SIGTERM');
  expect(await exited).toEqual([null, 'SIGTERM']);
});

import { execFile } from 'node:child_process';
import { mkdtempSync, readFileSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { gunzipSync } from 'node:zlib';
import { afterAll, beforeAll, describe, expect, test } from '@jest/globals';
import { z } from 'zod';
import { buildApp } from '#api/app.ts';
import type { App } from '#api/deps.ts';
import { migrate } from '#shared/db/migrate.ts';
import { connectDatabase, sql, withClient } from '#shared/db/pool.ts';
import { RUN_WORKFLOW } from '#shared/execution.ts';
import { describeCurrent } from '#shared/operations/runs/executions.ts';
import { syncSchedule } from '#shared/operations/schedules/sync.ts';
import { loadConfig } from '#shared/platform/config.ts';
import { createLogger } from '#shared/platform/logger.ts';
import { connectTemporal } from '#shared/platform/temporal.ts';
import { nodeFlags } from '#scripts/stack/node-flags.ts';
import { callerOf } from '#test/api/test-api.ts';
import { dumpSchema } from '#test/db/schema-dump.ts';
import { startToolServer, type ToolServer } from '#test/fakes/tool-server.ts';
import { createEmptyDatabase, type TestDatabase } from '#test/support/database.ts';
import { type Engine, eventually, startEngine } from '#test/support/engine.ts';
import { PASSWORD } from '#test/support/people.ts';
import { testTemporal } from '#test/support/temporal.ts';

// The fixture was written by the last commit before 1.0.0: its 57 migrations, and the rows that its service left when it was
// stopped in the middle of these runs. Their tools were at http://effects.test.

const projectDir = join(import.meta.dirname, '../..');
const fixture = join(projectDir, 'test/fixtures/before-1.0.sql.gz');
const names = z.object({ id: z.string(), name: z.string(), status: z.string() });

let database: TestDatabase;
let tools: ToolServer;
let dataDir: string;
let env: Record<string, string>;
/** The ids of the runs by the names of their workflows. */
const runs: Record<string, string> = {};
let scheduleId: string;
let deadline: string;

/** Runs a program of this project to its end, with the service's settings. */
function run(path: string): Promise<{ code: number; output: string }> {
  const { NODE_OPTIONS: _flags, ...inherited } = process.env;
  return new Promise((resolve) => {
    const args = [...nodeFlags, join(projectDir, path)];
    const options = { cwd: projectDir, env: { ...inherited, ...env }, timeout: 60_000 };
    const child = execFile(process.execPath, args, options, (_, stdout, stderr) =>
      resolve({ code: child.exitCode ?? -1, output: stdout + stderr }),
    );
  });
}

const upgrade = () => run('scripts/admin/upgrade-to-1-0.ts');

/** The dependencies of a process, for as long as `work` takes. */
async function connected<T>(work: (deps: Parameters<typeof syncSchedule>[0]) => Promise<T>) {
  const config = loadConfig(env);
  const db = await connectDatabase(database.url, { maxPoolSize: 1 });
  const temporal = connectTemporal(config, db);
  try {
    return await work({
      db,
      temporal,
      config,
      log: createLogger({ name: 'test', level: 'silent' }),
    });
  } finally {
    await temporal.close();
    await db.end();
  }
}

/** Gives the open runs executions of the old type, and Temporal its copy of the schedule. */
const standIn = () =>
  connected(async (deps) => {
    const { client, queues } = deps.temporal;
    for (const { id, name, status } of await deps.db.any(sql.type(names)`
      SELECT r.id, w.name, r.status FROM runs r JOIN workflows w ON w.id = r.workflow_id`)) {
      runs[name] = id;
      if (status === 'failed') continue;
      await client.workflow.start(RUN_WORKFLOW, {
        workflowId: id,
        taskQueue: queues.control,
        args: [{ engine_version: 4 }],
      });
    }
    scheduleId = await deps.db.oneFirst(sql.type(z.object({ id: z.string() }))`
      UPDATE schedules SET told_revision = 0 RETURNING id`);
    expect(await syncSchedule(deps, scheduleId)).toBe(true);
    deadline = await deps.db.oneFirst(sql.type(z.object({ at: z.string() }))`
      UPDATE gates SET expires_at = date_trunc('second', now()) + interval '1 hour'
      WHERE expires_at IS NOT NULL RETURNING expires_at AS at`);
  });

beforeAll(async () => {
  [database, tools] = await Promise.all([createEmptyDatabase(), startToolServer()]);
  dataDir = mkdtempSync(join(tmpdir(), 'upgrade-'));
  const { address, taskQueuePrefix } = testTemporal();
  env = {
    DATABASE_URL: database.url,
    TEMPORAL_ADDRESS: address,
    TASK_QUEUE_PREFIX: taskQueuePrefix,
    DATA_DIR: dataDir,
    API_PORT: '0',
    SEED: 'off',
  };
  const dump = gunzipSync(readFileSync(fixture)).toString('utf8');
  await withClient(database.url, (client) =>
    client.query(dump.replaceAll('http://effects.test', tools.url)),
  );
  await standIn();
}, 60_000);
afterAll(async () => {
  await tools.close();
  await database.drop();
  rmSync(dataDir, { recursive: true, force: true });
});

describe('a database from before 1.0.0', () => {
  test('is refused by the service and by migrations, which name the upgrade command', async () => {
    const refusal = /version before 1\.0\.0: .* npm run upgrade:to-1\.0/;
    await expect(migrate(database.url)).rejects.toThrow(refusal);
    for (const path of ['api/main.ts', 'worker/main.ts']) {
      const { code, output } = await run(path);
      expect([code, output]).toEqual([1, expect.stringMatching(refusal)]);
    }
  });

  test('is not upgraded while something uses it', async () => {
    await withClient(database.url, async (other) => {
      await other.query('SELECT 1');
      const { code, output } = await upgrade();
      expect([code, output]).toEqual([1, expect.stringContaining('1 other sessions use')]);
    });
  });

  test('is not upgraded from any other state than the last one', async () => {
    const set = (name: string, was: string) =>
      withClient(database.url, (client) =>
        client.query('UPDATE migrations SET name = $1 WHERE name = $2', [name, was]),
      );
    await set('0057_other.sql', '0057_pending_children.sql');
    const { code, output } = await upgrade();
    expect([code, output]).toEqual([1, expect.stringContaining('start the last release before')]);
    await set('0057_pending_children.sql', '0057_other.sql');
  });

  test('is upgraded once: its executions end, and its schema is that of 1.0.0', async () => {
    expect((await upgrade()).output).toMatch(/6 open runs then continue/);
    expect(await upgrade()).toEqual({ code: 0, output: expect.stringContaining('already') });
    const committed = readFileSync(join(projectDir, 'migrations/schema.sql'), 'utf8');
    expect(await dumpSchema(database.url)).toBe(committed);
    await connected(async (deps) => {
      for (const id of Object.values(runs)) {
        const status = (await describeCurrent(deps, id))?.status;
        expect(status).toBe(id === runs['Pack and ship'] ? undefined : 'TERMINATED');
      }
    });
  });
});

describe('after the upgrade', () => {
  let engine: Engine;
  let app: App;
  let call: ReturnType<typeof callerOf>;
  beforeAll(async () => {
    engine = await startEngine({ database, env });
    app = buildApp(engine.deps);
    await app.ready();
    call = callerOf(app);
  }, 60_000);
  afterAll(async () => {
    await app.close();
    await engine.close();
  });

  const approve = async (name: string, more: object = {}) => {
    const { status, body } = await call('POST', `/api/runs/${runs[name]}/approve`, {
      approved: true,
      ...more,
    });
    expect([status, body]).toEqual([200, expect.anything()]);
  };
  const succeeds = (name: string) => engine.until(runs[name] ?? '', ['success'], 40_000);
  const calls = (...tool: string[]) => tool.map((each) => tools.calls(each).length);

  test('a paused run has its vote and its deadline, and the second vote lets it continue', async () => {
    await engine.carriedOut(runs['Pay an invoice'] ?? '');
    const { pending_gate: gate } = await engine.until(runs['Pay an invoice'] ?? '', ['paused']);
    expect(gate).toMatchObject({
      ...{ expires_at: deadline, required: 2 },
      decisions: [{ by: 'Ann', approved: true }],
    });
    await approve('Pay an invoice');
    await succeeds('Pay an invoice');
    expect(calls('order', 'pay')).toEqual([0, 1]);
  }, 60_000);

  test('a run whose delay is over continues, without repeating what it did', async () => {
    const { steps } = await succeeds('Remind and close');
    expect(calls('remind', 'close')).toEqual([0, 1]);
    expect(steps.map(({ attempts }) => attempts.length)).toEqual([1, 1, 1]);
  }, 60_000);

  test('a run that had not begun is executed', async () => {
    await succeeds('Greet');
    expect(calls('greet')).toEqual([1]);
  }, 60_000);

  test('a failed run can be resumed', async () => {
    expect((await call('POST', `/api/runs/${runs['Pack and ship']}/resume`, {})).status).toBe(200);
    await succeeds('Pack and ship');
    expect(calls('pack', 'ship')).toEqual([0, 1]);
  }, 60_000);

  test('an agent makes the call that was waiting for an approval', async () => {
    const { pending_gate: gate } = await engine.until(runs['Refund with an agent'] ?? '', [
      'paused',
    ]);
    await approve('Refund with an agent', { digest: gate?.tool_call?.digest });
    await succeeds('Refund with an agent');
    expect(calls('look', 'notify')).toEqual([0, 1]);
  }, 60_000);

  test('a run continues when the run that it waits for is approved', async () => {
    await engine.until(runs['Check'] ?? '', ['paused']);
    await approve('Check');
    await succeeds('Collect and file');
    expect(calls('collect', 'file')).toEqual([0, 1]);
  }, 60_000);

  test('a schedule fires', async () => {
    const id = `${env['TASK_QUEUE_PREFIX']}-schedule-${scheduleId}`;
    await engine.deps.temporal.client.schedule.getHandle(id).trigger();
    await eventually(() => tools.calls('report').length === 1, 40_000);
  }, 60_000);

  test('an invitation with a plain code is accepted, and the code is no longer stored', async () => {
    const plain = await engine.db.any(sql.unsafe`
      SELECT FROM members WHERE invite_code IS NOT NULL`);
    expect(plain).toEqual([]);
    const accepted = { invite_code: 'inv_0early', password: PASSWORD };
    expect((await call('POST', '/api/auth/accept-invite', accepted)).status).toBe(200);
  });
});

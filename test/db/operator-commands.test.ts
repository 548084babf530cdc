import { spawn } from 'node:child_process';
import { once } from 'node:events';
import { join } from 'node:path';
import { beforeAll, describe, expect, test } from '@jest/globals';
import { z } from 'zod';
import { heldCapabilities } from '#shared/people/capabilities.ts';
import { connectDatabase, sql } from '#shared/db/pool.ts';
import { oneStep, useTestApi } from '#test/api/test-api.ts';
import { createTestDatabase } from '#test/support/database.ts';
import { eventually } from '#test/support/engine.ts';
import { soakTest } from '#test/support/soak.ts';

// Runs `npm run workspace:create`, `npm run password:reset` and `npm run owner:restore` as real processes, against a
// running API.

const api = useTestApi({ AUTH_MODE: 'required' });

/** By default without demo records, whose creation takes most of the time. */
async function run(
  script: string,
  args: string[],
  seed: 'on' | 'off' = 'off',
  database = api.databaseUrl,
) {
  const { NODE_OPTIONS: _flags, ...inherited } = process.env;
  const child = spawn(
    process.execPath,
    [join(import.meta.dirname, `../../scripts/admin/${script}.ts`), ...args],
    {
      env: {
        ...inherited,
        DATABASE_URL: database,
        TEMPORAL_ADDRESS: api.config.temporal.address,
        TASK_QUEUE_PREFIX: api.config.temporal.taskQueuePrefix,
        SEED: seed,
      },
      stdio: ['ignore', 'pipe', 'pipe'],
    },
  );
  let output = '';
  let errors = '';
  child.stdout.on('data', (chunk) => (output += String(chunk)));
  child.stderr.on('data', (chunk) => (errors += String(chunk)));
  const [code] = (await once(child, 'close')) as [number];
  return { code, output: output.trim(), errors: errors.trim() };
}
const create = async (name: string, email: string, seed?: 'on') => {
  const args = ['--name', name, '--owner-email', email, '--json'];
  const { code, output } = await run('workspace-create', args, seed);
  expect(code).toBe(0);
  return JSON.parse(output) as { workspace_id: string; email: string; password: string };
};
const login = async (email: string, password: string) =>
  api.call('POST', '/api/auth/login', { email, password });
const bearer = async (email: string, password: string) => ({
  authorization: `Bearer ${(await login(email, password)).body.token}`,
});

describe('npm run workspace:create', () => {
  test('creates an isolated workspace whose owner can sign in', async () => {
    const one = await create('One', 'one@example.com');
    const two = await create('Two', 'two@example.com');
    const [ofOne, ofTwo] = [
      await bearer(one.email, one.password),
      await bearer(two.email, two.password),
    ];
    const { body } = await api.call('GET', '/api/workspace', undefined, ofOne);
    expect(body).toMatchObject({
      id: one.workspace_id,
      name: 'One',
      plan: 'free',
      member_count: 1,
    });
    expect((await api.call('POST', '/api/workflows', { name: 'x' }, ofOne)).status).toBe(201);
    expect((await api.call('GET', '/api/workflows', undefined, ofOne)).body).toHaveLength(1);
    expect((await api.call('GET', '/api/workflows', undefined, ofTwo)).body).toEqual([]);
    expect((await api.call('GET', '/api/audit', undefined, ofTwo)).body.logs).toMatchObject([
      { action: 'create', target_type: 'workspace', actor_id: null, actor_name: 'operator' },
    ]);
  });

  soakTest('creates demo records, unless they are turned off', async () => {
    const feedsOf = (workspaceId: string) =>
      api.db.oneFirst(sql.type(z.object({ n: z.number() }))`
        SELECT count(*) AS n FROM data_feeds WHERE workspace_id = ${workspaceId} AND is_demo`);
    const [full, bare] = [
      await create('Full', 'full@example.com', 'on'),
      await create('Bare', 'bare@example.com'),
    ];
    expect(await feedsOf(full.workspace_id)).toBeGreaterThan(0);
    expect(await feedsOf(bare.workspace_id)).toBe(0);
  });

  test.each([
    [
      ['--name', 'X', '--owner-email', 'OWNER@localhost'],
      'A member with this email already exists',
    ],
    [['--name', 'X'], '--owner-email must be an email address'],
    [['--name', 'X', '--owner-email', 'nobody'], '--owner-email must be an email address'],
    [['--name', ' ', '--owner-email', 'x@example.com'], '--name has to be a name'],
    [['--name', 'X', '--owner-email', 'x@example.com', '--owner-name', ''], '--owner-name'],
    [['--nonsense'], '--nonsense'],
  ])('refuses %j in one line, creating nothing', async (args, reason) => {
    const { code, output, errors } = await run('workspace-create', args);
    expect([code, output]).toEqual([1, '']);
    expect(errors).toMatch(/^The workspace was not created: [^\n]+$/);
    expect(errors).toContain(reason);
    expect((await login('x@example.com', 'whatever it was')).status).toBe(401);
  });
});

describe('npm run password:reset', () => {
  test('sets a new password and ends the sessions of the member', async () => {
    const { email, password } = await create('Three', 'Three@example.com');
    const before = await bearer(email, password);
    const { code, output } = await run('password-reset', ['--email', 'three@EXAMPLE.com']);
    expect(code).toBe(0);
    const fresh = /^The password of Three@example\.com is now: (\S+)$/.exec(output)?.[1] ?? '';
    expect((await api.call('GET', '/api/auth/me', undefined, before)).status).toBe(401);
    expect((await login(email, password)).status).toBe(401);
    expect((await login(email, fresh)).status).toBe(200);
  });

  soakTest('changes nothing for an email without an active member', async () => {
    for (const args of [['--email', 'nobody@example.com'], []]) {
      const { code, errors } = await run('password-reset', args);
      expect([code, errors]).toEqual([
        1,
        expect.stringMatching(/^The password was not reset: [^\n]+$/),
      ]);
    }
  });
});

describe('npm run owner:restore', () => {
  /** Denies the only admin a capability, which no one in the workspace can undo. */
  const lockOut = async (email: string, change: ReturnType<typeof sql.fragment>) =>
    api.db.query(sql.unsafe`
      UPDATE members SET ${change} WHERE lower(email) = lower(${email})
    `);

  test('restores the capabilities of the owner of the default workspace', async () => {
    const reset = await run('password-reset', ['--email', 'owner@localhost']);
    const owner = await bearer('owner@localhost', reset.output.split(': ')[1] ?? '');
    await lockOut(
      'owner@localhost',
      sql.fragment`overrides = '{"delete_workflows": false, "manage_members": false}'`,
    );
    const { id } = (await api.call('GET', '/api/auth/me', undefined, owner)).body;
    const clear = { overrides: { delete_workflows: null, manage_members: null } };
    const url = `/api/members/${id}/permissions`;
    expect((await api.call('PUT', url, clear, owner)).status).toBe(403);

    const { code, output } = await run('owner-restore', []);
    expect([code, output]).toEqual([
      0,
      expect.stringContaining('owner@localhost owns workspace ' + api.workspaceId),
    ]);
    const { body } = await api.call('GET', '/api/auth/me', undefined, owner);
    expect(body.capabilities).toEqual(heldCapabilities('admin', {}));
    expect((await api.call('GET', '/api/audit', undefined, owner)).body.logs[0]).toMatchObject({
      action: 'owner_restore',
      target_type: 'member',
      target_id: id,
      actor_id: null,
      actor_name: 'operator',
      details: {
        role: 'admin',
        overrides: { delete_workflows: false, manage_members: false },
        owner_before: id,
      },
    });
  });

  soakTest('makes a named member the owner of their workspace', async () => {
    const { email, password, workspace_id } = await create('Four', 'four@example.com');
    const headers = await bearer(email, password);
    const invitation = { name: 'Eve', email: 'eve@example.com', role: 'viewer' };
    const invited = (await api.call('POST', '/api/members/invite', invitation, headers)).body;
    const named = ['--email', 'EVE@example.com'];
    expect((await run('owner-restore', named)).code).toBe(1);
    const accepted = { invite_code: invited.invite_code, password: 'correct horse battery' };
    expect((await api.call('POST', '/api/auth/accept-invite', accepted)).status).toBe(200);
    const { code, output } = await run('owner-restore', named);
    expect([code, output]).toEqual([0, expect.stringContaining(workspace_id)]);
    const members = (await api.call('GET', '/api/members', undefined, headers)).body;
    expect(members).toMatchObject([
      { email, role: 'admin', is_owner: false },
      { id: invited.id, role: 'admin', is_owner: true },
    ]);
  });

  test('changes nothing for an email without an active member', async () => {
    const { code, errors } = await run('owner-restore', ['--email', 'nobody@example.com']);
    expect([code, errors]).toEqual([
      1,
      'The owner was not restored: no active member has the email nobody@example.com',
    ]);
  });
});

describe('npm run runs:reconcile', () => {
  let owner: { authorization: string };
  beforeAll(async () => {
    const { email, password } = await create('Reconciled', 'reconciled@example.com');
    owner = await bearer(email, password);
  });
  // Without a worker, an execution stays open.
  const start = async (): Promise<string> => {
    const { body: workflow } = await api.call(
      'POST',
      '/api/workflows',
      { name: 'Reconcile', graph: oneStep },
      owner,
    );
    const { body: run } = await api.call('POST', `/api/workflows/${workflow.id}/runs`, {}, owner);
    return run.id as string;
  };
  const isOpen = async (runId: string): Promise<boolean> =>
    (await api.temporal.client.workflow.getHandle(runId).describe()).status.name === 'RUNNING';
  const listed = (runId: string) =>
    eventually(async () => {
      const query = `WorkflowId = '${runId}' AND ExecutionStatus = 'Running'`;
      return (await api.temporal.client.workflow.count(query)).count === 1;
    });

  soakTest(
    'names and closes executions whose run is not known or has ended, and no others',
    async () => {
      const [unknown, ended, open] = [await start(), await start(), await start()];
      await Promise.all([unknown, ended, open].map(listed));
      await api.db.query(sql.unsafe`DELETE FROM runs WHERE id = ${unknown}`);
      await api.db.query(sql.unsafe`
      UPDATE runs SET status = 'success', finished_at = now() WHERE id = ${ended}`);
      const look = await run('runs-reconcile', []);
      expect([look.code, look.errors]).toEqual([1, '']);
      expect(look.output).toContain(`of ${unknown}, which has no open run`);
      expect(look.output).toContain(`of ${ended}, which has no open run`);
      expect(look.output).not.toContain(open);
      expect(await isOpen(unknown)).toBe(true);

      expect((await run('runs-reconcile', ['--close'])).code).toBe(0);
      expect(await Promise.all([unknown, ended, open].map(isOpen))).toEqual([false, false, true]);
    },
  );

  test('resumes the runs that failed without their execution', async () => {
    const runId = await start();
    await api.db.query(sql.unsafe`
      UPDATE runs SET status = 'failed', finished_at = now(), error = 'The execution of this run ended as completed',
        failure = '{"kind": "crash"}' WHERE id = ${runId}`);
    const look = await run('runs-reconcile', ['--since', '2026-01-01T00:00:00Z']);
    expect(look.output).toContain(`failed: ${runId}: The execution of this run ended as completed`);
    const { output } = await run('runs-reconcile', ['--resume']);
    expect(output).toContain(`resumed: ${runId}`);
    const { body } = await api.call('GET', `/api/runs/${runId}`, undefined, owner);
    expect([body.status, body.resumed_count]).toEqual(['running', 1]);
    expect(
      (await api.call('GET', `/api/audit?target_id=${runId}&action=resume`, undefined, owner)).body
        .logs,
    ).toMatchObject([{ actor_id: null, actor_name: 'operator' }]);
  });

  soakTest('refuses a time that is none', async () => {
    const { code, errors } = await run('runs-reconcile', ['--since', 'yesterday']);
    expect([code, errors]).toEqual([
      2,
      'Postgres and Temporal were not compared: --since yesterday is not a time: write it like 2026-11-27T08:00:00Z',
    ]);
  });
});

test('npm run runs:restart changes nothing while a process of the service is connected', async () => {
  await api.db.query(sql.unsafe`SELECT 1`);
  const { code, output, errors } = await run('runs-restart', []);
  expect([code, output, errors]).toEqual([
    1,
    '',
    expect.stringMatching(
      /^The runs were not prepared to restart: \d+ other sessions use the database: [^\n]+$/,
    ),
  ]);
});

test('npm run runs:restart says how many runs are open, also when it is run again', async () => {
  const database = await createTestDatabase();
  const db = await connectDatabase(database.url, { maxPoolSize: 1 });
  await db.query(sql.unsafe`
    WITH w AS (INSERT INTO workspaces (id, name) VALUES ('ws_open', 'Open') RETURNING id),
      flow AS (INSERT INTO workflows (id, workspace_id, name) SELECT 'wf_open', id, 'x' FROM w RETURNING id, workspace_id),
      version AS (INSERT INTO workflow_versions (workflow_id, version, graph) SELECT id, 1, '{}' FROM flow)
    INSERT INTO runs (id, workspace_id, workflow_id, workflow_version, status, trigger, input)
    SELECT 'run_' || status, workspace_id, id, 1, status, 'manual', '{}'
    FROM flow, unnest(ARRAY['running', 'paused', 'pending']) AS status`);
  await db.end();
  try {
    for (const time of ['first', 'second']) {
      const { code, output, errors } = await run('runs-restart', [], 'off', database.url);
      const says = 'Start the service: 3 open runs then continue from their finished steps.';
      expect([time, code, output, errors]).toEqual([time, 0, says, '']);
    }
  } finally {
    await database.drop();
  }
});

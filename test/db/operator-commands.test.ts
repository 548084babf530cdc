import { spawn } from 'node:child_process';
import { once } from 'node:events';
import { join } from 'node:path';
import { afterAll, beforeAll, describe, expect, test } from '@jest/globals';
import { startTestApi, type TestApi } from '../api/test-api.ts';

// `npm run workspace:create` and `npm run password:reset` as the processes they are, against a running API.

let api: TestApi;
beforeAll(async () => {
  api = await startTestApi({ AUTH_MODE: 'required' });
});
afterAll(async () => api.stop());

async function run(script: string, args: string[]) {
  const { NODE_OPTIONS: _flags, ...inherited } = process.env;
  const child = spawn(
    process.execPath,
    [join(import.meta.dirname, `../../scripts/${script}.ts`), ...args],
    { env: { ...inherited, DATABASE_URL: api.databaseUrl }, stdio: ['ignore', 'pipe', 'pipe'] },
  );
  let output = '';
  let errors = '';
  child.stdout.on('data', (chunk) => (output += String(chunk)));
  child.stderr.on('data', (chunk) => (errors += String(chunk)));
  const [code] = (await once(child, 'close')) as [number];
  return { code, output: output.trim(), errors: errors.trim() };
}
const create = async (name: string, email: string) => {
  const args = ['--name', name, '--owner-email', email, '--json'];
  const { code, output } = await run('workspace-create', args);
  expect(code).toBe(0);
  return JSON.parse(output) as { workspace_id: string; email: string; password: string };
};
const login = async (email: string, password: string) =>
  api.call('POST', '/api/auth/login', { email, password });
const bearer = async (email: string, password: string) => ({
  authorization: `Bearer ${(await login(email, password)).body.token}`,
});

describe('npm run workspace:create', () => {
  test('makes a workspace whose owner can sign in, apart from all others', async () => {
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

  test.each([
    [
      ['--name', 'X', '--owner-email', 'OWNER@localhost'],
      'A member with this e-mail exists already',
    ],
    [['--name', 'X'], '--owner-email has to be an e-mail address'],
    [['--name', 'X', '--owner-email', 'nobody'], '--owner-email has to be an e-mail address'],
    [['--name', ' ', '--owner-email', 'x@example.com'], '--name has to be a name'],
    [['--name', 'X', '--owner-email', 'x@example.com', '--owner-name', ''], '--owner-name'],
    [['--nonsense'], '--nonsense'],
  ])('refuses %j in one line, and makes nothing', async (args, reason) => {
    const { code, output, errors } = await run('workspace-create', args);
    expect([code, output]).toEqual([1, '']);
    expect(errors).toMatch(/^The workspace was not made: [^\n]+$/);
    expect(errors).toContain(reason);
    expect((await login('x@example.com', 'whatever it was')).status).toBe(401);
  });
});

describe('npm run password:reset', () => {
  test('lets in who has lost their password, and ends their sessions', async () => {
    const { email, password } = await create('Three', 'Three@example.com');
    const before = await bearer(email, password);
    const { code, output } = await run('password-reset', ['--email', 'three@EXAMPLE.com']);
    expect(code).toBe(0);
    const fresh = /^The password of Three@example\.com is now: (\S+)$/.exec(output)?.[1] ?? '';
    expect((await api.call('GET', '/api/auth/me', undefined, before)).status).toBe(401);
    expect((await login(email, password)).status).toBe(401);
    expect((await login(email, fresh)).status).toBe(200);
  });

  test('changes nothing for an e-mail that is no active member', async () => {
    for (const args of [['--email', 'nobody@example.com'], []]) {
      const { code, errors } = await run('password-reset', args);
      expect([code, errors]).toEqual([
        1,
        expect.stringMatching(/^The password was not reset: [^\n]+$/),
      ]);
    }
  });
});

import { execFile } from 'node:child_process';
import { join } from 'node:path';
import { expect, test } from '@jest/globals';
import { z } from 'zod';
import { buildApp } from '#api/app.ts';
import type { App } from '#api/deps.ts';
import { sql } from '#shared/db/pool.ts';
import { loadConfig } from '#shared/platform/config.ts';
import { createWorker, type RunningWorker } from '#worker/create-worker.ts';
import { callerOf } from '#test/api/test-api.ts';
import { sendJson, startHttpServer } from '#test/fakes/http-server.ts';
import { chain, useEngine } from '#test/support/engine.ts';
import { setting } from '#test/support/settings.ts';
import { useStage } from '#test/support/stage.ts';

// Replaces the encryption key while runs send secrets, by the steps of docs/secrets.md.

const OLD = 'the old key of this test';
const NEW = 'the new key of this test';
const engine = useEngine({ worker: false, env: { ENCRYPTION_KEY: OLD } });
const home = useStage(() =>
  startHttpServer((request, response) => sendJson(response, 200, request.headers)),
);

/** The service with these keys; API and worker. */
async function serve(keys: Record<string, string>): Promise<{ app: App; worker: RunningWorker }> {
  const { db, log, temporal } = engine.deps;
  const config = loadConfig({ ...engine.env, ...keys });
  const bundle = { codePath: setting('WORKFLOW_BUNDLE') };
  const worker = await createWorker({ config, db, log, temporal, bundle });
  const app = buildApp({ ...engine.deps, config });
  await app.ready();
  return { app, worker };
}

const rotate = (keys: Record<string, string>): Promise<{ code: number; output: string }> =>
  new Promise((resolve) => {
    const script = join(import.meta.dirname, '../../scripts/admin/secrets-rotate.ts');
    const { NODE_OPTIONS: _flags, ...env } = process.env;
    const child = execFile(
      process.execPath,
      [script],
      { env: { ...env, DATABASE_URL: engine.databaseUrl, ...keys } },
      (_error, stdout, stderr) => resolve({ code: child.exitCode ?? -1, output: stdout + stderr }),
    );
  });

const sealedTexts = () =>
  engine.db.anyFirst(sql.type(z.object({ text: z.string() }))`
    SELECT sealed_value AS text FROM secrets
    UNION ALL SELECT value FROM custom_tools, json_each_text(headers)
    UNION ALL SELECT secret FROM data_endpoints
    UNION ALL SELECT previous_secret FROM data_endpoints WHERE previous_secret IS NOT NULL
    UNION ALL SELECT invite_code_sealed FROM members WHERE invite_code_sealed IS NOT NULL`);
const keysOf = async () => new Set((await sealedTexts()).map((text) => text.split('.')[1]));

test('everything is sealed with another key while runs send secrets', async () => {
  const before = await serve({});
  const call = callerOf(before.app);
  const made = async (method: string, url: string, body?: unknown) => {
    const answer = await call(method as 'POST', url, body);
    expect([url, answer.status, answer.text]).toEqual([url, expect.any(Number), answer.text]);
    return answer.body;
  };
  const allowed_hosts = [`127.0.0.1:${home.port}`];
  for (let n = 0; n < 250; n += 1) {
    await made('PUT', `/api/secrets/KEY_${n}`, { value: `the value ${n}`, allowed_hosts });
  }
  await made('POST', '/api/tools', {
    name: 'echo',
    endpoint_url: home.url,
    headers: { 'X-One': 'one of a tool', 'X-Two': '{secrets.KEY_1}' },
  });
  const endpoint = await made('POST', '/api/webhooks', { url: home.url, events: ['ping'] });
  await made('POST', `/api/webhooks/${endpoint.id}/rotate-secret`);
  const invited = await made('POST', '/api/members/invite', {
    name: 'x',
    email: 'x@example.com',
    role: 'viewer',
  });
  const oneStep = async (node: object) =>
    (
      await made('POST', '/api/workflows', {
        name: 'x',
        graph: chain({ id: 'a', kind: 'tool', ...node }),
      })
    ).id as string;
  const direct = await oneStep({
    tool_name: 'http_request',
    params: { url: home.url, headers: { 'X-Key': '{secrets.KEY_249}' } },
  });
  const custom = await oneStep({ tool_name: 'custom:echo', params: {} });
  await before.app.close();
  await before.worker.stop();

  const both = { ENCRYPTION_KEY: NEW, ENCRYPTION_KEY_PREVIOUS: OLD };
  const during = await serve(both);
  const succeed = async (): Promise<void> => {
    const ids = await Promise.all([direct, custom].map((id) => engine.trigger(id)));
    const runs = await Promise.all(ids.map((id) => engine.until(id, ['success', 'failed'])));
    expect(runs.map(({ status, error }) => [status, error])).toEqual([
      ['success', null],
      ['success', null],
    ]);
  };
  await succeed();
  const [first, second] = [rotate(both), rotate(both)];
  let rotating = true;
  const ended = Promise.all([first, second]).finally(() => (rotating = false));
  while (rotating) {
    await succeed();
    await callerOf(during.app)('PUT', '/api/secrets/MEANWHILE', {
      value: 'set meanwhile',
      allowed_hosts,
    });
  }
  expect((await ended).map(({ code }) => code)).toEqual([0, 0]);
  expect((await keysOf()).size).toBe(1);
  expect((await rotate(both)).output).toContain(
    'secrets: 0 sealed again, 251 had the new key, 0 unreadable',
  );
  await during.app.close();
  await during.worker.stop();

  const after = await serve({ ENCRYPTION_KEY: NEW });
  await succeed();
  expect(home.seen.at(-1)?.headers).toEqual(
    expect.objectContaining({ host: `127.0.0.1:${home.port}` }),
  );
  const member = await callerOf(after.app)('GET', `/api/members/${invited.id}`);
  expect(member.body.invite_code).toBe(invited.invite_code);
  await after.app.close();
  await after.worker.stop();

  // A text that neither key opens is reported, and stays.
  const wrong = await rotate({ ENCRYPTION_KEY: 'a third key', ENCRYPTION_KEY_PREVIOUS: OLD });
  expect(wrong).toEqual({
    code: 1,
    output: expect.stringContaining('secrets: 0 sealed again, 0 had the new key, 251 unreadable'),
  });
  expect((await rotate({ ENCRYPTION_KEY: NEW, ENCRYPTION_KEY_PREVIOUS: '' })).code).toBe(2);
}, 120_000);

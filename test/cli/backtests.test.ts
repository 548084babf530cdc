import { writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import { afterAll, beforeAll, expect, test } from '@jest/globals';
import { type Service, startService } from '#test/support/served-api.ts';
import { createOps, type Ops } from './ops.ts';

let service: Service;
let ops: Ops;
let policies: string;
beforeAll(async () => {
  service = await startService();
  ops = await createOps({ OPS_API_URL: service.apiUrl });
  const file = join(ops.configFolder, 'letter.json');
  policies = join(ops.configFolder, 'policies.json');
  const nodes = [{ id: 'read', kind: 'agent', prompt: '{letter}', mock: { output: 'x' } }];
  await writeFile(file, JSON.stringify({ name: 'Letter', graph: { nodes, edges: [] } }));
  await writeFile(policies, JSON.stringify({ redaction: { detectors: ['email'] } }));
  expect(await ops(['workflows', 'apply', '-f', file])).toMatchObject({ code: 0 });
  const started = await ops(['run', 'Letter', '-i', 'letter=to ann@example.com', '--wait']);
  expect(started).toMatchObject({ code: 0 });
});
afterAll(() => service.close());

const backtest = (...rest: string[]) =>
  ops(['policies', 'backtest', '-f', policies, '--since', '7d', ...rest]);

test('policies are tried on history, with progress and the steps', async () => {
  const ended = await backtest('--workflow', 'Letter', '-o', 'table');
  expect(ended).toMatchObject({ code: 0 });
  expect(ended.stdout).toMatch(/^Backtest job_/);
  expect(ended.stdout).toContain('1 of 1 steps');
  expect(ended.stdout).toMatch(/would redact +1/);
  expect(ended.stdout).toMatch(/read +allowed +redacted +1 value \(1 email\) would be redacted/);

  const asJson = await backtest('--workflow', 'Letter', '--json');
  expect(asJson.json()).toMatchObject({
    status: 'done',
    summary: { judged: 1, would_redact: 1 },
    steps: [{ step_key: 'read', effect: 'would_redact' }],
  });
});

test('a backtest is started alone, shown, listed and cancelled', async () => {
  const started = await backtest('--no-wait', '--json');
  expect(started).toMatchObject({ code: 0 });
  const { id } = started.json();
  const shown = await ops(['policies', 'show-backtest', id, '--json']);
  expect(shown.json()).toMatchObject({ id, workflow_id: null });
  const listed = await ops(['policies', 'backtests', '--limit', '1', '--json']);
  expect(listed.json()).toMatchObject([{ id }]);
  // Running or ended: it is cancelled, or refused with its status.
  const cancelled = await ops(['policies', 'cancel-backtest', id, '--json']);
  if (cancelled.code === 0) expect(cancelled.json()).toEqual({ id, status: 'cancelled' });
  else expect(cancelled).toMatchObject({ code: 1, stderr: expect.stringContaining('it is done') });
});

test('a refusal is shown, with its exit code', async () => {
  await writeFile(policies, JSON.stringify({ tools: [{ tool: 'delay' }] }));
  const refused = await backtest();
  expect(refused.code).toBe(1);
  expect(refused.stderr).toContain("'delay' only waits inside the run");
  const unknown = await ops(['policies', 'show-backtest', 'job_x']);
  expect([unknown.code, unknown.stderr]).toEqual([
    1,
    expect.stringContaining('Backtest not found'),
  ]);
  const time = await ops(['policies', 'backtest', '-f', policies, '--since', 'soon']);
  expect(time.stderr).toContain('since must be an ISO 8601 date');
  expect((await ops(['policies', 'backtest', '--since', '7d'])).code).toBe(2);
});

test('a model tries policies and reads the result', async () => {
  const use = async (name: string, args: object) => {
    const answer = await fetch(`${service.apiUrl}/api/mcp`, {
      method: 'POST',
      headers: { 'content-type': 'application/json' },
      body: JSON.stringify({
        jsonrpc: '2.0',
        id: 1,
        method: 'tools/call',
        params: { name, arguments: args },
      }),
    });
    return ((await answer.json()) as any).result;
  };
  const given = { policies: { model_allowlist: [] }, since: '2026-01-01', workflow: 'Letter' };
  const { structuredContent: started } = await use('backtest_policies', given);
  expect(started).toMatchObject({ status: 'running' });
  let read;
  for (let look = 0; look < 100 && read?.status !== 'done'; look += 1) {
    await new Promise((resolve) => setTimeout(resolve, 100));
    read = (await use('get_backtest', { backtest_id: started.id })).structuredContent;
  }
  expect(read).toMatchObject({
    summary: { would_block: 1 },
    steps: [{ reason: "Model 'mock' is not on the workspace's list of allowed models" }],
  });
  const cancelled = await use('cancel_backtest', { backtest_id: started.id });
  expect(cancelled).toMatchObject({ isError: true });
  expect(cancelled.content[0].text).toBe('This backtest is not running: it is done');
});

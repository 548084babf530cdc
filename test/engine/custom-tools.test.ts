import { spawn } from 'node:child_process';
import { mkdtempSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterAll, afterEach, beforeAll, describe, expect, test } from '@jest/globals';
import { buildApp } from '#api/app.ts';
import type { App } from '#api/deps.ts';
import { freePorts } from '#scripts/stack/ports.ts';
import { type Policies, unrestricted } from '#shared/contract/policies/policy.ts';
import { replacePolicies } from '#shared/db/policies/policies.ts';
import { randomText } from '#shared/crypto/ids.ts';
import { startHttpServer } from '#test/fakes/http-server.ts';
import { useToolServer } from '#test/fakes/tool-server.ts';
import { chain, edge, eventually, startEngine, useEngine } from '#test/support/engine.ts';
import { startWorkerProcess } from '#test/support/processes.ts';
import { soakTest } from '#test/support/soak.ts';

let app: App;
afterAll(() => app.close());
const engine = useEngine({
  env: { ENCRYPTION_KEY: 'a key of this test', HEARTBEAT_TIMEOUT_SECONDS: '3' },
});
beforeAll(() => void (app = buildApp(engine.deps)));
const tools = useToolServer();

async function call(method: string, url: string, body?: unknown): Promise<any> {
  const answer = await app.inject({
    method: method as 'GET',
    url,
    ...(body === undefined
      ? {}
      : { payload: JSON.stringify(body), headers: { 'content-type': 'application/json' } }),
  });
  return answer.body === '' ? undefined : answer.json();
}

/** Registers a tool with a unique name; `path` is its path on the tool server. */
async function register(path: string, fields: object = {}): Promise<{ id: string; name: string }> {
  const name = `${path}-${randomText(6)}`;
  return call('POST', '/api/tools', { name, endpoint_url: `${tools.url}/${path}`, ...fields });
}

const node = (name: string, rest: object = {}) =>
  ({ id: 'a', kind: 'tool', tool_name: `custom:${name}`, ...rest }) as never;
const start = async (name: string, rest: object = {}, input = {}) =>
  engine.start(chain(node(name, rest)), input);
const keysOf = (path: string) =>
  tools.calls(path).map((seen) => String(seen.headers['idempotency-key']));

describe('a step that calls a custom tool', () => {
  test('sends its parameters as values, and outputs the result', async () => {
    tools.answer('lookup', { body: { found: 2 } });
    const { name } = await register('lookup');
    const params = { text: 'Dear {who},', as: '{count}', deep: { list: ['{who}', '{{who}}'] } };
    const runId = await start(name, { params }, { who: 'A"},{"x": "B', count: 7 });
    const run = await engine.until(runId, ['success', 'failed']);
    expect(run.output).toEqual({ a: { found: 2 } });
    expect(tools.calls('lookup').map((seen) => JSON.parse(seen.body))).toEqual([
      { text: 'Dear A"},{"x": "B,', as: 7, deep: { list: ['A"},{"x": "B', '{who}'] } },
    ]);
  });

  test('is retried after a 500 with a new key each time until it succeeds', async () => {
    let left = 2;
    const server = await startHttpServer((_request, response) => {
      left -= 1;
      response
        .writeHead(left >= 0 ? 500 : 200, { 'content-type': 'application/json' })
        .end('{"ok":true}');
    });
    const { name } = await call('POST', '/api/tools', {
      name: 'wobbly',
      endpoint_url: server.url,
      retry_count: 2,
    });
    const runId = await start(name);
    const run = await engine.until(runId, ['success', 'failed']);
    expect(run.steps[0]).toMatchObject({ status: 'success', attempt: 3, output: { ok: true } });
    expect(server.seen.map((seen) => seen.headers['idempotency-key'])).toEqual([
      `${runId}:a:0`,
      `${runId}:a:1`,
      `${runId}:a:2`,
    ]);
    await server.close();
  });

  soakTest('waits as long as the service asks before it is tried again', async () => {
    const at: number[] = [];
    const server = await startHttpServer((_request, response) => {
      const status = at.push(performance.now()) === 1 ? 429 : 200;
      response.writeHead(status, { 'retry-after': '3' }).end('{}');
    });
    const { name } = await call('POST', '/api/tools', { name: 'busy', endpoint_url: server.url });
    const retry = { max_attempts: 2, initial_interval_seconds: 0.01 };
    const run = await engine.until(await start(name, { retry }), ['success', 'failed']);
    expect(run.status).toBe('success');
    expect(at[1]! - at[0]!).toBeGreaterThanOrEqual(2_900);
    await server.close();
  });

  test.each<[number, number, object, object]>([
    [500, 2, {}, {}],
    [500, 1, { retry_count: 0 }, {}],
    [500, 3, { retry_count: 0 }, { retry: { max_attempts: 3, initial_interval_seconds: 0.05 } }],
    [500, 1, { retry_count: 5 }, { retry: { max_attempts: 1 } }],
    [400, 1, { retry_count: 5 }, {}],
    [307, 1, { retry_count: 5 }, {}],
  ])(
    'with response %d is tried %d times: tool %j, node %j',
    async (status, tries, fields, rest) => {
      tools.answer('fails', { status, body: { reason: 'because' } });
      const { name } = await register('fails', fields);
      const run = await engine.until(await start(name, rest), ['failed']);
      expect(tools.calls('fails')).toHaveLength(tries);
      expect(run.steps[0]?.error).toMatch(
        new RegExp(`^127\\.0\\.0\\.1:\\d+ answered ${status}: \\{"reason":"because"\\}$`),
      );
    },
  );

  soakTest('times out at the timeout of the tool, and is retried with the same key', async () => {
    tools.answer('hangs', { delayMs: 30_000 });
    const { name } = await register('hangs', { timeout_seconds: 1 });
    const runId = await start(name);
    const run = await engine.until(runId, ['failed']);
    expect(run.steps[0]?.error).toMatch(/Timed out after 1 s|did not respond in full within 1 s/);
    expect(keysOf('hangs')).toEqual([`${runId}:a:0`, `${runId}:a:0`]);
  });

  soakTest('can take as long as the longest tool timeout', async () => {
    const { name } = await register('patient');
    const runId = await start(name);
    await engine.until(runId, ['success']);
    const handle = engine.deps.temporal.client.workflow.getHandle(runId);
    const { events } = await handle.fetchHistory();
    const scheduled = events?.flatMap((event) => event.activityTaskScheduledEventAttributes ?? []);
    const step = scheduled?.find((each) => each.activityId === 'a');
    expect(Number(step?.startToCloseTimeout?.seconds)).toBe(3_615);
  });

  test('fails on invalid arguments without a call', async () => {
    const input_schema = { properties: { email: { type: 'string' } }, required: ['email'] };
    const { name } = await register('strict', { input_schema });
    const run = await engine.until(await start(name, { params: { email: '{who}' } }, { who: 5 }), [
      'failed',
    ]);
    expect(run.steps[0]?.error).toBe(`Tool '${name}': arguments.email must be string`);
    expect(tools.calls('strict')).toEqual([]);
  });

  test('uses the current settings of the tool', async () => {
    const tool = await register('before');
    const workflowId = await engine.define(chain(node(tool.name)));
    await engine.until(await engine.trigger(workflowId), ['success']);
    await call('PUT', `/api/tools/${tool.id}`, { endpoint_url: `${tools.url}/after` });
    await engine.until(await engine.trigger(workflowId), ['success']);
    expect([tools.calls('before').length, tools.calls('after').length]).toEqual([1, 1]);
  });

  test('fails when its tool was deleted, and succeeds once the tool is back', async () => {
    const tool = await register('gone');
    const runId = await engine.start({
      nodes: [{ id: 'gate', kind: 'human_gate' }, node(tool.name)],
      edges: [edge('gate', 'a')],
    });
    await engine.until(runId, ['paused']);
    await call('DELETE', `/api/tools/${tool.id}`);
    await engine.approve(runId);
    const run = await engine.until(runId, ['failed']);
    expect(run.steps.find((step) => step.step_key === 'a')).toMatchObject({
      attempt: 1,
      error: `The tool 'custom:${tool.name}' is not registered`,
    });
    await call('POST', '/api/tools', { name: tool.name, endpoint_url: `${tools.url}/gone` });
    await engine.resume(runId);
    // The gate was decided about another tool, so the step asks.
    const { pending_gate: asks } = await engine.until(runId, ['paused']);
    await engine.approve(runId, { digest: asks?.tool_call?.digest });
    await engine.until(runId, ['success']);
    expect(tools.calls('gone')).toHaveLength(1);
  });
});

describe('policies', () => {
  const set = (policies: Partial<Policies>) =>
    replacePolicies(engine.db, engine.actor, { ...unrestricted, ...policies });
  afterEach(() => set({}));

  test('limit a custom tool to the allowed workflows', async () => {
    const { name } = await register('kept');
    await set({ tools: [{ tool: `custom:${name}`, allowed_workflow_ids: ['wf_other'] }] });
    const run = await engine.until(await start(name), ['failed']);
    expect(run.steps[0]).toMatchObject({
      attempt: 1,
      error: `Tool 'custom:${name}' is not allowed in this workflow`,
    });
    expect(run.steps[0]?.policy).toMatchObject([{ type: 'policy_denied' }]);
    expect(tools.calls('kept')).toEqual([]);
  });

  test('block values of its arguments, at any depth', async () => {
    const { name } = await register('blocked');
    const blocked_arguments = [{ argument: 'to.country', values: ['KP'] }];
    await set({ tools: [{ tool: `custom:${name}`, blocked_arguments }] });
    const params = { to: [{ country: '{country}' }] };
    const run = await engine.until(await start(name, { params }, { country: 'KP' }), ['failed']);
    expect(run.steps[0]?.policy).toMatchObject([{ type: 'tool_argument_blocked' }]);
    expect(tools.calls('blocked')).toEqual([]);
    await engine.until(await start(name, { params }, { country: 'FR' }), ['success']);
    expect(tools.calls('blocked')).toHaveLength(1);
  });

  test('redact its arguments before the call, also one named url', async () => {
    const { name } = await register('redacted');
    await set({ redaction: { detectors: ['email'], patterns: [] } });
    const params = { url: 'http://jane@example.com/', note: '{text}' };
    const run = await engine.until(await start(name, { params }, { text: 'joe@example.com' }), [
      'success',
    ]);
    const sent = tools.calls('redacted')[0]?.body ?? '';
    expect(sent).not.toMatch(/jane|joe/);
    expect(run.steps[0]?.input).toEqual(JSON.parse(sent));
    expect(run.steps[0]?.policy).toMatchObject([{ type: 'data_redacted', evidence: { email: 2 } }]);
  });
});

soakTest(
  'a worker killed during a custom tool call passes the step to another, which calls the tool with the same key',
  90_000,
  async () => {
    const other = await startEngine({
      worker: false,
      env: { ENCRYPTION_KEY: 'a key of this test', HEARTBEAT_TIMEOUT_SECONDS: '3' },
    });
    const otherApp = buildApp(other.deps);
    const startWorker = () => startWorkerProcess(other.env);
    const first = await startWorker();
    await otherApp.inject({
      method: 'POST',
      url: '/api/tools',
      payload: {
        name: 'interrupted',
        endpoint_url: `${tools.url}/interrupted`,
        retry_count: 0,
        headers: { 'X-Key': 'sealed by one process, opened by another' },
      },
    });
    tools.answer('interrupted', { delayMs: 60_000 });
    const runId = await other.start(chain(node('interrupted')));
    await eventually(() => tools.calls('interrupted').length === 1, 20_000);
    await first.kill();
    tools.answer('interrupted', {});
    const second = await startWorker();
    const run = await other.until(runId, ['success', 'failed'], 30_000);
    // The second attempt, but still the first and only try.
    expect([run.status, run.steps[0]?.attempt]).toEqual(['success', 2]);
    expect(keysOf('interrupted')).toEqual([`${runId}:a:0`, `${runId}:a:0`]);
    const sent = tools.calls('interrupted').map((seen) => seen.headers['x-key']);
    expect(sent).toEqual(Array(2).fill('sealed by one process, opened by another'));
    await second.kill();
    await otherApp.close();
    await other.close();
  },
);

test('the example in the documentation is a working tool', async () => {
  const docs = readFileSync(join(import.meta.dirname, '../../docs/tools.md'), 'utf8');
  const source = /```js\n([\s\S]*?)```/.exec(docs)?.[1] ?? '';
  const folder = mkdtempSync(join(tmpdir(), 'example-tool-'));
  const [port] = await freePorts(1);
  writeFileSync(join(folder, 'tool.mjs'), source);
  const child = spawn(process.execPath, [join(folder, 'tool.mjs')], {
    env: { PORT: String(port) },
    stdio: 'ignore',
  });
  try {
    const endpoint_url = `http://127.0.0.1:${port}/`;
    const { id, name } = await register('example', { endpoint_url });
    const attempt = (args: object) => call('POST', `/api/tools/${id}/test`, { arguments: args });
    await eventually(async () => (await attempt({ email: 'a@b.c' })).ok === true);
    expect(await attempt({})).toMatchObject({
      ok: false,
      status: 400,
      error: `127.0.0.1:${port} answered 400: {"error":"email must be a text"}`,
    });
    const run = await engine.until(await start(name, { params: { email: 'jane@b.c' } }), [
      'success',
    ]);
    expect(run.output).toEqual({ a: { customer: 'jane', plan: 'pro' } });
  } finally {
    child.kill();
    rmSync(folder, { recursive: true });
  }
});

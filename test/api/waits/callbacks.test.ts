import { afterAll, beforeAll, beforeEach, describe, expect, test } from '@jest/globals';
import { setTimeout as sleep } from 'node:timers/promises';
import { z } from 'zod';
import { sql } from '#shared/db/pool.ts';
import { createCallbackTokens } from '#shared/crypto/callback-tokens.ts';
import { useEngineApi } from '#test/api/engine-api.ts';
import { type FakeServer, sendJson, startHttpServer } from '#test/fakes/http-server.ts';
import { chain, edge, eventually } from '#test/support/engine.ts';
import { evidenceText, verifyText } from '#test/support/evidence.ts';
import { rowTexts } from '#test/support/stored-texts.ts';
import type { RunningWorker } from '#worker/create-worker.ts';

const PUBLIC_URL = 'https://ops.example.com/base';
const ENCRYPTION_KEY = 'a key of this test, long enough';
const { engine, call } = useEngineApi({ worker: false, env: { PUBLIC_URL, ENCRYPTION_KEY } });

/** Another program: it gets addresses, and repeats what it got. */
let partner: FakeServer;
let worker: RunningWorker;
beforeAll(async () => {
  worker = await engine.startWorker();
  partner = await startHttpServer((request, response) =>
    sendJson(response, 200, { url: request.url, got: request.body }),
  );
});
afterAll(() => partner.close());
beforeEach(() => {
  partner.seen.length = 0;
});

const paid = (rest: object = {}) => ({ id: 'paid', kind: 'wait', callback: true, ...rest });
const ask = (params: object = { body: { to: '{callbacks.paid}' } }, id = 'ask') => ({
  id,
  kind: 'tool',
  tool_name: 'http_request',
  params: { url: partner.url, method: 'POST', ...params },
});

const ADDRESS = /https:\/\/ops\.example\.com\/base(\/api\/callbacks\/[A-Za-z0-9_.-]+)/;
/** The path of the address that the partner got last. */
const addressIn = (text: string): string => ADDRESS.exec(text)![1]!;
const sentAddress = async (): Promise<string> => {
  await eventually(() => partner.seen.length > 0);
  return addressIn(partner.seen.at(-1)!.body);
};

const post = (path: string, body: string, headers: Record<string, string> = {}) =>
  engine.app.inject({
    method: 'POST',
    url: path,
    headers: { 'content-type': 'application/json', ...headers },
    payload: body,
  });
const statusOf = async (path: string, body: string) => (await post(path, body)).statusCode;

const waitingOf = async (runId: string) =>
  (await call('GET', `/api/runs/${runId}`)).body.waiting as Record<string, unknown>[];
const whenWaiting = (runId: string, count = 1) =>
  eventually(async () => (await waitingOf(runId)).length === count);

describe('a callback', () => {
  test('ends the wait, and its body is the output', async () => {
    const runId = await engine.start(chain(ask(), paid({ label: 'The payment' })));
    const address = await sentAddress();
    await whenWaiting(runId);
    expect(await waitingOf(runId)).toMatchObject([
      ...[{ node_id: 'paid', step_key: 'paid', label: 'The payment', for: 'callback' }],
    ]);
    const { body: list } = await call('GET', '/api/waits');
    expect(list.waits).toMatchObject([{ run_id: runId, for: 'callback', events: [] }]);
    const answer = await post(address, '{"amount": 3}');
    expect([answer.statusCode, answer.json()]).toEqual([200, { received: true }]);
    const run = await engine.until(runId, ['success']);
    expect(run.output).toEqual({ paid: { amount: 3 } });
  });

  test('counts once: the same body is 200, another one 409, and 410 after the end', async () => {
    const runId = await engine.start(
      chain(ask(), paid(), { ...paid({ timeout_seconds: 600 }), id: 'next' }),
    );
    const address = await sentAddress();
    expect(await statusOf(address, '{"a": 1, "b": 2}')).toBe(200);
    expect(await statusOf(address, '{"b": 2, "a": 1}')).toBe(200);
    expect(await statusOf(address, '{"a": 2}')).toBe(409);
    await engine.cancel(runId);
    await engine.until(runId, ['failed']);
    expect(await statusOf(address, '{"a": 2}')).toBe(410);
    expect(await statusOf(address, '{"a": 1, "b": 2}')).toBe(200);
  });

  test('is kept when it comes before the step is reached', async () => {
    const runId = await engine.start(
      chain(ask(), { id: 'gate', kind: 'human_gate', prompt: '?' }, paid()),
    );
    expect(await statusOf(await sentAddress(), '"early"')).toBe(200);
    await engine.until(runId, ['paused']);
    await engine.approve(runId);
    const run = await engine.until(runId, ['success']);
    expect(run.output).toEqual({ paid: 'early' });
  });

  test('50 at once: exactly one wins, and the step has its body', async () => {
    const runId = await engine.start(chain(ask(), paid()));
    const address = await sentAddress();
    await whenWaiting(runId);
    const bodies = Array.from({ length: 50 }, (_, n) => n);
    const statuses = await Promise.all(bodies.map((n) => statusOf(address, String(n))));
    const won = bodies.filter((n) => statuses[n] === 200);
    expect(won).toHaveLength(1);
    expect(statuses.filter((status) => status === 409 || status === 410)).toHaveLength(49);
    const run = await engine.until(runId, ['success']);
    expect(run.output).toEqual({ paid: won[0] });
  });

  test('is 410 after a cancel, and works again after a resume', async () => {
    const runId = await engine.start(chain(ask(), paid()));
    const address = await sentAddress();
    await whenWaiting(runId);
    await engine.cancel(runId);
    await engine.until(runId, ['failed']);
    expect(await statusOf(address, '1')).toBe(410);
    await engine.resume(runId);
    expect(await statusOf(address, '1')).toBe(200);
    expect((await engine.until(runId, ['success'])).output).toEqual({ paid: 1 });
  });

  test('is 410 when the time of its step ran out, and the step continues', async () => {
    const late = paid({ timeout_seconds: 0.1, on_timeout: 'continue' });
    const after = { id: 'after', kind: 'wait', seconds: 600 };
    const runId = await engine.start({
      nodes: [ask(), late, after] as never,
      edges: [edge('ask', 'paid'), edge('paid', 'after', 'false')],
    });
    const address = await sentAddress();
    await eventually(async () => (await waitingOf(runId))[0]?.['node_id'] === 'after');
    expect(await statusOf(address, '1')).toBe(410);
    await engine.cancel(runId);
  });

  test('fails its step at the deadline otherwise', async () => {
    const runId = await engine.start(chain(ask(), paid({ timeout_seconds: 0.1 })));
    const { error } = await engine.until(runId, ['failed']);
    expect(error).toBe("Node 'paid' failed: Nothing came within 0.1 s for 'paid'");
    expect(await statusOf(await sentAddress(), '1')).toBe(410);
  });

  test('and a deadline: the one that settles the step first counts, for both', async () => {
    const nodes = [ask(), paid({ timeout_seconds: 0.4, on_timeout: 'continue' })];
    const workflow = await engine.define(chain(...nodes));
    const runIds = await Promise.all(
      Array.from({ length: 12 }, (_, n) => engine.trigger(workflow, { n })),
    );
    const tokens = createCallbackTokens({ encryptionKey: ENCRYPTION_KEY })!;
    const leftOf = (runId: string) =>
      engine.db.maybeOneFirst(sql.type(z.object({ left: z.number() }))`
        SELECT extract(epoch FROM due_at - clock_timestamp())::float8 * 1000 AS left
        FROM run_waits WHERE run_id = ${runId}`);
    // Whichever comes first is right; the times are close to the deadline.
    const statuses = await Promise.all(
      runIds.map(async (runId, n) => {
        let left: number | null = null;
        await eventually(async () => (left = await leftOf(runId)) !== null);
        await sleep(Math.max(0, (left ?? 0) + n - 6));
        const token = tokens.tokenOf({ runId, stepKey: 'paid' });
        return statusOf(`/api/callbacks/${token}`, '{"came": true}');
      }),
    );
    const outputs = await Promise.all(
      runIds.map(async (runId) => (await engine.until(runId, ['success'])).state!['paid']),
    );
    expect(outputs).toEqual(statuses.map((status) => (status === 200 ? { came: true } : null)));
    expect(statuses.every((status) => status === 200 || status === 410)).toBe(true);
  });

  test('continues when no worker is there in the meantime', async () => {
    const runId = await engine.start(chain(ask(), paid()));
    const address = await sentAddress();
    await whenWaiting(runId);
    await worker.stop();
    expect(await statusOf(address, '{"ok": true}')).toBe(200);
    worker = await engine.startWorker();
    expect((await engine.until(runId, ['success'])).output).toEqual({ paid: { ok: true } });
  });

  test('is recorded in the audit log', async () => {
    const runId = await engine.start(chain(ask(), paid()));
    await statusOf(await sentAddress(), '1');
    await engine.until(runId, ['success']);
    const { body } = await call('GET', '/api/audit?action=callback_receive');
    expect(body.logs[0]).toMatchObject({
      ...{ action: 'callback_receive', target_type: 'run', target_id: runId },
      details: { step_key: 'paid' },
    });
  });
});

describe('the address', () => {
  test('is in nothing that is stored or shown, also when the partner repeats it', async () => {
    const runId = await engine.start(
      chain(
        ask({
          headers: { 'X-Callback': '{callbacks.paid}' },
          query: { at: '{callbacks.paid}' },
          body: 'Call {callbacks.paid}, not {text}',
        }),
        paid(),
      ),
      { text: '{callbacks.paid}' },
    );
    await eventually(() => partner.seen.length > 0);
    const [seen] = partner.seen;
    const address = addressIn(seen!.body);
    expect(seen!.body).toBe(`Call ${PUBLIC_URL}${address}, not {callbacks.paid}`);
    expect(seen!.headers['x-callback']).toBe(`${PUBLIC_URL}${address}`);
    await whenWaiting(runId);
    const run = await engine.run(runId);
    const step = run.steps.find(({ step_key: key }) => key === 'ask')!;
    expect(step.input).toMatchObject({
      ...{ headers: { 'X-Callback': '{callbacks.paid}' }, query: { at: '{callbacks.paid}' } },
    });
    expect(JSON.stringify(step.output)).toContain('***');
    const token = address.split('/').at(-1)!;
    const texts = [...(await rowTexts(engine.db)), JSON.stringify(run)].join('\n');
    expect(texts).not.toContain(token);
    expect(texts).not.toContain(token.split('.')[1]);
    expect(await statusOf(address, '1')).toBe(200);
  });

  test('is in no evidence, which verifies', async () => {
    const runId = await engine.start(chain(ask(), paid()));
    const address = await sentAddress();
    expect(await statusOf(address, '{"n": 1}')).toBe(200);
    await engine.until(runId, ['success']);
    const { workspaceId } = engine.actor;
    await eventually(async () => {
      const text = await evidenceText(engine.db, workspaceId, runId);
      expect(text).toContain('{callbacks.paid}');
      expect(text).not.toContain(address.split('.').at(-1));
      return verifyText(text).problems.length === 0;
    });
  });

  test('is another one for each item, and for each iteration', async () => {
    const runId = await engine.start({
      nodes: [
        { id: 'm', kind: 'map', items: '[1, 2, 3]', concurrency: 3 },
        ask({ body: { to: '{callbacks.paid}', item: '{m.item}' } }),
        paid(),
      ] as never,
      edges: [edge('m', 'ask', 'true'), edge('ask', 'paid'), edge('paid', 'm')],
    });
    await eventually(() => partner.seen.length === 3);
    for (const { body } of partner.seen) {
      const { item } = JSON.parse(body) as { item: number };
      expect(await statusOf(addressIn(body), JSON.stringify({ item }))).toBe(200);
    }
    const run = await engine.until(runId, ['success']);
    expect(run.output).toEqual({ m: [{ item: 1 }, { item: 2 }, { item: 3 }] });
  });

  test('of a node around an iteration is the same in each', async () => {
    await engine.start({
      nodes: [
        { id: 'l', kind: 'loop', expression: 'l.iterations < 2', max_iterations: 5 },
        ask(),
        paid(),
      ] as never,
      edges: [edge('l', 'ask', 'true'), edge('ask', 'l'), edge('l', 'paid')],
    });
    await eventually(() => partner.seen.length === 2);
    const sent = partner.seen.map(({ body }) => addressIn(body));
    expect(new Set(sent).size).toBe(1);
    expect(await statusOf(sent[0]!, '1')).toBe(200);
  });

  test('of a fork is its own', async () => {
    const runId = await engine.start(chain(ask(), paid()));
    const first = await sentAddress();
    await whenWaiting(runId);
    await engine.cancel(runId);
    await engine.until(runId, ['failed']);
    partner.seen.length = 0;
    const { body } = await call('POST', `/api/runs/${runId}/fork`, { from_step: 'ask' });
    const second = await sentAddress();
    expect(second).not.toBe(first);
    expect(await statusOf(first, '1')).toBe(410);
    expect(await statusOf(second, '2')).toBe(200);
    expect((await engine.until(body.id, ['success'])).output).toEqual({ paid: 2 });
  });

  test('is sent by an agent in arguments that the model does not set', async () => {
    const agent = {
      ...{ id: 'ask', kind: 'agent', prompt: 'Ask for the payment' },
      tools: [{ name: 'http_request', fixed: ask({ body: { to: '{callbacks.paid}' } }).params }],
      mock: { turns: [{ calls: [{ tool: 'http_request', arguments: {} }] }, { output: 'asked' }] },
    };
    const runId = await engine.start(chain(agent, paid()));
    expect(await statusOf(await sentAddress(), '{"by": "agent"}')).toBe(200);
    const run = await engine.until(runId, ['success']);
    expect(run.output).toEqual({ paid: { by: 'agent' } });
    expect(JSON.stringify(run)).toContain('{callbacks.paid}');
    expect(JSON.stringify(run)).not.toContain('/api/callbacks/');
  });

  test('is sent by a custom tool', async () => {
    const tool = await call('POST', '/api/tools', {
      ...{ name: 'order', label: 'Order', kind: 'http', endpoint_url: partner.url },
      input_schema: {
        type: 'object',
        properties: { notify: { type: 'string', pattern: '^https://' } },
      },
    });
    expect(tool.status).toBe(201);
    const order = { id: 'ask', kind: 'tool', tool_name: 'custom:order' };
    const runId = await engine.start(
      chain({ ...order, params: { notify: '{callbacks.paid}' } }, paid()),
    );
    expect(await statusOf(await sentAddress(), '1')).toBe(200);
    const run = await engine.until(runId, ['success']);
    expect(run.steps[0]!.input).toEqual({ notify: '{callbacks.paid}' });
    expect(JSON.stringify(run.steps[0]!.output)).toContain('***');
  });

  test('is not sent on to another host by a redirect', async () => {
    const away = await startHttpServer((_request, response) => sendJson(response, 200, {}));
    const moved = await startHttpServer((_request, response) => {
      response.writeHead(307, { location: away.url }).end();
    });
    const runId = await engine.start(
      chain(ask({ url: moved.url, body: { to: '{callbacks.paid}' } }), paid()),
    );
    const { error } = await engine.until(runId, ['failed']);
    expect(error).toContain(
      "redirects to where the address of the callback 'paid' may not be sent",
    );
    expect(away.seen).toEqual([]);
    await Promise.all([away.close(), moved.close()]);
  });
});

describe('a gate before it', () => {
  test('shows the reference, and the approved step sends the address', async () => {
    const runId = await engine.start(
      chain({ id: 'gate', kind: 'human_gate', prompt: 'Order?' }, ask(), paid()),
    );
    await engine.until(runId, ['paused']);
    const { body: gate } = await call('GET', `/api/runs/${runId}/gates/gate`);
    expect(gate.consequences.approve.effects[0].arguments).toMatchObject({
      body: { to: '{callbacks.paid}' },
    });
    const { status } = await call('POST', `/api/runs/${runId}/approve`, {
      ...{ approved: true, digest: gate.digest },
    });
    expect(status).toBe(200);
    expect(await statusOf(await sentAddress(), '1')).toBe(200);
    expect((await engine.until(runId, ['success'])).output).toEqual({ paid: 1 });
  });

  test('a dry run knows the reference, and no missing key', async () => {
    const workflow = await engine.define(chain(ask(), paid({ timeout_seconds: 60 })));
    const { body } = await call('POST', `/api/workflows/${workflow}/dry-run`, { input: {} });
    expect(body.nodes).toMatchObject([{ node_id: 'ask' }, { node_id: 'paid' }]);
    expect(JSON.stringify(body)).not.toContain('callbacks');
  });
});

describe('a rehearsal', () => {
  test('takes the recorded callback, and tells no address', async () => {
    const runId = await engine.start(
      chain(ask({ body: { to: '{callbacks.paid}', n: '{n}' } }), paid()),
      { n: 1 },
    );
    expect(await statusOf(await sentAddress(), '{"n": 1}')).toBe(200);
    await engine.until(runId, ['success']);
    partner.seen.length = 0;
    const rerun = (more: object) =>
      call('POST', `/api/runs/${runId}/rerun`, {
        ...{ mode: 'recorded', allow: ['http_request:POST'], ...more },
      });
    const same = await rerun({});
    expect((await engine.until(same.body.id, ['success'])).output).toEqual({ paid: { n: 1 } });
    const other = await rerun({ input: { n: 2 } });
    const { error } = await engine.until(other.body.id, ['failed']);
    expect(error).toContain(
      "it tells somebody the address of the callback 'paid', and no rehearsal waits for one: start an ordinary run",
    );
    expect(partner.seen).toEqual([]);
  });

  test('a test of a node tells none', async () => {
    const workflow = await engine.define(chain(ask(), paid()));
    const { status, body } = await call('POST', `/api/workflows/${workflow}/nodes/ask/test`, {
      allow: ['http_request:POST'],
      state: {},
    });
    expect([status, body.detail]).toEqual([
      422,
      "Node 'ask' tells somebody the address of the callback 'paid', which no test does: pin its output, and test a node after it",
    ]);
  });
});

describe('what is refused', () => {
  const tokens = createCallbackTokens({ encryptionKey: ENCRYPTION_KEY })!;
  const at = (token: string) => `/api/callbacks/${token}`;

  test.each([
    ['nothing', ''],
    ['a word', 'token'],
    ['a run that does not exist', tokens.tokenOf({ runId: 'run_none', stepKey: 'paid' })],
    [
      'a token of another key',
      createCallbackTokens({ encryptionKey: 'other' })!.tokenOf({ runId: 'r', stepKey: 's' }),
    ],
    ['a slash', `${tokens.tokenOf({ runId: 'r', stepKey: 's' })}/`],
    ['an escape', `${tokens.tokenOf({ runId: 'r', stepKey: 's' })}%00`],
  ])('%s is 404', async (_, token) => {
    const answer = await post(at(token), '{}');
    expect(answer.statusCode).toBe(404);
  });

  test('a forged token of a real step is 404, and its wait stays open', async () => {
    const runId = await engine.start(chain(ask(), paid()));
    const address = await sentAddress();
    await whenWaiting(runId);
    const [step, mac = ''] = address.slice('/api/callbacks/'.length).split('.');
    const flipped = `${mac[0] === 'A' ? 'B' : 'A'}${mac.slice(1)}`;
    const other = Buffer.from(`${runId} other`).toString('base64url');
    for (const token of [
      `${step}.${flipped}`,
      `${other}.${mac}`,
      `${step}.${mac.slice(1)}`,
      step!,
    ]) {
      expect(await statusOf(at(token), '{}')).toBe(404);
    }
    await whenWaiting(runId);
    await engine.cancel(runId);
  });

  test('the previous key counts as well', async () => {
    const runId = await engine.start(chain(ask(), paid()));
    const token = (await sentAddress()).slice('/api/callbacks/'.length);
    const rotated = createCallbackTokens({
      ...{ encryptionKey: 'a new key', previousEncryptionKey: ENCRYPTION_KEY },
    })!;
    expect(rotated.stepOf(token)).toEqual({ runId, stepKey: 'paid' });
    expect(rotated.tokenOf({ runId, stepKey: 'paid' })).not.toBe(token);
    await engine.cancel(runId);
  });

  test('a body that is not JSON, too deep or too large is refused, and changes nothing', async () => {
    const runId = await engine.start(chain(ask(), paid()));
    const address = await sentAddress();
    await whenWaiting(runId);
    const deep = '['.repeat(101) + ']'.repeat(101);
    for (const body of ['', 'null', 'yes', '{"a":', deep, '{"a": "\\u0000"}', '{"__proto__": 1}']) {
      expect([body.slice(0, 10), await statusOf(address, body)]).toEqual([body.slice(0, 10), 400]);
    }
    expect(await statusOf(address, JSON.stringify('x'.repeat(1_100_000)))).toBe(413);
    expect(await statusOf(address, '"still"')).toBe(200);
    expect((await engine.until(runId, ['success'])).output).toEqual({ paid: 'still' });
  });

  test('a GET shows what it is, and ends nothing', async () => {
    const runId = await engine.start(chain(ask(), paid()));
    const address = await sentAddress();
    await whenWaiting(runId);
    const page = await engine.app.inject({ method: 'GET', url: address });
    expect([page.statusCode, page.headers['content-type']]).toEqual([
      ...[200, 'text/html; charset=utf-8'],
    ]);
    expect(page.body).toContain('Opening this page changes nothing.');
    expect((await engine.app.inject({ method: 'HEAD', url: address })).statusCode).toBe(200);
    expect((await engine.app.inject({ method: 'PUT', url: address })).statusCode).toBe(405);
    await whenWaiting(runId);
    await engine.cancel(runId);
  });

  test('no other credential is read', async () => {
    await engine.start(chain(ask(), paid()));
    const headers = { authorization: 'Bearer nonsense', 'x-api-key': 'nonsense' };
    expect((await post(await sentAddress(), '1', headers)).statusCode).toBe(200);
  });
});

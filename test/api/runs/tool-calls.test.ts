import { once } from 'node:events';
import { beforeAll, describe, expect, test } from '@jest/globals';
import { WebSocket } from 'ws';
import type { App } from '#api/deps.ts';
import { jsonDigest } from '#shared/crypto/json-digest.ts';
import { decideGate } from '#shared/db/gates/decisions.ts';
import { sql } from '#shared/db/pool.ts';
import { dispatchAndWake } from '#shared/operations/runs/runs.ts';
import type { GraphInput } from '#shared/contract/workflows/graph.ts';
import { startListingServer } from '#test/fakes/listing-server.ts';
import { useToolServer } from '#test/fakes/tool-server.ts';
import { operationsOf } from '#test/support/api-operations.ts';
import { eventually } from '#test/support/engine.ts';
import { raceRounds } from '#test/support/soak.ts';
import { useEngineApi } from '#test/api/engine-api.ts';
import { callerOf } from '#test/api/test-api.ts';

const tools = useToolServer();
const { engine, call } = useEngineApi({
  env: { ENCRYPTION_KEY: 'a key of this test, long enough' },
});
/** Another instance of the API in this process. */
let other: App;
beforeAll(async () => {
  other = await engine.startAnother();
});

const schema = {
  type: 'object',
  properties: { amount: { type: 'number', maximum: 500 }, currency: { type: 'string' } },
  required: ['amount', 'currency'],
  additionalProperties: false,
};

let registered = 0;

async function register(rest: object = {}): Promise<{ id: string; name: string }> {
  registered += 1;
  const { status, body } = await call('POST', '/api/tools', {
    name: `refund-${registered}`,
    endpoint_url: `${tools.url}/refund-${registered}`,
    input_schema: schema,
    ...rest,
  });
  expect(status).toBe(201);
  return body;
}

const offered = (name: string, rest: object) => {
  const currency = { currency: '{currency}' };
  return { name: `custom:${name}`, approval: 'always', ['fixed']: currency, ...rest };
};

/** An agent that refunds 120 euros, and then answers. */
const refunding = (name: string, rest: object = {}): GraphInput => ({
  nodes: [
    {
      id: 'triage',
      kind: 'agent',
      prompt: 'Handle {ticket}',
      tools: [offered(name, rest)],
      mock: {
        delay_ms: 1,
        turns: [
          { calls: [{ tool: `custom:${name}`, arguments: { amount: 120 } }] },
          { output: 'Refunded, with a long explanation.' },
        ],
      },
    },
  ],
  edges: [],
});

async function start(graph: GraphInput, rest: object = {}): Promise<string> {
  const { body: workflow } = await call('POST', '/api/workflows', { name: 'Refunds', graph });
  const { status, body } = await call('POST', `/api/workflows/${workflow.id}/runs`, {
    ticket: 'late parcel',
    currency: 'EUR',
    ...rest,
  });
  expect([status, body.detail]).toEqual([201, undefined]);
  return body.id;
}

async function paused(graph: GraphInput, rest: object = {}) {
  const runId = await start(graph, rest);
  await engine.until(runId, ['paused']);
  const { body } = await call('GET', `/api/runs/${runId}`);
  return { runId, gate: body.pending_gate, call: body.pending_gate.tool_call };
}

const approve = (runId: string, body: object, app = engine.app) =>
  callerOf(app)('POST', `/api/runs/${runId}/approve`, body);

/** Decides the call as if the decision had been committed before its tool changed. */
async function decidedBefore(runId: string, digest: string): Promise<void> {
  const { actor, db, deps } = engine;
  const decided = await decideGate(db, { actor, runId, approved: true, digest });
  if (decided.outcome !== 'decided') throw new Error(decided.outcome);
  dispatchAndWake(deps, decided.row, decided.first);
}

/** Takes from the call that waits what earlier releases did not store. */
async function requestedBefore(runId: string): Promise<{ digest: string }> {
  const { pending_gate: gate } = (await call('GET', `/api/runs/${runId}`)).body;
  const { tool, schema_digest, arguments: args } = gate.tool_call;
  const digest = jsonDigest({
    ...{ run_id: runId, step_key: gate.step_key, tool, schema_digest },
    arguments: args,
  });
  await engine.db.query(sql.unsafe`
    UPDATE gates SET tool_digest = NULL, digest = ${digest} WHERE run_id = ${runId}`);
  await engine.db.query(sql.unsafe`
    UPDATE steps SET output = (output::jsonb #- '{calls,0,tool_digest}')::json
    WHERE run_id = ${runId} AND step_key = 'triage/1'`);
  return { digest };
}

describe('a tool call that waits for approval', () => {
  test('is shown with its exact arguments, and sent as approved', async () => {
    const tool = await register();
    const { runId, gate, call: asked } = await paused(refunding(tool.name));
    expect(gate).toMatchObject({
      kind: 'tool_call',
      node_id: 'triage',
      step_key: 'triage/1.1',
      label: `custom:${tool.name}`,
      prompt: `Call custom:${tool.name} with {"amount":120,"currency":"EUR"}?`,
    });
    expect(asked).toMatchObject({
      tool: `custom:${tool.name}`,
      turn: 1,
      arguments: { amount: 120, currency: 'EUR' },
      digest: expect.stringMatching(/^sha256:[0-9a-f]{64}$/),
    });
    const { body: page } = await call('GET', '/api/approvals');
    expect(page.approvals).toEqual(
      expect.arrayContaining([expect.objectContaining({ run_id: runId, kind: 'tool_call' })]),
    );
    expect((await approve(runId, { digest: asked.digest, reason: 'as agreed' })).status).toBe(200);
    await engine.until(runId, ['success']);
    expect(tools.calls(tool.name).map((seen) => JSON.parse(seen.body))).toEqual([
      { amount: 120, currency: 'EUR' },
    ]);
    const { body: log } = await call('GET', `/api/audit?target_id=${runId}&action=approve`);
    const [entry] = Object.values<any>(log).find((each) => Array.isArray(each)) ?? [];
    expect(entry.details).toMatchObject({ tool: `custom:${tool.name}`, digest: asked.digest });
  });

  test('cannot be decided without its digest, or with another one', async () => {
    const tool = await register();
    const { runId } = await paused(refunding(tool.name));
    expect(await approve(runId, { step_key: 'triage/1.1' })).toMatchObject({
      status: 400,
      body: { detail: "Gate 'triage/1.1' is a tool call: send its digest with the decision" },
    });
    expect(await approve(runId, {})).toMatchObject({ status: 400 });
    const other = `sha256:${'0'.repeat(64)}`;
    expect(await approve(runId, { digest: other })).toMatchObject({ status: 409 });
    expect(await approve(runId, { digest: 'sha256:1' })).toMatchObject({ status: 400 });
    expect(await approve(runId, { arguments: { amount: 1 } })).toMatchObject({ status: 400 });
    expect(tools.calls(tool.name)).toHaveLength(0);
    expect((await engine.run(runId)).status).toBe('paused');
  });

  test('must be identified by its own digest after another call of the same turn was decided', async () => {
    const tool = await register();
    const calls = [120, 130].map((amount) => ({
      tool: `custom:${tool.name}`,
      arguments: { amount },
    }));
    const mock = { turns: [{ calls }, { output: 'Refunded' }] };
    const tools = [offered(tool.name, {})];
    const node = { id: 'triage', kind: 'agent', prompt: 'Go', tools, mock } as never;
    const { runId } = await paused({ nodes: [node], edges: [] });
    const { body } = await call('GET', `/api/runs/${runId}`);
    const digests = Object.fromEntries(
      body.pending_gates.map((gate: any) => [gate.step_key, gate.tool_call.digest]),
    );
    const first = digests['triage/1.1'];
    const second = digests['triage/1.2'];
    const asksForFirst = {
      status: 400,
      body: { detail: "Gate 'triage/1.1' is a tool call: send its digest with the decision" },
    };
    expect(await approve(runId, {})).toMatchObject(asksForFirst);
    expect((await approve(runId, { digest: second })).status).toBe(200);
    expect(await approve(runId, {})).toMatchObject(asksForFirst);
    expect(await approve(runId, { node_id: 'triage' })).toMatchObject(asksForFirst);
    for (const named of [{ digest: second }, { step_key: 'triage/1.2', digest: second }]) {
      expect(await approve(runId, named)).toMatchObject({
        status: 409,
        body: { detail: expect.stringContaining("'triage/1.2' has already been approved") },
      });
    }
    expect((await approve(runId, { digest: first })).status).toBe(200);
    await engine.until(runId, ['success']);
  });

  test('is sent with the arguments that its approver changed, if these are valid', async () => {
    const tool = await register();
    const { runId, call: asked } = await paused(refunding(tool.name));
    const { digest } = asked;
    const wrong = [
      { amount: 900, currency: 'EUR' },
      { amount: 50, currency: 'USD' },
      { amount: 50, currency: 'EUR', note: 'x' },
      { currency: 'EUR' },
    ];
    for (const args of wrong) {
      const { status, body } = await approve(runId, { digest, arguments: args });
      expect([status, body.detail]).toEqual([400, expect.stringContaining('arguments')]);
    }
    const args = { amount: 50, currency: 'EUR' };
    expect((await approve(runId, { digest, arguments: args })).status).toBe(200);
    await engine.until(runId, ['success']);
    expect(tools.calls(tool.name).map((seen) => JSON.parse(seen.body))).toEqual([args]);
  });

  test('with different changes by two approvers is sent with one of them', async () => {
    for (let round = 0; round < raceRounds(10); round += 1) {
      const tool = await register();
      const { runId, call: asked } = await paused(refunding(tool.name));
      const amounts = [10, 20, 30, 40];
      const answers = await Promise.all(
        amounts.map((amount, n) =>
          approve(
            runId,
            { digest: asked.digest, arguments: { amount, currency: 'EUR' } },
            n % 2 === 0 ? engine.app : other,
          ),
        ),
      );
      const won = answers.flatMap(({ status }, n) => (status === 200 ? [amounts[n]] : []));
      expect(won).toHaveLength(1);
      expect(answers.filter(({ status }) => status === 409)).toHaveLength(3);
      await engine.until(runId, ['success']);
      const sent = tools.calls(tool.name).map((seen) => JSON.parse(seen.body).amount);
      expect(sent).toEqual(won);
    }
  }, 120_000);

  test('is refused if the tool has changed since', async () => {
    const tool = await register();
    const { runId, call: asked } = await paused(refunding(tool.name));
    const changed = { ...schema, properties: { ...schema.properties, note: { type: 'string' } } };
    await call('PUT', `/api/tools/${tool.id}`, { input_schema: changed });
    expect(await approve(runId, { digest: asked.digest })).toMatchObject({
      status: 409,
      body: { detail: expect.stringContaining('has changed since the call was requested') },
    });
    const rejected = await approve(runId, { digest: asked.digest, approved: false });
    expect(rejected.status).toBe(200);
    await engine.until(runId, ['success']);
    expect(tools.calls(tool.name)).toHaveLength(0);
  });

  test.each([
    ['address', { endpoint_url: 'elsewhere' }, {}],
    ['method', { method: 'PUT' }, {}],
    ['headers', { headers: { 'X-Account': 'another' } }, {}],
    ['kind (to mcp)', { kind: 'mcp', mcp_tool: 'refund' }, {}],
    ['kind (to http)', { kind: 'http', mcp_tool: null }, { kind: 'mcp', mcp_tool: 'refund' }],
    ['mcp_tool', { mcp_tool: 'refund-all' }, { kind: 'mcp', mcp_tool: 'refund' }],
  ])('is refused if the %s of its tool has changed since', async (_field, change, before) => {
    const tool = await register(before);
    const { runId, call: asked } = await paused(refunding(tool.name));
    const { tool: name, schema_digest, tool_digest, arguments: args } = asked;
    expect(tool_digest).toMatch(/^sha256:[0-9a-f]{64}$/);
    expect(asked.digest).toBe(
      jsonDigest({
        ...{ run_id: runId, step_key: 'triage/1.1', tool: name },
        ...{ tool_digest, schema_digest, arguments: args },
      }),
    );
    const body =
      'endpoint_url' in change ? { endpoint_url: `${tools.url}/${tool.name}-elsewhere` } : change;
    expect((await call('PUT', `/api/tools/${tool.id}`, body)).status).toBe(200);
    expect(await approve(runId, { digest: asked.digest })).toMatchObject({
      status: 409,
      body: { detail: expect.stringContaining('has changed since the call was requested') },
    });
    expect((await approve(runId, { digest: asked.digest, approved: false })).status).toBe(200);
    await engine.until(runId, ['success']);
    expect(tools.calls(tool.name)).toHaveLength(0);
    expect(tools.calls(`${tool.name}-elsewhere`)).toHaveLength(0);
  });

  test('is still approved if only the texts and retries of its tool have changed', async () => {
    const tool = await register();
    const { runId, call: asked } = await paused(refunding(tool.name));
    const body = { label: 'A refund', timeout_seconds: 9, retry_count: 2 };
    expect((await call('PUT', `/api/tools/${tool.id}`, body)).status).toBe(200);
    expect((await approve(runId, { digest: asked.digest })).status).toBe(200);
    await engine.until(runId, ['success']);
    expect(tools.calls(tool.name)).toHaveLength(1);
  });

  test('is not sent if its tool has changed between its approval and the call', async () => {
    const tool = await register();
    const { runId, call: asked } = await paused(refunding(tool.name));
    const elsewhere = `${tool.name}-elsewhere`;
    await call('PUT', `/api/tools/${tool.id}`, { endpoint_url: `${tools.url}/${elsewhere}` });
    await decidedBefore(runId, asked.digest);
    await engine.until(runId, ['success']);
    expect([...tools.calls(tool.name), ...tools.calls(elsewhere)]).toEqual([]);
    const { body } = await call('GET', `/api/runs/${runId}/steps/triage/messages`);
    expect(body.messages).toContainEqual(
      expect.objectContaining({
        ...{ role: 'tool', is_error: true },
        content: expect.stringContaining('no longer fits: the tool has changed since'),
      }),
    );
  });

  test('of an MCP server is compared with what its server lists now', async () => {
    const listing = await startListingServer([{ name: 'refund', inputSchema: schema }]);
    const imported = await call('POST', '/api/tools/import', { server_url: `${listing.url}/mcp` });
    const [{ name }] = imported.body.created;
    const made = () => listing.requests('tools/call').length;
    const graph = refunding(name, { approval: 'args.amount > limit' });
    const free = await start(graph, { limit: 500 });
    expect((await engine.until(free, ['success'])).error).toBeNull();
    expect(made()).toBe(1);
    const { runId, call: asked } = await paused(graph, { limit: 1 });
    listing.tools[0] = { name: 'refund', inputSchema: { ...schema, title: 'Pays twice' } };
    expect((await approve(runId, { digest: asked.digest })).status).toBe(200);
    await engine.until(runId, ['success']);
    expect(made()).toBe(1);
    await listing.close();
  });

  test('of an earlier release is refused, and the agent can call again', async () => {
    const tool = await register();
    const { runId } = await paused(refunding(tool.name));
    const { digest } = await requestedBefore(runId);
    expect(await approve(runId, { digest })).toMatchObject({
      status: 409,
      body: { detail: expect.stringContaining('reject it, and the agent can call again') },
    });
    // It had been approved, and was not sent yet.
    await decidedBefore(runId, digest);
    await engine.until(runId, ['success']);
    expect(tools.calls(tool.name)).toHaveLength(0);
  });

  test('hides its arguments from callers who cannot approve', async () => {
    const tool = await register();
    const { runId } = await paused(refunding(tool.name));
    const { body: created } = await call('POST', '/api/keys', { name: 'viewer', role: 'viewer' });
    const { body } = await call('GET', `/api/runs/${runId}`, undefined, {
      'x-api-key': created.secret,
    });
    expect(body.pending_gate.tool_call.arguments).toBeNull();
    expect(body.pending_gates[0].tool_call.arguments).toBeNull();
    const { body: page } = await call('GET', '/api/approvals', undefined, {
      'x-api-key': created.secret,
    });
    for (const gate of page.approvals) expect(gate.tool_call?.arguments ?? null).toBeNull();
    const { body: open } = await call('GET', `/api/runs/${runId}`);
    expect(open.pending_gate.tool_call.arguments).toEqual({ amount: 120, currency: 'EUR' });
  });

  test('is redacted or hidden for callers who cannot approve, through every route and tool', async () => {
    const { body: policies } = await call('GET', '/api/workspace/policies');
    const redaction = { detectors: ['email'], patterns: [] };
    await call('PUT', '/api/workspace/policies', { ...policies, redaction });
    const tool = await register({
      input_schema: { type: 'object', properties: { to: { type: 'string' } } },
    });
    const mock = {
      turns: [
        // The address itself is neither in the graph nor in the input.
        { calls: [{ tool: `custom:${tool.name}`, arguments: { to: '{who}@{host}' } }] },
        { output: 'Sent' },
      ],
    };
    const offer = { name: `custom:${tool.name}`, approval: 'always' };
    const nodes = [{ id: 'triage', kind: 'agent', prompt: 'Go', tools: [offer], mock } as never];
    const graph = { nodes, edges: [] };
    const { runId, call: asked } = await paused(graph, { who: 'ada', host: 'example.org' });
    expect(asked.arguments).toEqual({ to: 'ada@example.org' });
    const { body: created } = await call('POST', '/api/keys', { name: 'viewer', role: 'viewer' });
    const viewer = { 'x-api-key': created.secret };
    const { workflow_id } = (await call('GET', `/api/runs/${runId}`)).body;

    const readsOf = async (headers: Record<string, string>) => {
      const read: Record<string, string> = {};
      for (const { name, method, path, isSocket } of operationsOf(engine.app)) {
        if (method !== 'GET' || isSocket || !path.startsWith('/api/')) continue;
        const id = path.startsWith('/api/workflows') ? workflow_id : runId;
        const step = path.endsWith('messages') ? 'triage' : encodeURIComponent('triage/1.1');
        const url = path.replace('{id}', id).replace('{step_key}', step).replace('{version}', '1');
        read[name] = (await call('GET', url, undefined, headers)).text;
      }
      const answer = await call(
        'POST',
        '/api/mcp',
        {
          ...{ jsonrpc: '2.0', id: 1, method: 'tools/call' },
          params: { name: 'get_run', arguments: { run_id: runId } },
        },
        { accept: 'application/json, text/event-stream', ...headers },
      );
      return { ...read, 'MCP get_run': answer.text };
    };
    const shownBy = async (who: Record<string, string>) =>
      Object.entries(await readsOf(who)).flatMap(([route, text]) =>
        text.includes('ada@example.org') ? [route] : [],
      );
    const routes = [
      'GET /api/runs/{id}',
      'GET /api/runs/{id}/steps',
      'GET /api/runs/{id}/steps/{step_key}/messages',
      'GET /api/runs/{id}/evidence',
      'GET /api/approvals',
      'GET /api/runs/{id}/gates/{step_key}',
      'MCP get_run',
    ];
    expect(await shownBy({})).toEqual(routes);
    expect(await shownBy(viewer)).toEqual([]);
    await approve(runId, { digest: asked.digest });
    await engine.until(runId, ['success']);
    expect(await shownBy({})).toEqual(routes.filter((route) => route !== 'GET /api/approvals'));
    expect(await shownBy(viewer)).toEqual([]);
    const { body } = await call('GET', `/api/runs/${runId}/steps/triage/messages`, {}, viewer);
    expect(body.messages[1].calls[0].arguments).toBeNull();
    await call('PUT', '/api/workspace/policies', policies);
  });

  test('requires approval if its approval expression fails or is true', async () => {
    const tool = await register();
    const { runId } = await paused(refunding(tool.name, { approval: 'args.amount > ticket' }));
    expect((await engine.run(runId)).status).toBe('paused');
    const free = await start(refunding(tool.name, { approval: 'args.amount > 200' }));
    expect((await engine.until(free, ['success', 'paused'])).status).toBe('success');
  });
});

describe('the conversation of an agent', () => {
  test('has every message, and is 404 elsewhere', async () => {
    const tool = await register();
    tools.answer(tool.name, { body: { refunded: 120 } });
    const runId = await start(refunding(tool.name, { approval: 'never' }));
    await engine.until(runId, ['success']);
    const { body } = await call('GET', `/api/runs/${runId}/steps/triage/messages`);
    expect(body.messages).toEqual([
      { role: 'user', text: 'Handle late parcel' },
      expect.objectContaining({
        role: 'assistant',
        turn: 1,
        step_key: 'triage/1',
        calls: [
          {
            index: 1,
            step_key: 'triage/1.1',
            tool: `custom:${tool.name}`,
            arguments: { amount: 120 },
            refusal: null,
          },
        ],
      }),
      expect.objectContaining({
        role: 'tool',
        turn: 1,
        index: 1,
        content: { refunded: 120 },
        is_error: false,
      }),
      expect.objectContaining({
        role: 'assistant',
        turn: 2,
        calls: [],
        at: expect.stringMatching(/^\d{4}-\d\d-\d\dT\d\d:\d\d:\d\d\.\d{3}Z$/),
      }),
    ]);
    for (const path of [`${runId}/steps/other/messages`, 'run_x/steps/triage/messages']) {
      expect((await call('GET', `/api/runs/${path}`)).status).toBe(404);
    }
  });

  test('streams turns and text only to sockets that request them', async () => {
    const tool = await register();
    const { runId, call: asked } = await paused(refunding(tool.name));
    const listen = async (query: string, app: App) => {
      const { port } = app.server.address() as { port: number };
      const url = `ws://127.0.0.1:${port}/api/runs/${runId}/stream${query}`;
      const socket = new WebSocket(url);
      const frames: Record<string, unknown>[] = [];
      socket.on('message', (data) => frames.push(JSON.parse((data as Buffer).toString())));
      await once(socket, 'open');
      return { frames, socket };
    };
    const plain = await listen('', engine.app);
    const detailed = await listen('?deltas=true', other);
    await approve(runId, { digest: asked.digest });
    await engine.until(runId, ['success']);
    const ended = ({ frames }: typeof plain) => frames.some(({ type }) => type === 'run_completed');
    await eventually(() => ended(plain) && ended(detailed));
    const typesOf = ({ frames }: typeof plain) => new Set(frames.map(({ type }) => type));
    expect(typesOf(plain)).not.toContain('agent_turn');
    expect(typesOf(plain)).not.toContain('agent_delta');
    expect(typesOf(detailed)).toContain('agent_turn');
    const text = () =>
      detailed.frames
        .filter(({ type }) => type === 'agent_delta')
        .map((frame) => frame['text'])
        .join('');
    expect(text()).toBe('Refunded, with a long explanation.');
    const types = detailed.frames.map(({ type }) => type);
    expect(types.lastIndexOf('agent_delta')).toBeLessThan(types.lastIndexOf('agent_turn'));
    plain.socket.close();
    detailed.socket.close();
  });
});

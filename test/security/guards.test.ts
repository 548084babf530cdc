import { createHash } from 'node:crypto';
import { afterAll, beforeAll, describe, expect, test } from '@jest/globals';
import { effectOf } from '#activities/rehearsals/records.ts';
import { tools as mcpTools } from '#api/mcp/server.ts';
import { z } from 'zod';
import { newId } from '#shared/crypto/ids.ts';
import { sql } from '#shared/db/pool.ts';
import { buildApp } from '#api/app.ts';
import type { App } from '#api/deps.ts';
import { customToolInput } from '#shared/contract/tools/custom-tool.ts';
import type { GraphInput } from '#shared/contract/workflows/graph.ts';
import { createCustomTool } from '#shared/db/tools/custom-tools.ts';
import type { FakeServer } from '#test/fakes/http-server.ts';
import { connectMcp } from '#test/fakes/mcp-client.ts';
import { startMcpServer } from '#test/fakes/mcp-server.ts';
import { startToolServer, type ToolServer } from '#test/fakes/tool-server.ts';
import { echo, edge, type Engine, eventually, startEngine } from '#test/support/engine.ts';
import { soakTest } from '#test/support/soak.ts';
import { call as calling, childrenOf } from '#test/support/sub-workflows.ts';

// What follows a gate or an approval only happens after a person has decided it in an ordinary run.

let engine: Engine;
let app: App;
let tools: ToolServer;
let mcp: FakeServer;
let mcpUrl: string;
beforeAll(async () => {
  tools = await startToolServer();
  mcp = await startMcpServer();
  engine = await startEngine();
  app = buildApp(engine.deps);
  await app.listen({ host: '127.0.0.1', port: 0 });
  mcpUrl = `http://127.0.0.1:${(app.server.address() as { port: number }).port}/api/mcp`;
  const pay = {
    name: 'pay',
    endpoint_url: `${tools.url}/pay`,
    input_schema: { type: 'object', properties: { amount: {} } },
  };
  await createCustomTool(engine.db, engine.actor, customToolInput.parse(pay), () => ({}));
}, 60_000);
afterAll(async () => {
  await app.close();
  await engine.close();
  await Promise.all([tools.close(), mcp.close()]);
});

async function call(method: string, url: string, payload?: object, headers: object = {}) {
  const answer = await app.inject({
    ...{ method: method as 'GET', url, headers: { ...headers } },
    ...(payload === undefined ? {} : { payload }),
  });
  return { status: answer.statusCode, body: answer.body === '' ? null : answer.json() };
}

const gate = { id: 'ok', kind: 'human_gate', prompt: 'Release {amount}?' } as never;
const pays = {
  ...{ id: 'pay', kind: 'tool', tool_name: 'custom:pay', params: { amount: '{amount}' } },
} as never;
const gated = (node: unknown = pays): GraphInput => ({
  nodes: [gate, node as never],
  edges: [edge('ok', (node as { id: string }).id, 'true')],
});
const clerk = (offered: unknown) => ({
  ...{ id: 'clerk', kind: 'agent', prompt: 'Pay {amount}', model: 'mock', tools: [offered] },
  mock: {
    turns: [{ calls: [{ tool: 'custom:pay', arguments: { amount: '{amount}' } }] }],
    output: 'done',
  },
});
const sent = (): number => ['pay', 'other'].flatMap((name) => tools.calls(name)).length + posts();
const posts = (): number =>
  mcp.seen.filter(({ body }) => JSON.stringify(body).includes('"tools/call"')).length;

/** A run of the graph, which a person has approved. */
async function approvedRun(graph: GraphInput, input: object = { amount: 5 }) {
  const workflowId = await engine.define(graph);
  const runId = await engine.trigger(workflowId, input as never);
  await engine.until(runId, ['paused']);
  await call('POST', `/api/runs/${runId}/approve`, { approved: true });
  await engine.until(runId, ['success']);
  return { workflowId, runId };
}

/** An approved run that paid 5, behind a gate that does not show it, and the pinned output of another that pays 9. */
async function decidedWithPin() {
  const { workflowId, runId } = await approvedRun({
    nodes: [
      echo('terms', 'amount'),
      { ...(gate as object), prompt: 'Release?' } as never,
      { ...(pays as object), params: { amount: '{terms}' } } as never,
    ],
    edges: [edge('terms', 'ok'), edge('ok', 'pay', 'true')],
  });
  const other = await engine.trigger(workflowId, { amount: 9 });
  await engine.until(other, ['paused']);
  const pin = await call('PUT', `/api/workflows/${workflowId}/pins/terms`, { run_id: other });
  expect(pin.status).toBe(200);
  return { workflowId, runId, pinned: 9 };
}

/** How the rehearsal ended, once it has. */
async function ended(runId: string): Promise<string | null> {
  const run = await engine.until(runId, ['success', 'failed', 'paused']);
  return run.error;
}

describe('a rehearsal', () => {
  test('executes no write behind a gate, not even after a recorded decision', async () => {
    const { runId } = await approvedRun(gated());
    const before = sent();
    const first = await call('POST', `/api/runs/${runId}/rerun`, {
      ...{ mode: 'recorded', input: { amount: 5 }, decisions: { ok: { approved: true } } },
    });
    await ended(first.body.id);
    const second = await call('POST', `/api/runs/${first.body.id}/fork`, {
      ...{
        from_step: 'pay',
        state: { amount: 1_000_000 },
        mode: 'recorded',
        allow: ['custom:pay'],
      },
    });
    expect(second.status).toBe(201);
    // What a request decided is no answer where an effect is allowed: the gate stays open.
    expect((await engine.until(second.body.id, ['success', 'failed', 'paused'])).status).toBe(
      'paused',
    );
    const third = await call('POST', `/api/runs/${runId}/fork`, {
      ...{
        from_step: 'pay',
        state: { amount: 1_000_000 },
        mode: 'recorded',
        allow: ['custom:pay'],
      },
    });
    expect(await ended(third.body.id)).toBe(
      "Step 'pay' has no record with this input: gate 'ok' stands before it, and no one decides that in a rehearsal: " +
        'start an ordinary run',
    );
    expect(sent()).toBe(before);
  });

  soakTest(
    'executes no write behind a recorded decision that another input or a pinned output reaches',
    async () => {
      const { runId, pinned } = await decidedWithPin();
      const before = sent();
      for (const [body, amount] of [
        [{ input: { amount: 7 } }, 7],
        [{ pins: true }, pinned],
        [{ pins: true, input: { amount: 7 } }, pinned],
      ] as const) {
        const request = { mode: 'recorded', allow: ['custom:pay'], ...body };
        const { status, body: started } = await call('POST', `/api/runs/${runId}/rerun`, request);
        expect([status, started.detail]).toEqual([201, undefined]);
        expect(await ended(started.id)).toContain("gate 'ok' stands before it");
        const { steps } = await engine.run(started.id);
        const stepOf = (key: string) => steps.find(({ step_key }) => step_key === key);
        expect(stepOf('ok')).toMatchObject({ decision: { approved: true, by_kind: 'member' } });
        expect(stepOf('pay')).toMatchObject({ status: 'unrecorded', input: { amount } });
      }
      expect(sent()).toBe(before);
    },
  );

  test('executes a write that is not behind a gate', async () => {
    const workflowId = await engine.define({ nodes: [pays], edges: [] });
    const runId = await engine.trigger(workflowId, { amount: 1 });
    await engine.until(runId, ['success']);
    const before = sent();
    const { body } = await call('POST', `/api/runs/${runId}/rerun`, {
      ...{ mode: 'recorded', input: { amount: 2 }, allow: ['custom:pay'] },
    });
    expect(await ended(body.id)).toBeNull();
    expect(sent()).toBe(before + 1);
  });

  soakTest('executes no write of a child behind a gate, nor below it', async () => {
    const leaf = await engine.define({ nodes: [pays], edges: [] }, 'Leaf');
    const middle = await engine.define({
      nodes: [calling('leaf', leaf, { input: { amount: '{amount}' } })],
      edges: [],
    });
    const { runId } = await approvedRun(
      gated(calling('middle', middle, { input: { amount: '{amount}' } })),
    );
    const before = sent();
    const { body } = await call('POST', `/api/runs/${runId}/fork`, {
      ...{ from_step: 'middle', state: { amount: 7 }, mode: 'recorded' },
      allow: ['custom:pay', 'workflow'],
    });
    expect(await ended(body.id)).toContain("gate 'ok' in a run above stands before it");
    expect(sent()).toBe(before);
  });

  soakTest('executes no write after a sub-workflow that asks', async () => {
    const asks = await engine.define({
      nodes: [{ ...(gate as object), prompt: 'Release?' } as never, echo('done', '1')],
      edges: [edge('ok', 'done', 'true')],
    });
    const workflowId = await engine.define({
      nodes: [calling('ask', asks), pays],
      edges: [edge('ask', 'pay')],
    });
    const runId = await engine.trigger(workflowId, { amount: 5 });
    const asking = async () => (await childrenOf(engine, runId))[0]?.status === 'paused';
    await eventually(asking);
    const [child] = await childrenOf(engine, runId);
    await call('POST', `/api/runs/${child?.id}/approve`, { approved: true });
    await engine.until(runId, ['success']);
    const before = sent();
    const { body } = await call('POST', `/api/runs/${runId}/fork`, {
      ...{ from_step: 'pay', state: { amount: 7 }, mode: 'recorded', allow: ['custom:pay'] },
    });
    expect(await ended(body.id)).toContain(
      "gate 'ok' of the workflow that 'ask' runs stands before it",
    );
    expect(sent()).toBe(before);
  });

  test('executes no call of an agent behind a gate, and none whose approval depends on an expression', async () => {
    const { runId } = await approvedRun(gated(clerk('custom:pay')));
    const free = await engine.define({
      nodes: [clerk({ name: 'custom:pay', approval: 'limit < 10' }) as never],
      edges: [],
    });
    const freeRun = await engine.trigger(free, { amount: 1, limit: 100 });
    await engine.until(freeRun, ['success']);
    const before = sent();
    const again = async (id: string, state: object) => {
      const fork = { from_step: 'clerk', state, mode: 'recorded', allow: ['custom:pay', 'agent'] };
      const { body } = await call('POST', `/api/runs/${id}/fork`, fork);
      return ended(body.id);
    };
    expect(await again(runId, { amount: 7 })).toContain("gate 'ok' stands before it");
    expect(await again(freeRun, { amount: 7 })).toContain(
      "the approval of 'custom:pay' at 'clerk' stands before it",
    );
    expect(sent()).toBe(before);
  });

  test('from before its gates were stored executes no write', () => {
    const node = { ...(pays as object), params: {} } as never;
    const rules = { allow: ['custom:pay'], failures: 'recorded' as const };
    const effect = (guard: object) =>
      effectOf({ node, params: {}, rehearsal: { ...rules, ...guard } });
    expect(effect({})?.refusal).toContain('a gate or an approval stands before it');
    expect(effect({ guard: null })).toEqual({ name: 'custom:pay' });
  });

  soakTest(
    'that ended without a record keeps the input of that step, and is not resumed',
    async () => {
      const { runId } = await approvedRun(gated());
      const { body } = await call('POST', `/api/runs/${runId}/fork`, {
        ...{ from_step: 'pay', state: { amount: 9 }, mode: 'recorded' },
      });
      await ended(body.id);
      const run = await engine.run(body.id);
      expect(run.steps.find(({ step_key }) => step_key === 'pay')).toMatchObject({
        ...{ status: 'unrecorded', input: { amount: 9 } },
      });
      expect([run.resumable, run.failure?.kind]).toEqual([false, 'unrecorded']);
      const resumed = await call('POST', `/api/runs/${body.id}/resume`);
      expect([resumed.status, resumed.body.detail]).toEqual([
        409,
        expect.stringContaining('would end there again: start another one'),
      ]);
    },
  );

  soakTest('keeps the input of a sub-workflow and of a call without a record', async () => {
    const child = await engine.define({ nodes: [echo('done', 'amount')], edges: [] });
    const workflowId = await engine.define({
      nodes: [
        calling('child', child, { input: { amount: '{amount}' } }),
        clerk('custom:pay') as never,
      ],
      edges: [],
    });
    const test = async (node: string, allow: string[]) => {
      const url = `/api/workflows/${workflowId}/nodes/${node}/test`;
      const { body } = await call('POST', url, { state: { amount: 4 }, allow });
      const run = await engine.run(body.run_id);
      const unrecorded = run.steps.filter(({ status }) => status === 'unrecorded');
      return Object.fromEntries(unrecorded.map(({ step_key, input }) => [step_key, input]));
    };
    expect(await test('child', [])).toEqual({ child: { amount: 4 } });
    expect(await test('clerk', ['agent'])).toMatchObject({ 'clerk/1.1': { amount: 4 } });
    expect(await test('clerk', [])).toMatchObject({ 'clerk/1': { prompt: 'Pay 4' } });
  });
});

describe('a test of one node', () => {
  const nodes: [string, () => object, string][] = [
    ['a custom tool', () => pays, 'custom:pay'],
    [
      'a request that deletes',
      () => ({
        ...{ id: 'pay', kind: 'tool', tool_name: 'http_request' },
        params: { url: `${tools.url}/other`, method: '{method}' },
      }),
      'http_request:DELETE',
    ],
    [
      'an MCP server',
      () => ({
        ...{ id: 'pay', kind: 'tool', tool_name: 'mcp' },
        params: { server_url: mcp.url, tool: 'add', arguments: { a: 1, b: 2 } },
      }),
      'mcp',
    ],
  ];
  test.each(nodes)(
    'does not execute %s behind a gate of its workflow',
    async (_name, node, allow) => {
      const workflowId = await engine.define(gated(node()));
      const before = sent();
      const { body } = await call('POST', `/api/workflows/${workflowId}/nodes/pay/test`, {
        ...{ state: { amount: 1_000_000, method: 'DELETE' }, allow: [allow] },
      });
      expect(body).toMatchObject({
        status: 'failed',
        error: expect.stringContaining("gate 'ok' stands before it"),
      });
      expect(sent()).toBe(before);
    },
  );

  test('executes a read behind a gate', async () => {
    const read = {
      ...{ id: 'get', kind: 'tool', tool_name: 'http_request' },
      params: { url: `${tools.url}/read`, method: 'get' },
    };
    const workflowId = await engine.define(gated(read));
    const { body } = await call('POST', `/api/workflows/${workflowId}/nodes/get/test`, {
      ...{ state: {}, allow: ['http_request:GET'] },
    });
    expect(body).toMatchObject({ status: 'success' });
  });
});

describe('an experiment', () => {
  test('decides no gate if it allows an effect, over the API and MCP', async () => {
    const { workflowId, runId } = await approvedRun(gated());
    const request = {
      ...{ candidate: { version: 1 }, runs: [runId] },
      ...{ decisions: { ok: { approved: true } }, allow: ['custom:pay'] },
    };
    const before = sent();
    const refusal = "cannot be combined with 'custom:pay' in allow";
    const { status, body } = await call(
      'POST',
      `/api/workflows/${workflowId}/experiments`,
      request,
    );
    expect([status, body.detail]).toEqual([400, expect.stringContaining(refusal)]);
    const client = await connectMcp(mcpUrl);
    const args = { workflow: workflowId, ...request };
    const result: any = await client.callTool({ name: 'start_experiment', arguments: args });
    await client.close();
    expect([result.isError, result.content[0].text]).toEqual([
      true,
      expect.stringContaining(refusal),
    ]);
    expect(sent()).toBe(before);
  });

  test('executes no write behind a gate', async () => {
    const { workflowId, runId } = await approvedRun(gated());
    const draft = gated({ ...(pays as object), params: { amount: '{amount}', again: true } });
    await call('PUT', `/api/workflows/${workflowId}/draft`, { graph: draft });
    const before = sent();
    const { body } = await call('POST', `/api/workflows/${workflowId}/experiments`, {
      ...{ candidate: 'draft', runs: [runId], allow: ['custom:pay'] },
    });
    const read = async () => (await call('GET', `/api/experiments/${body.id}`)).body;
    await eventually(async () => (await read()).status === 'done');
    expect((await read()).runs[0]).toMatchObject({
      outcome: 'unrecorded',
      reason: expect.stringContaining("gate 'ok' stands before it"),
    });
    expect(sent()).toBe(before);
  });

  soakTest('executes no write behind a gate that a pinned output reaches', async () => {
    const { workflowId, runId, pinned } = await decidedWithPin();
    const before = sent();
    const { body } = await call('POST', `/api/workflows/${workflowId}/experiments`, {
      ...{ candidate: { version: 1 }, runs: [runId], allow: ['custom:pay'], pins: true },
    });
    const read = async () => (await call('GET', `/api/experiments/${body.id}`)).body;
    await eventually(async () => (await read()).status === 'done');
    const [result] = (await read()).runs;
    expect(result).toMatchObject({
      outcome: 'unrecorded',
      reason: expect.stringContaining("gate 'ok' stands before it"),
    });
    const { steps } = await engine.run(result.rehearsal_run_id);
    expect(steps.find(({ step_key }) => step_key === 'pay')?.input).toEqual({ amount: pinned });
    expect(sent()).toBe(before);
  });
});

describe('a version or draft that requires less approval than the current version', () => {
  let workflowId: string;
  /** A run of the first version, which asks nothing, like the second and the draft. The third is current. */
  let runId: string;
  let runner: Record<string, string>;
  const paysAgain = { ...(pays as object), params: { amount: '{amount}', again: true } } as never;
  beforeAll(async () => {
    workflowId = await engine.define({ nodes: [pays], edges: [] });
    runId = await engine.trigger(workflowId, { amount: 1 });
    await engine.until(runId, ['success']);
    const again = { nodes: [paysAgain], edges: [] };
    await call('PUT', `/api/workflows/${workflowId}`, { graph: again });
    await call('PUT', `/api/workflows/${workflowId}`, { graph: gated() });
    await call('PUT', `/api/workflows/${workflowId}/draft`, { graph: again });
    runner = await addKey({ run_workflows: true });
  }, 30_000);

  /** A key of a viewer with these permissions in addition. */
  async function addKey(overrides: Record<string, boolean>): Promise<Record<string, string>> {
    const id = newId('member');
    const digest = sql.binary(createHash('sha256').update(`ops_${id}`).digest());
    const { workspaceId } = engine.actor;
    await engine.db.query(sql.type(z.object({}))`
      INSERT INTO members (id, workspace_id, name, email, role, status, overrides)
      VALUES (${id}, ${workspaceId}, ${id}, ${`${id}@example.com`}, 'viewer', 'active',
              ${JSON.stringify(overrides)}::jsonb)
    `);
    await engine.db.query(sql.type(z.object({}))`
      INSERT INTO api_keys (id, workspace_id, name, prefix, secret_hash, role, member_id)
      VALUES (${newId('apiKey')}, ${workspaceId}, 'k', 'ops_', ${digest}, 'viewer', ${id})
    `);
    return { 'x-api-key': `ops_${id}` };
  }

  interface Chosen {
    version?: number;
    draft?: boolean;
  }
  interface Answer {
    /** Of a refusal its text. */
    refused?: string;
    body: any;
  }
  type Ask = (body: object) => Promise<Answer>;
  const named: Chosen[] = [{ version: 2 }, { draft: true }];
  const orOfTheRun: Chosen[] = [{}, ...named];
  const forbidden = async (ask: Ask, body: object, { draft, version = 1 }: Chosen) =>
    expect((await ask(body)).refused).toBe(
      `This action requires the 'publish_workflows' permission: in ${draft === true ? 'this draft' : `version ${version}`}, ` +
        "node 'pay' can write without gate 'ok', which the current version puts before it. Run the current version, or ask " +
        'someone with the permission',
    );
  const unwritten = "in the current version, gate 'ok' stands before it";
  const rehearses = async (ask: Ask, body: object) => {
    const answer = await ask({ ...body, allow: ['custom:pay'] });
    expect(answer.refused).toBeUndefined();
    const { error } = await engine.until(answer.body.run_id ?? answer.body.id, ['failed']);
    expect(error).toContain(unwritten);
  };
  const state = { amount: 1_000_000 };

  /** What every route does that accepts what to run. */
  const kinds = {
    starts: (ask: Ask) => forbidden(ask, { draft: true }, { draft: true }),
    reruns: async (ask: Ask) => {
      for (const chosen of orOfTheRun) {
        await forbidden(ask, chosen, chosen);
        await rehearses(ask, { ...chosen, input: state, mode: 'recorded' });
      }
    },
    forks: async (ask: Ask) => {
      for (const chosen of orOfTheRun) {
        await forbidden(ask, { ...chosen, from_step: 'pay' }, chosen);
        await rehearses(ask, { ...chosen, from_step: 'pay', state, mode: 'recorded' });
      }
    },
    tests: async (ask: Ask) => {
      for (const chosen of named) await rehearses(ask, { ...chosen, state });
    },
    experiments: async (ask: Ask) => {
      for (const { version } of named) {
        const candidate = version === undefined ? 'draft' : { version };
        const { body } = await ask({ candidate, runs: [runId], allow: ['custom:pay'] });
        const read = async () => (await call('GET', `/api/experiments/${body.id}`)).body;
        await eventually(async () => (await read()).status === 'done');
        expect((await read()).runs[0].reason).toContain(unwritten);
      }
    },
    plans: async (ask: Ask) => {
      for (const chosen of named) {
        expect((await ask({ ...chosen, input: state })).refused).toBeUndefined();
      }
    },
  };

  const fields = ['version', 'draft', 'candidate', 'allow'];
  const overHttp: Record<string, keyof typeof kinds> = {
    'POST /api/workflows/{id}/runs': 'starts',
    'POST /api/runs/{id}/rerun': 'reruns',
    'POST /api/runs/{id}/fork': 'forks',
    'POST /api/workflows/{id}/nodes/{node_id}/test': 'tests',
    'POST /api/workflows/{id}/experiments': 'experiments',
    'POST /api/workflows/{id}/dry-run': 'plans',
  };
  const overMcp: Record<string, keyof typeof kinds> = {
    run_workflow: 'starts',
    rerun_run: 'reruns',
    fork_run: 'forks',
    test_node: 'tests',
    start_experiment: 'experiments',
    dry_run_workflow: 'plans',
  };

  test('can be chosen with these routes and tools only', () => {
    const { paths, components } = (app as any).swagger();
    const namesOf = (schema: any = {}): string[] => [
      ...(schema.$ref === undefined
        ? []
        : namesOf(components.schemas[schema.$ref.split('/').at(-1)])),
      ...Object.keys(schema.properties ?? {}),
      ...[...(schema.anyOf ?? []), ...(schema.oneOf ?? []), ...(schema.allOf ?? [])].flatMap(
        namesOf,
      ),
    ];
    const operations = Object.entries<any>(paths).flatMap(([path, methods]) =>
      Object.entries<any>(methods).map(([method, operation]) => {
        const body = operation.requestBody?.content?.['application/json']?.schema;
        const queries = (operation.parameters ?? []).filter((each: any) => each.in === 'query');
        const names = [...namesOf(body), ...queries.map((query: any) => query.name)];
        return { name: `${method.toUpperCase()} ${path}`, names };
      }),
    );
    const choosing = operations
      .filter(
        ({ name, names }) => name.startsWith('POST') && fields.some((each) => names.includes(each)),
      )
      .map(({ name }) => name);
    expect(choosing.sort()).toEqual(Object.keys(overHttp).sort());
    const offering = mcpTools
      .filter(({ input }) => fields.some((each) => Object.hasOwn((input as any).shape ?? {}, each)))
      .map(({ name }) => name);
    expect(
      offering.filter((name) => !/^(get|list|diff|restore|explain)_/.test(name)).sort(),
    ).toEqual(Object.keys(overMcp).sort());
  });

  test.each(Object.entries(overHttp))(
    'is run by %s only with the permission',
    async (name, kind) => {
      const [method = '', path = ''] = name.split(' ');
      const id = path.startsWith('/api/runs') ? runId : workflowId;
      const url = path.replace('{id}', id).replace('{node_id}', 'pay');
      const before = sent();
      await kinds[kind](async (body) => {
        const query = kind === 'starts' ? '?draft=true' : '';
        const given = kind === 'starts' ? state : body;
        const answer = await call(method, url + query, given, runner);
        return answer.status < 300 ? answer : { ...answer, refused: answer.body.detail };
      });
      expect(sent()).toBe(before);
    },
    60_000,
  );

  test.each(Object.entries(overMcp))(
    'is run by the tool %s only with the permission',
    async (name, kind) => {
      const client = await connectMcp(mcpUrl, undefined, runner);
      const of = ['reruns', 'forks'].includes(kind) ? { run_id: runId } : { workflow: workflowId };
      const node = kind === 'tests' ? { node_id: 'pay' } : {};
      const before = sent();
      await kinds[kind](async (body) => {
        const args = { ...of, ...node, ...body };
        const result: any = await client.callTool({ name, arguments: args });
        return result.isError === true
          ? { refused: result.content[0].text, body: null }
          : { body: result.structuredContent };
      });
      await client.close();
      expect(sent()).toBe(before);
    },
    60_000,
  );

  test('runs with the permission, and an earlier start is returned again without it', async () => {
    const publisher = await addKey({ run_workflows: true, publish_workflows: true });
    const before = sent();
    const start = (url: string, body: object, headers: object) =>
      call('POST', url, body, { ...headers, 'idempotency-key': 'once' });
    const rerun = `/api/runs/${runId}/rerun`;
    const draft = `/api/workflows/${workflowId}/runs?draft=true`;
    for (const [url, body] of [
      [rerun, { version: 2 }],
      [draft, { amount: 3 }],
    ] as const) {
      const first = await start(url, body, publisher);
      expect(first.status).toBe(201);
      const again = await start(url, body, runner);
      expect([again.status, again.body.id]).toEqual([200, first.body.id]);
      await engine.until(first.body.id, ['success']);
    }
    expect(sent()).toBe(before + 2);
  });

  soakTest(
    'is no obstacle to what asks as much: the current version, and a draft with more',
    async () => {
      const rerun = (body: object) => call('POST', `/api/runs/${runId}/rerun`, body, runner);
      const { status, body } = await rerun({ version: 3 });
      expect(status).toBe(201);
      await engine.until(body.id, ['paused']);
      const other = await engine.define(gated());
      const more = gated({ ...(pays as object), params: { amount: 1 } });
      await call('PUT', `/api/workflows/${other}/draft`, { graph: more });
      const started = await call(
        'POST',
        `/api/workflows/${other}/runs?draft=true`,
        { amount: 1 },
        runner,
      );
      expect(started.status).toBe(201);
    },
  );

  soakTest('is not run as a sub-workflow whose older version is named', async () => {
    const parent = (version?: number) => ({
      nodes: [
        calling('sub', workflowId, {
          input: { amount: '{amount}' },
          ...(version === undefined ? {} : { version }),
        }),
      ],
      edges: [],
    });
    const id = await engine.define(parent());
    await call('PUT', `/api/workflows/${id}/draft`, { graph: parent(1) });
    const { status, body } = await call(
      'POST',
      `/api/workflows/${id}/runs?draft=true`,
      { amount: 1 },
      runner,
    );
    expect([status, body.detail]).toEqual([
      403,
      expect.stringContaining(
        "node 'sub' can write without gate 'ok' of the workflow that 'sub' runs",
      ),
    ]);
  });
});

import { describe, expect, test } from '@jest/globals';
import { z } from 'zod';
import { sql } from '#shared/db/pool.ts';
import { soakTest } from '#test/support/soak.ts';
import { useTestApi } from '#test/api/test-api.ts';

const api = useTestApi();

const agent = (id: string, cost_usd = 0.01) => ({
  ...{ id, kind: 'agent', prompt: 'Go', mock: { output: 'done', cost_usd } },
});

async function define(nodes: object[], edges: object[] = [], rest: object = {}): Promise<string> {
  const graph = { nodes, edges };
  const { status, body } = await api.call('POST', '/api/workflows', {
    name: 'Dry',
    graph,
    ...rest,
  });
  expect(status).toBe(201);
  return body.id;
}

const dryRun = (id: string, body: object = {}) =>
  api.call('POST', `/api/workflows/${id}/dry-run`, body);

describe('a dry run', () => {
  test('reports what a run would cost, and changes nothing', async () => {
    const id = await define([agent('a'), agent('b', 0.02)], [{ source: 'a', target: 'b' }]);
    const rows = async () =>
      api.db.one(sql.type(z.object({ runs: z.number(), audit: z.number(), holds: z.number() }))`
        SELECT (SELECT count(*) FROM runs)::int AS runs, (SELECT count(*) FROM audit_log)::int AS audit,
               (SELECT count(*) FROM budget_holds)::int AS holds
      `);
    const before = await rows();
    const { status, body } = await dryRun(id, { input: {} });
    expect(status).toBe(200);
    expect(body).toEqual({
      version: 1,
      warnings: [],
      cost_usd: { min: 0.03, max: 0.03 },
      duration_ms: { min: 0, max: 1_200_000 },
      unbounded: [],
      nodes: [
        {
          ...{ node_id: 'a', verdicts: [], executions: { min: 1, max: 1 } },
          cost_usd: { min: 0.01, max: 0.01 },
        },
        {
          ...{ node_id: 'b', verdicts: [], executions: { min: 1, max: 1 } },
          cost_usd: { min: 0.02, max: 0.02 },
        },
      ],
      ...{ budgets: [], gates: [], hosts: [], secrets: [], connections: [] },
    });
    expect(await rows()).toEqual(before);
  });

  test('shows code without executing it, also one that would never end', async () => {
    const endless = 'export default () => { for (;;); };';
    const code = { id: 'c', kind: 'code', source: endless, timeout_seconds: 4 };
    const id = await define([code, agent('a')], [{ source: 'c', target: 'a' }]);
    const { status, body } = await dryRun(id, { input: {} });
    expect(status).toBe(200);
    expect(body).toMatchObject({
      // It could fail, and then the agent is not reached.
      cost_usd: { min: 0, max: 0.01 },
      nodes: [
        { node_id: 'c', executions: { min: 1, max: 1 }, cost_usd: { min: 0, max: 0 } },
        { node_id: 'a', executions: { min: 0, max: 1 } },
      ],
      ...{ hosts: [], secrets: [], connections: [], unbounded: [] },
    });
    await api.call('PUT', '/api/workspace/policies', {
      tools: [{ tool: 'code', allowed_workflow_ids: [] }],
    });
    const refused = (await dryRun(id, { input: {} })).body;
    await api.call('PUT', '/api/workspace/policies', {});
    expect(refused.nodes[0].verdicts).toMatchObject([
      { reason: "Tool 'code' is not allowed in this workflow" },
    ]);
  });

  test('examines a version or the draft, and names what does not exist', async () => {
    const id = await define([agent('a')]);
    expect(await dryRun(id, { draft: true })).toMatchObject({
      status: 404,
      body: { detail: 'Draft not found' },
    });
    const graph = { nodes: [agent('a', 0.5)], edges: [] };
    await api.call('PUT', `/api/workflows/${id}/draft`, { graph });
    expect((await dryRun(id, { draft: true })).body).toMatchObject({
      version: null,
      cost_usd: { max: 0.5 },
    });
    expect((await dryRun(id, { version: 1 })).body).toMatchObject({
      version: 1,
      cost_usd: { max: 0.01 },
    });
    expect(await dryRun(id, { version: 7 })).toMatchObject({
      status: 422,
      body: { detail: 'The workflow has no version 7' },
    });
    expect(await dryRun(id, { version: 1, draft: true })).toMatchObject({ status: 400 });
    expect(await dryRun('wf_00000000000000000000000000', { version: 7 })).toMatchObject({
      status: 404,
      body: { detail: 'Workflow not found' },
    });
  });

  test('refuses what a run would refuse', async () => {
    const input_schema = { type: 'object', required: ['n'], properties: { n: { type: 'number' } } };
    const id = await define([agent('a')], [], { input_schema });
    for (const input of [{}, { n: 'one' }]) {
      const [dry, started] = [
        await dryRun(id, { input }),
        await api.call('POST', `/api/workflows/${id}/runs`, input),
      ];
      expect([dry.status, dry.body.detail]).toEqual([started.status, started.body.detail]);
      expect(dry.status).toBe(400);
    }
    expect((await dryRun(id)).status).toBe(200);

    const empty = await define([]);
    const started = await api.call('POST', `/api/workflows/${empty}/runs`, {});
    const dry = await dryRun(empty);
    expect([dry.status, dry.body.detail]).toEqual([started.status, started.body.detail]);
    expect(dry.body.detail).toContain('Workflow graph invalid');

    for (const body of [{ input: 1 }, { input: [] }, { version: 0 }, { nonsense: 1 }]) {
      expect(await dryRun(id, body)).toMatchObject({ status: 400 });
    }
  });

  test('reports which budgets have room, and reserves nothing', async () => {
    const id = await define([agent('a')]);
    const budget = async (body: object) =>
      (await api.call('POST', '/api/budgets', { window: 'total', ...body })).body.id;
    const small = await budget({ name: 'Small', limit_usd: 1, reservation_estimate_usd: 2 });
    const large = await budget({
      ...{ name: 'Large', limit_usd: 10, reservation_estimate_usd: 0.5 },
      ...{ scope: 'workflow', workflow_id: id },
    });
    const elsewhere = await define([agent('a')]);
    await budget({ name: 'Other', limit_usd: 1, scope: 'workflow', workflow_id: elsewhere });
    for (let time = 0; time < 2; time += 1) {
      const { budgets } = (await dryRun(id)).body;
      expect(budgets).toHaveLength(2);
      expect(budgets).toEqual(
        expect.arrayContaining([
          { id: small, name: 'Small', asked_usd: 2, available_usd: 1, fits: false },
          { id: large, name: 'Large', asked_usd: 0.5, available_usd: 10, fits: true },
        ]),
      );
    }
    expect(await api.call('POST', `/api/workflows/${id}/runs`, {})).toMatchObject({ status: 402 });
    await api.call('DELETE', `/api/budgets/${small}`);
  });

  soakTest('follows the policies and prices of the workspace, and its cap', async () => {
    const provider = { ...agent('a'), model: 'acme/one', max_output_tokens: 1_000 };
    const id = await define([provider]);
    expect((await dryRun(id)).body).toMatchObject({ unbounded: ['a'], cost_usd: { max: null } });
    const price = { model: 'acme/one', input_usd_per_million: 1, output_usd_per_million: 10 };
    const prices = [{ ...price, cached_input_usd_per_million: 0.1 }];
    await api.call('PUT', '/api/workspace/prices', { prices });
    expect((await api.call('GET', '/api/workspace/prices')).body).toMatchObject({ prices });
    const priced = (await dryRun(id)).body;
    expect(priced.unbounded).toEqual([]);
    expect(priced.cost_usd.max).toBeGreaterThan(0.011);
    expect(priced.cost_usd.max).toBeLessThan(0.012);
    expect(priced.warnings).toEqual([]);
    await api.call('PUT', `/api/workflows/${id}`, { run_cap_usd: 0.001 });
    const warning = {
      code: 'cap_below_request',
      node_id: 'a',
      path: 'nodes[0].max_output_tokens',
      message: expect.stringContaining('more than the cap of $0.001'),
    };
    expect((await dryRun(id)).body).toMatchObject({
      ...{ cost_usd: { min: 0, max: 0.001 }, warnings: [warning] },
    });
    expect((await api.call('POST', `/api/workflows/${id}/validate`)).body).toMatchObject({
      ...{ valid: true, warnings: [warning] },
    });
    const policies = (await api.call('GET', '/api/workspace/policies')).body;
    await api.call('PUT', '/api/workspace/policies', { ...policies, model_allowlist: ['mock'] });
    expect((await dryRun(id)).body).toMatchObject({
      cost_usd: { min: 0, max: 0 },
      nodes: [{ verdicts: [{ policy: 'model_allowlist', decision: 'blocked' }] }],
    });
    await api.call('PUT', '/api/workspace/policies', policies);
  });

  test('lists who could decide, and what called workflows need', async () => {
    const gate = { id: 'ask', kind: 'human_gate', approvers: { roles: ['admin'] } };
    const child = await define([agent('inner'), gate], [], { name: 'Ask first', run_cap_usd: 5 });
    const id = await define([{ id: 'call', kind: 'workflow', workflow: 'Ask first' }]);
    const { body } = await dryRun(id, { input: {} });
    expect(body).toMatchObject({
      cost_usd: { min: 0, max: 0.01 },
      unbounded: ['call'],
      gates: [
        {
          ...{ node_id: 'call', required: 1, workflow: { id: child, name: 'Ask first' } },
          approvers: [{ id: expect.stringMatching(/^mem_/), name: expect.any(String) }],
        },
      ],
    });
  });
});

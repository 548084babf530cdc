import { describe, expect, test } from '@jest/globals';
import { customToolInput } from '#shared/contract/tools/custom-tool.ts';
import { createCustomTool, deleteCustomTool } from '#shared/db/tools/custom-tools.ts';
import { startToolServer } from '#test/fakes/tool-server.ts';
import { chain, edge, useEngine } from '#test/support/engine.ts';
import { useStage } from '#test/support/stage.ts';

const engine = useEngine();
const server = useStage(startToolServer);

const input_schema = {
  type: 'object',
  properties: { order: { type: 'string' }, amount: { type: 'number' } },
  required: ['order', 'amount'],
  additionalProperties: false,
};
const register = (name: string, fields: object = {}) =>
  createCustomTool(
    engine.deps.db,
    engine.actor,
    customToolInput.parse({
      name,
      endpoint_url: `${server.url}/${name}`,
      input_schema,
      ...fields,
    }),
    () => ({}),
  );
const agent = (tools: unknown[], ...calls: object[]) =>
  ({ id: 'a', kind: 'agent', prompt: 'Go', tools, mock: { turns: [{ calls }] } }) as never;

describe('a tool that an agent offers', () => {
  test("is called with the fixed arguments instead of the model's", async () => {
    await register('refund');
    const node = agent(
      [{ name: 'custom:refund', fixed: { order: '{order.id}' } }],
      { tool: 'custom:refund', arguments: { amount: 5 } },
      { tool: 'custom:refund', arguments: { amount: 6, order: 'mine' } },
      { tool: 'custom:refund', arguments: { amount: 'many' } },
    );
    const runId = await engine.trigger(await engine.define(chain(node)), {
      order: { id: 'o-1' },
    });
    await engine.until(runId, ['success']);
    // The model does not see `order`, so its own is refused like any unknown argument.
    expect(server.calls('refund').map(({ body }) => JSON.parse(body))).toEqual([
      { amount: 5, order: 'o-1' },
    ]);
  });

  test('keeps references in a fixed URL within their part of it', async () => {
    const node = agent(
      [{ name: 'http_request', fixed: { url: `${server.url}/orders/{order.id}?by={by}` } }],
      { tool: 'http_request' },
    );
    const input = { order: { id: 'a/../b?c' }, by: 'x&y=z' };
    const runId = await engine.trigger(await engine.define(chain(node)), input);
    await engine.until(runId, ['success', 'failed']);
    expect(server.calls('orders/a%2F..%2Fb%3Fc').map(({ url }) => url)).toEqual([
      '/orders/a%2F..%2Fb%3Fc?by=x%26y%3Dz',
    ]);
  });

  test('counts the cost of its turn once when its schema is compared on a thread', async () => {
    const order = { type: 'string', pattern: '^o-' };
    await register('look', { input_schema: { type: 'object', properties: { order } } });
    const calls = [{ tool: 'custom:look', arguments: { order: 'o-1' } }];
    const node = {
      ...{ id: 'a', kind: 'agent', prompt: 'Go', tools: ['custom:look'] },
      mock: { turns: [{ calls, cost_usd: 0.01 }] },
    };
    const runId = await engine.trigger(await engine.define(chain(node as never)), {});
    const run = await engine.until(runId, ['success', 'failed']);
    expect(run).toMatchObject({ status: 'success', cost_usd: 0.01 });
    const turn = run.steps.find(({ step_key: key }) => key === 'a/1')!;
    // The attempt in the short lane counts as not made.
    expect(turn).toMatchObject({ status: 'success', cost_usd: 0.01 });
    expect(server.calls('look')).toHaveLength(1);
  });

  test('fails the agent, with its name, when it was deleted in the meantime', async () => {
    const { id } = await register('gone');
    const gate = { id: 'gate', kind: 'human_gate', prompt: 'Go on?' } as never;
    const workflowId = await engine.define({
      nodes: [gate, agent(['custom:gone'])],
      edges: [edge('gate', 'a')],
    });
    const runId = await engine.trigger(workflowId, {});
    await engine.until(runId, ['paused']);
    await deleteCustomTool(engine.deps.db, engine.actor, id);
    await engine.approve(runId);
    const run = await engine.until(runId, ['failed', 'success']);
    expect(run.error).toContain(
      "Its tools cannot be offered: the custom tool 'custom:gone' is not registered",
    );
    await register('gone');
    await engine.resume(runId);
    expect((await engine.until(runId, ['failed', 'success'])).status).toBe('success');
  });
});

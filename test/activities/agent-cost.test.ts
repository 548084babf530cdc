import { expect, test } from '@jest/globals';
import { agentCost, conversationBytes, turnCost } from '../../activities/nodes/agent-cost.ts';
import type { AgentNode } from '../../shared/contract/graph.ts';

const prices = {
  'lab/small': { inputUsd: 1, outputUsd: 10 },
  'lab/large': { inputUsd: 2, outputUsd: 100 },
};
const costOf = (node: Partial<AgentNode>, before: number | null = null, prompt = 'Hello') =>
  agentCost(
    {
      node: { id: 'a', kind: 'agent', model: 'lab/small', ...node } as AgentNode,
      params: { prompt },
      state: {},
    },
    { prices, lastCost: () => Promise.resolve(before) },
  );

test('a mock costs what its node sets, by default nothing', async () => {
  expect(await costOf({ model: 'mock', mock: { cost_usd: 0.5 } })).toEqual({
    least: 500_000,
    most: 500_000,
  });
  expect(await costOf({ model: 'mock' })).toEqual({ least: 0, most: 0 });
});

test('max_output_tokens bounds the cost of a model, and each byte of the prompt counts', async () => {
  const short = await costOf({ max_output_tokens: 1_000 });
  const long = await costOf({ max_output_tokens: 1_000 }, null, 'é'.repeat(5_000));
  expect(short.least).toBe(1);
  expect(short.most).toBeGreaterThan(10_000);
  expect(long.most! - short.most!).toBeGreaterThan(9_900);
  expect(await costOf({ max_output_tokens: 1_000 }, 7)).toEqual(short);
});

test('without a token limit, the bound is the last cost or none', async () => {
  expect(await costOf({})).toEqual({ least: 1, most: null });
  expect(await costOf({}, 4_321)).toEqual({ least: 1, most: 4_321, estimated: true });
});

test('the most expensive of several models counts; one without a price costs nothing', async () => {
  const both = await costOf({ max_output_tokens: 100, fallback_models: ['lab/large'] });
  expect(both).toEqual(await costOf({ model: 'lab/large', max_output_tokens: 100 }));
  expect(await costOf({ model: 'lab/none' })).toEqual({ least: 0, most: 0 });
  expect(
    await costOf({ model: 'mock', mock: { cost_usd: 0 }, fallback_models: ['lab/small'] }),
  ).toEqual({ least: 0, most: null });
});

const turn = (node: Partial<AgentNode>, inputBytes = 0, number = 1) =>
  turnCost(
    {
      node: { id: 'a', kind: 'agent', model: 'lab/small', tools: ['x'], ...node } as AgentNode,
      turn: number,
      inputBytes,
    },
    { prices, lastCost: () => Promise.resolve(7) },
  );

test('without a token limit, a turn is bound to 4,096 output tokens', async () => {
  expect(await turn({})).toEqual(await turn({ max_output_tokens: 4_096 }));
  const { least, most } = await turn({});
  expect(least).toBe(1);
  // 4,096 × 10, and the framing at 1
  expect(most).toBeGreaterThan(40_960);
  expect(most).toBeLessThan(43_000);
  expect(await costOf({ tools: ['x'] })).toMatchObject({ most: expect.any(Number) });
});

test('a turn of Anthropic can store all that it sends, for a quarter more', async () => {
  const model = 'anthropic/claude-haiku-4-5';
  const none = await turn({ model });
  expect((await turn({ model }, 4_000)).most! - none.most!).toBe(5_000);
  const call = async (prompt: string) =>
    (await costOf({ model, max_output_tokens: 1 }, null, prompt)).most!;
  expect((await call('x'.repeat(4_001))) - (await call('x'))).toBe(4_000);
});

test('each byte of the conversation and of the tools counts as a token', async () => {
  const none = await turn({});
  expect((await turn({}, 5_000)).most! - none.most!).toBe(5_000);
  const conversation = { system: '', prompt: 'é', turns: [] };
  expect(conversationBytes(conversation, [])).toBe(
    Buffer.byteLength(JSON.stringify([conversation, []])),
  );
});

test('a turn of a mock costs what its script sets, and after it what the mock does', async () => {
  const mock = { cost_usd: 1, turns: [{ cost_usd: 0.25 }, { output: 'x' }] };
  const costs = await Promise.all([1, 2, 3].map((at) => turn({ model: 'mock', mock }, 9, at)));
  expect(costs.map(({ most }) => most)).toEqual([250_000, 0, 1_000_000]);
});

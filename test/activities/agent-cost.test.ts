import { describe, expect, test } from '@jest/globals';
import type { LanguageModelUsage } from 'ai';
import { agentCost, consumptionOf, turnBytes, turnCost } from '#activities/nodes/agent-cost.ts';
import type { AgentNode } from '#shared/contract/workflows/graph.ts';
import { agentCall } from '#test/fakes/node-call.ts';

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

test('a turn of Anthropic can store everything it sends, for a surcharge of 25%', async () => {
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
  const prompts = { prompt: 'é' };
  expect(
    turnBytes({ ...prompts, mock: { output: 'x' } }, { earlier: conversation, tools: [] }),
  ).toBe(Buffer.byteLength(JSON.stringify([conversation, []])) + '{"prompt":"é"}'.length + 1);
});

test('a turn of a mock costs what its script sets, and after it what the mock does', async () => {
  const mock = { cost_usd: 1, turns: [{ cost_usd: 0.25 }, { output: 'x' }] };
  const costs = await Promise.all([1, 2, 3].map((at) => turn({ model: 'mock', mock }, 9, at)));
  expect(costs.map(({ most }) => most)).toEqual([250_000, 0, 1_000_000]);
});

describe('an answer', () => {
  const usage = (of: Partial<LanguageModelUsage>) =>
    ({ inputTokens: undefined, outputTokens: undefined, inputTokenDetails: {}, ...of }) as never;
  const answered = (
    node: Partial<AgentNode>,
    of: Partial<LanguageModelUsage> = {},
    model = 'lab/small',
  ) => {
    const asked = agentCall({ node: { model, ...node }, params: { prompt: 'Hello' }, prices });
    return consumptionOf(asked, model, { usage: usage(of), parts: [{ type: 'text', text: 'Hi' }] });
  };

  test('without token counts costs what its request could cost at most, and says so', async () => {
    const { most } = await costOf({ max_output_tokens: 1_000 });
    expect(answered({ max_output_tokens: 1_000 })).toEqual({
      ...{ model: 'lab/small', costMicros: most, estimated: true },
    });
    // Half of them is none.
    expect(answered({ max_output_tokens: 1_000 }, { inputTokens: 5 })).toMatchObject({
      costMicros: most,
    });
  });

  test('without token counts and without an output limit has at most as many tokens as bytes', async () => {
    const { most } = await costOf({ max_output_tokens: '[{"type":"text","text":"Hi"}]'.length });
    expect(answered({})).toMatchObject({ costMicros: most, estimated: true });
  });

  test('of a model without a price has an unknown cost', () => {
    expect(answered({}, {}, 'lab/none')).toEqual({
      model: 'lab/none',
      costMicros: 0,
      unpriced: true,
    });
  });

  test('counts cached input at its own price, and the upper bound uses that price if it is higher', async () => {
    const cachedInputUsd = 50;
    const own = { 'lab/small': { inputUsd: 1, outputUsd: 10, cachedInputUsd } };
    const asked = agentCall({ node: { model: 'lab/small' }, params: {}, prices: own });
    const counts = { inputTokens: 30, outputTokens: 1, inputTokenDetails: { cacheReadTokens: 20 } };
    const { costMicros } = consumptionOf(asked, 'lab/small', {
      usage: usage(counts as never),
      parts: [],
    });
    expect(costMicros).toBe(10 * 1 + 20 * 50 + 10);
    const node = { id: 'a', kind: 'agent', model: 'lab/small', max_output_tokens: 1 } as AgentNode;
    const { most } = await agentCost(
      { node, params: {}, state: {} },
      { prices: own, lastCost: () => Promise.resolve(null) },
    );
    expect(most).toBeGreaterThan(1_000 * 50);
  });
});

import { describe, expect, it } from '@jest/globals';
import { createTurnRunner } from '#activities/nodes/agent-turn.ts';
import type { AgentNode } from '#shared/contract/workflows/graph.ts';
import { offeredTool, turnCall } from '#test/fakes/node-call.ts';

const run = createTurnRunner({
  findModel: () => ({ problem: 'none' }),
  keys: { text: (text) => text, json: (value) => value },
});
const ask = (turn: number, call: Parameters<typeof turnCall>[0] = {}) =>
  run(turnCall({ tools: [offeredTool('custom:find')], turn, ...call }));

const mock: NonNullable<AgentNode['mock']> = {
  cost_usd: 0.5,
  output: 'The end',
  turns: [
    {
      calls: [
        { tool: 'custom:find', arguments: { id: 1 } },
        { tool: 'custom:drop', arguments: {} },
      ],
      cost_usd: 0.001,
    },
    { output: { done: true }, cost_usd: 0.002 },
  ],
};

describe('the script of a mock', () => {
  it('calls tools by their own names, refuses others, then answers', async () => {
    expect(await ask(1, { node: { mock } })).toEqual({
      model: 'mock',
      costMicros: 1_000,
      said: {
        text: '',
        calls: [
          { index: 1, id: 'mock-1-1', tool: 'custom:find', given: { id: 1 } },
          {
            index: 2,
            id: 'mock-1-2',
            tool: 'custom:drop',
            given: {},
            refusal: "The tool 'custom:drop' is not offered; offered are custom:find",
          },
        ],
      },
    });
    expect(await ask(2, { node: { mock } })).toEqual({
      model: 'mock',
      costMicros: 2_000,
      said: { text: '{"done":true}', calls: [] },
      output: { done: true },
    });
  });

  it("ends with the mock's output and cost or, without one, with the echo", async () => {
    expect(await ask(3, { node: { mock } })).toEqual({
      model: 'mock',
      costMicros: 500_000,
      said: { text: 'The end', calls: [] },
      output: 'The end',
    });
    expect((await ask(1)).output).toBe('Mock answer to: Hello');
  });

  it('answers if it cannot call a tool', async () => {
    const result = await ask(1, { node: { mock }, toolChoice: 'none' });
    expect(result).toMatchObject({ output: 'The end', said: { calls: [] }, costMicros: 1_000 });
  });

  it("is the caller's when it was rendered", async () => {
    const turns = [{ calls: [{ tool: 'custom:find', arguments: { id: 'A-7' } }] }];
    const result = await ask(1, { node: { mock }, params: { mock: { turns } } });
    expect(result.said.calls).toMatchObject([{ given: { id: 'A-7' } }]);
    const beside = await ask(3, {
      node: { mock },
      params: { mock: { turns, output: 'Rendered' } },
    });
    expect(beside.output).toBe('Rendered');
  });

  it('fails and waits according to its attempt, in every turn', async () => {
    const failing = { ...mock, fail_times: 1, delay_ms: 30 };
    for (const turn of [1, 2, 3]) {
      await expect(ask(turn, { node: { mock: failing } })).rejects.toMatchObject({
        message: 'Mock failure 1 of 1',
        consumption: { costMicros: 0 },
      });
      const started = performance.now();
      await ask(turn, { node: { mock: failing }, attempt: 2 });
      expect(performance.now() - started).toBeGreaterThan(25);
    }
  });

  it('is streamed in a few pieces', async () => {
    const deltas: string[] = [];
    const result = await ask(1, {
      node: { mock: { output: '😀'.repeat(9) } },
      onText: (delta) => void deltas.push(delta),
    });
    expect(deltas).toEqual(['😀😀😀', '😀😀😀', '😀😀😀']);
    expect(deltas.join('')).toBe(result.output);
  });
});

import { describe, expect, test } from '@jest/globals';
import { type AskedTurn, attempts, failure, play, type PlayedRun } from '#client/testing.ts';

const refund = {
  name: 'custom:refund',
  approval: 'args.amount > 100',
  fixed: { order: '{order}' },
  title: 'Refund of {args.amount}',
};

const support = (extra: object = {}, tools: object[] = [refund]) => ({
  nodes: [
    {
      ...{ id: 'support', kind: 'agent', model: 'openai/gpt-5', prompt: 'Help {name}', tools },
      ...extra,
    },
  ],
});

const definitions = [
  {
    name: 'refund',
    input_schema: {
      type: 'object',
      properties: { order: { type: 'integer' }, amount: { type: 'number' } },
      required: ['order', 'amount'],
      additionalProperties: false,
    },
  },
];

const input = { name: 'Ada', order: 7 };
const call = (amount: number) => ({
  calls: [{ tool: 'custom:refund', arguments: { amount } }],
});
const steps = ({ steps: all }: PlayedRun) =>
  all.map(({ step_key, kind, status }) => `${step_key} ${kind} ${status}`);

describe('a played agent with tools', () => {
  test('takes its turns and makes their calls, with the arguments that the node sets', async () => {
    const run = await play(support(), {
      ...{ input, tools: definitions },
      mocks: {
        agents: { support: { turns: [call(5), { output: 'Refunded' }] } },
        tools: { 'custom:refund': (args) => ({ done: args }) },
      },
    });
    expect(run.output).toEqual({ support: 'Refunded' });
    expect(steps(run)).toEqual([
      'support agent success',
      'support/1 agent success',
      'support/1.1 tool success',
      'support/2 agent success',
    ]);
    expect(run.steps[2]).toMatchObject({
      ...{ parent_step_key: 'support', turn: 1, tool_call: { tool: 'custom:refund', index: 1 } },
      ...{ input: { amount: 5, order: 7 }, output: { done: { amount: 5, order: 7 } } },
    });
  });

  test('asks a function with the prompt and the results of earlier turns', async () => {
    const asked: AskedTurn[] = [];
    const run = await play(support(), {
      ...{ input, tools: definitions },
      mocks: {
        agents: {
          support: (turn: AskedTurn) => {
            asked.push(turn);
            return turn.turn === 1 ? call(5) : { output: turn.results };
          },
        },
        tools: { 'custom:refund': { ok: true } },
      },
    });
    const result = {
      ...{ turn: 1, tool: 'custom:refund', arguments: { amount: 5, order: 7 } },
      ...{ result: { ok: true }, failed: false },
    };
    expect(asked).toEqual([
      ...[
        { system_prompt: '', prompt: 'Help Ada', turn: 1, results: [], tools: ['custom:refund'] },
      ],
      expect.objectContaining({ turn: 2, results: [result] }),
    ]);
    expect(run.output).toEqual({ support: [result] });
  });

  test.each([
    [
      'do not fit the schema',
      { amount: 'much' },
      'The arguments do not fit the schema: arguments.amount must be number',
    ],
    [
      'set what the node sets',
      { amount: 5, order: 8 },
      "The arguments do not fit the schema: arguments must not have 'order'",
    ],
  ])('does not make calls whose arguments %s', async (_what, args, refusal) => {
    const run = await play(support(), {
      ...{ input, tools: definitions },
      mocks: {
        agents: {
          support: ({ turn, results }: AskedTurn) =>
            turn === 1
              ? { calls: [{ tool: 'custom:refund', arguments: args }] }
              : { output: results[0]!.result },
        },
      },
    });
    expect(run.output).toEqual({ support: refusal });
    expect(steps(run)).not.toContain('support/1.1 tool success');
  });

  test('pauses at a call that needs approval, and sends what was approved', async () => {
    const options = {
      ...{ input, tools: definitions },
      mocks: {
        agents: { support: { turns: [call(500), { output: 'Done' }] } },
        tools: { 'custom:refund': (args: object) => args },
      },
    };
    const paused = await play(support(), options);
    expect(paused).toMatchObject({
      status: 'paused',
      gates: [
        {
          ...{ kind: 'tool_call', node_id: 'support', step_key: 'support/1.1' },
          ...{ title: 'Refund of 500', label: 'custom:refund' },
          tool_call: { tool: 'custom:refund', arguments: { amount: 500, order: 7 } },
        },
      ],
    });
    const edited = await play(support(), {
      ...options,
      decisions: { support: { arguments: { amount: 90, order: 7 } } },
    });
    expect(edited).toMatchObject({ status: 'success', output: { support: 'Done' } });
    expect(edited.steps[2]).toMatchObject({
      ...{ step_key: 'support/1.1', output: { amount: 90, order: 7 } },
      decision: { approved: true },
    });
  });

  test('gives the model the reason of a rejection', async () => {
    const run = await play(support(), {
      ...{ input, tools: definitions },
      mocks: {
        agents: {
          support: ({ turn, results }: AskedTurn) =>
            turn === 1 ? call(500) : { output: results[0]!.result },
        },
      },
      decisions: { support: { approved: false, reason: 'Too much' } },
    });
    expect(run.output).toEqual({ support: 'Rejected by an API key: Too much' });
  });

  test.each([
    [{ arguments: { amount: 90, order: 8 } }, 'arguments.order is set by the workflow'],
    [{ arguments: { amount: 'x', order: 7 } }, 'arguments arguments.amount must be number'],
    [{ digest: 'play:other' }, 'The digest is not that of the call'],
    [{ approved: false, arguments: {} }, 'a rejected call has no arguments'],
  ])('refuses the decision %j as the service does', async (decision, problem) => {
    const run = play(support(), {
      ...{ input, tools: definitions },
      mocks: { agents: { support: { turns: [call(500)] } } },
      decisions: { support: decision },
    });
    await expect(run).rejects.toThrow(problem);
  });

  test('reports a failed call to the model, or fails with it', async () => {
    const options = {
      ...{ input, tools: definitions },
      mocks: {
        agents: {
          support: ({ turn, results }: AskedTurn) =>
            turn === 1 ? call(5) : { output: results[0]! },
        },
        tools: { 'custom:refund': failure('closed') },
      },
    };
    const reported = await play(support(), options);
    expect(reported.output).toMatchObject({ support: { result: 'closed', failed: true } });
    const failed = await play(support({}, [{ ...refund, on_error: 'fail' }]), options);
    expect(failed).toMatchObject({
      status: 'failed',
      error: "Node 'support' failed: Tool 'custom:refund' failed: closed",
    });
  });

  test('retries a turn, and fails after its last turn without an answer', async () => {
    const options = { input, tools: definitions };
    const tools = { 'custom:refund': 1 };
    const turns = [attempts(failure('busy'), call(5)), { output: 'Done' }] as { output: string }[];
    const retried = await play(support({ retry: { max_attempts: 2 } }), {
      ...options,
      mocks: { agents: { support: { turns } }, tools },
    });
    expect(retried.steps[1]).toMatchObject({ step_key: 'support/1', attempt: 2 });
    const used = await play(support({ max_turns: 1 }), {
      ...options,
      mocks: { agents: { support: () => call(5) }, tools },
    });
    expect(used.error).toBe("Node 'support' failed: The agent used its 1 turn without an answer");
  });

  test('must call a tool in its first turn, where the node requires it', async () => {
    const run = await play(support({ tool_choice: 'required' }), {
      ...{ input, tools: definitions },
      mocks: { agents: { support: { turns: [{ output: 'Hi' }] } } },
    });
    expect(run.error).toBe(
      "Node 'support' failed: openai/gpt-5 answered instead of calling a tool",
    );
  });

  test('uses the script of the node for the model mock', async () => {
    const mock = {
      turns: [{ calls: [{ tool: 'json_transform', arguments: { expression: '6 * 7' } }] }],
      output: 'Done',
    };
    const graph = {
      nodes: [{ id: 'sum', kind: 'agent', prompt: 'Add', tools: ['json_transform'], mock }],
    };
    const run = await play(graph);
    expect(run.output).toEqual({ sum: 'Done' });
    expect(run.steps[2]).toMatchObject({ step_key: 'sum/1.1', output: 42 });
  });

  test('runs the workflows that it calls', async () => {
    const child = {
      name: 'Look up',
      input_schema: { type: 'object', properties: { id: { type: 'integer' } } },
      graph: {
        nodes: [
          {
            id: 'find',
            kind: 'tool',
            tool_name: 'json_transform',
            params: { expression: 'id + 1' },
          },
        ],
      },
    };
    const run = await play(support({}, [{ name: 'workflow:Look up' }]), {
      input,
      workflows: { 'Look up': child },
      mocks: {
        agents: {
          support: ({ turn, results }: AskedTurn) =>
            turn === 1
              ? { calls: [{ tool: 'workflow:Look up', arguments: { id: 1 } }] }
              : { output: results[0]!.result },
        },
      },
    });
    expect(run.output).toEqual({ support: { find: 2 } });
    expect(run.steps[2]!.child).toMatchObject({ status: 'success', output: { find: 2 } });
  });

  test('compares an answer with the response schema of the node', async () => {
    const schema = { type: 'object', properties: { ok: { type: 'boolean' } }, required: ['ok'] };
    const run = await play(support({ response_schema: schema }), {
      ...{ input, tools: definitions },
      mocks: { nodes: { support: { ok: 'yes' } } },
    });
    expect(run.error).toBe(
      "Node 'support' failed: The response of openai/gpt-5 does not fit the response_schema: ok must be true or false, not a text",
    );
  });
});

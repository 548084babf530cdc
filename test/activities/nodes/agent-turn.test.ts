import { describe, expect, it } from '@jest/globals';
import type { TurnCall, TurnResult } from '#activities/nodes/model-turn.ts';
import type { ModelAnswer } from '#test/support/model-server.ts';
import {
  after,
  type AskedTurn,
  models,
  offered,
  startTurns,
  twoCalls,
} from '#test/support/turns.ts';
import { useStageEach } from '#test/support/stage.ts';

const turns = useStageEach(() => startTurns());

const results = [
  { index: 1, id: 'call_a', tool: 'custom:find', content: { found: ['x'] }, isError: false },
  { index: 2, id: 'call_b', tool: 'http_request', content: 'It timed out', isError: true },
];

describe.each(models)('a conversation with %s', (model) => {
  it('has two turns, the first with two concurrent calls', async () => {
    turns.server.answers.push(twoCalls, { text: 'It is x.' });
    const first = await turns.ask(model);
    expect(first.said).toMatchObject({
      text: 'Let me see.',
      calls: [
        { index: 1, id: 'call_a', tool: 'custom:find', given: { id: 7 } },
        { index: 2, id: 'call_b', tool: 'http_request', given: { url: 'http://x' } },
      ],
    });
    expect(first.output).toBeUndefined();
    expect(first).toMatchObject({
      model,
      usage: { input_tokens: 20, output_tokens: 10 },
      costMicros: 120,
    });
    const second = await turns.ask(model, { turn: 2, conversation: after(first, results) });
    expect(second).toMatchObject({ said: { text: 'It is x.', calls: [] }, output: 'It is x.' });
    expect(turns.server.questions()[1]).toMatchObject(secondTurn[model.split('/')[0]!]!);
  });

  it('gets schemas in the form that its provider accepts', async () => {
    const [tool] = offered;
    const choices = { oneOf: [{ required: ['a'] }, { required: ['b'] }] };
    const tools = [
      { ...tool!, schema: { type: 'object', properties: { a: {} }, ...choices } },
      { ...tool!, name: 'delay', providerName: 'delay', schema: { type: 'object' } },
    ];
    await turns.ask(model, { tools });
    const asked = JSON.stringify(turns.server.questions()[0]);
    expect(asked).toContain('"properties":{"a":{},"b":{}}');
    expect(asked).toContain('"properties":{}');
    expect(asked).not.toContain('"oneOf":');
    expect(asked).toContain('Must also fit this JSON Schema');
  });

  it.each<[string, ModelAnswer, AskedTurn]>([
    ['a text', { text: 'A fine answer, 😀 and long.' }, {}],
    ['calls', twoCalls, {}],
    ['no argument', { calls: [{ name: 'custom_find', arguments: {} }] }, {}],
    ['an unknown tool', { calls: [{ name: 'rm', arguments: { a: 1 } }] }, {}],
    [
      'a thought',
      {
        thought: { text: 'Hm.', signature: 'c2ln' },
        calls: [{ id: 'c1', name: 'custom_find', arguments: { id: 1 }, signature: 'c2ln' }],
      },
      {},
    ],
    ['a list as arguments', { calls: [{ name: 'custom_find', arguments: '[1]' }] }, {}],
    ['cached tokens', { usage: { prompt_tokens: 9, completion_tokens: 1, cached_tokens: 8 } }, {}],
    ['a called tool', twoCalls, { toolChoice: 'required' }],
  ])('is the same as a stream: %s', async (_what, answer, call) => {
    turns.server.answers.push(answer);
    const deltas: string[] = [];
    const whole = await turns.ask(model, call);
    const streamed = await turns.ask(model, call, deltas);
    expect(withoutIds(streamed)).toEqual(withoutIds(whole));
    expect(deltas.join('')).toBe(whole.said.text);
    const [one, other] = turns.server.asked();
    expect([one!.streamed, other!.streamed]).toEqual([false, true]);
    const { stream: _stream, stream_options: _options, ...sent } = other!.body;
    expect(sent).toEqual(one!.body);
  });

  it('arrives in pieces while the model is writing', async () => {
    const text = 'A long answer that does not fit into a single event. '.repeat(5);
    const deltas: string[] = [];
    const pause = async (): Promise<void> => {
      while (deltas.length === 0) await new Promise(setImmediate);
    };
    turns.server.answers.push({ text, pause });
    await turns.ask(model, {}, deltas);
    expect(deltas.length).toBeGreaterThan(3);
    expect(deltas.join('')).toBe(text);
  });

  it.each([
    ['auto', 'Fine.'],
    ['none', 'Fine.'],
    ['required', undefined],
  ] as const)('sends the tool choice %s', async (toolChoice, output) => {
    turns.server.answers.push(output === undefined ? twoCalls : { text: output });
    expect((await turns.ask(model, { toolChoice })).output).toBe(output);
    expect(turns.server.questions()[0]).toMatchObject(choices[model.split('/')[0]!]![toolChoice]);
    expect(JSON.stringify(turns.server.questions()[0])).toContain('custom_find');
  });

  it.each([
    ['required', { text: 'No.' }, 'answered instead of calling a tool'],
    ['none', twoCalls, 'called a tool instead of answering'],
  ] as const)(
    'fails as retryable, with its cost, when %s is ignored',
    async (toolChoice, answer, text) => {
      for (const deltas of [undefined, []]) {
        turns.server.answers.splice(0, 9, answer as ModelAnswer);
        await expect(turns.ask(model, { toolChoice }, deltas)).rejects.toMatchObject({
          name: 'NodeError',
          message: `${model} ${text}`,
          retryable: true,
          consumption: { costMicros: 120 },
        });
      }
    },
  );
});

it.each(models)('a repeated request of %s has the same response', async (model) => {
  const scripted = await startTurns(({ turn }) => (turn === 1 ? twoCalls : { text: `${turn}` }));
  try {
    const first = await scripted.ask(model);
    const conversation = after(first, results);
    expect(await scripted.ask(model)).toEqual(first);
    for (const _attempt of [1, 2]) {
      expect((await scripted.ask(model, { conversation })).output).toBe('2');
    }
    expect(scripted.server.asked().map(({ turn }) => turn)).toEqual([1, 1, 2, 2]);
  } finally {
    await scripted.close();
  }
});

/** Ids that the SDK generates where the provider sends none. */
const withoutIds = ({ said, ...rest }: TurnResult) => ({
  ...rest,
  said: { ...said, calls: said.calls.map(({ id: _id, ...call }) => call) },
});

const openaiTurn = {
  messages: [
    { role: 'system', content: 'Be brief.' },
    { role: 'user', content: 'Which?' },
    {
      role: 'assistant',
      content: 'Let me see.',
      tool_calls: [
        {
          id: 'call_a',
          type: 'function',
          function: { name: 'custom_find', arguments: '{"id":7}' },
        },
        {
          id: 'call_b',
          type: 'function',
          function: { name: 'http_request', arguments: '{"url":"http://x"}' },
        },
      ],
    },
    { role: 'tool', tool_call_id: 'call_a', content: '{"found":["x"]}' },
    { role: 'tool', tool_call_id: 'call_b', content: expect.stringContaining('It timed out') },
  ],
  tools: [
    {
      type: 'function',
      function: {
        name: 'custom_find',
        description: 'Calls custom:find',
        parameters: { type: 'object', properties: { id: { type: 'number' } } },
      },
    },
    { type: 'function', function: { name: 'http_request' } },
  ],
};

/** What each provider is sent in the second turn. */
const secondTurn: Record<string, object> = {
  openai: { ...openaiTurn, max_tokens: 4096 },
  compatible: { ...openaiTurn, max_tokens: 4096 },
  anthropic: {
    max_tokens: 4096,
    system: [{ type: 'text', text: 'Be brief.' }],
    messages: [
      { role: 'user', content: [{ type: 'text', text: 'Which?' }] },
      {
        role: 'assistant',
        content: [
          { type: 'text', text: 'Let me see.' },
          { type: 'tool_use', id: 'call_a', name: 'custom_find', input: { id: 7 } },
          { type: 'tool_use', id: 'call_b', name: 'http_request', input: { url: 'http://x' } },
        ],
      },
      {
        role: 'user',
        content: [
          { type: 'tool_result', tool_use_id: 'call_a', content: '{"found":["x"]}' },
          { type: 'tool_result', tool_use_id: 'call_b', content: 'It timed out', is_error: true },
        ],
      },
    ],
    tools: [
      {
        name: 'custom_find',
        description: 'Calls custom:find',
        input_schema: { type: 'object', properties: { id: { type: 'number' } } },
      },
      { name: 'http_request' },
    ],
  },
  google: {
    generationConfig: { maxOutputTokens: 4096 },
    systemInstruction: { parts: [{ text: 'Be brief.' }] },
    contents: [
      { role: 'user', parts: [{ text: 'Which?' }] },
      {
        role: 'model',
        parts: [
          { text: 'Let me see.' },
          { functionCall: { name: 'custom_find', args: { id: 7 } } },
          { functionCall: { name: 'http_request', args: { url: 'http://x' } } },
        ],
      },
      {
        role: 'user',
        parts: [
          { functionResponse: { name: 'custom_find', response: { content: { found: ['x'] } } } },
          { functionResponse: { name: 'http_request' } },
        ],
      },
    ],
    tools: [
      {
        functionDeclarations: [
          {
            name: 'custom_find',
            description: 'Calls custom:find',
            parametersJsonSchema: { type: 'object', properties: { id: { type: 'number' } } },
          },
          { name: 'http_request' },
        ],
      },
    ],
  },
};

const openaiChoices = {
  auto: { tool_choice: 'auto' },
  required: { tool_choice: 'required' },
  none: { tool_choice: 'none' },
};
const choices: Record<string, Record<TurnCall['toolChoice'], object>> = {
  openai: openaiChoices,
  compatible: openaiChoices,
  anthropic: {
    auto: { tool_choice: { type: 'auto' } },
    required: { tool_choice: { type: 'any' } },
    none: { tool_choice: { type: 'none' } },
  },
  google: {
    auto: { toolConfig: { functionCallingConfig: { mode: 'AUTO' } } },
    required: { toolConfig: { functionCallingConfig: { mode: 'ANY' } } },
    none: { toolConfig: { functionCallingConfig: { mode: 'NONE' } } },
  },
};

describe("Anthropic's cache", () => {
  const model = 'anthropic/claude-haiku-4-5';
  const END = { type: 'ephemeral' };
  /** Where a request ends prefixes: its last tool, and contents of its messages by place. */
  const ends = ({ tools, messages }: Record<string, unknown>) => ({
    tools: (tools as { cache_control?: unknown }[]).map((tool) => tool.cache_control),
    messages: (messages as { content: { cache_control?: unknown }[] }[]).map(({ content }) =>
      content.map((part) => part.cache_control),
    ),
  });
  const tools = [undefined, END];

  it('stores the tools and the conversation, and reads what the previous turn stored', async () => {
    turns.server.answers.push(twoCalls, twoCalls, { text: 'It is x.' });
    const first = await turns.ask(model);
    const one = after(first, results);
    const second = await turns.ask(model, { turn: 2, conversation: one });
    const two = { ...one, turns: [...one.turns, ...after(second, results).turns] };
    await turns.ask(model, { turn: 3, conversation: two });
    const said = Array(3).fill(undefined);
    const result = [undefined, END];
    expect(turns.server.questions().map(ends)).toEqual([
      { tools, messages: [[END]] },
      { tools, messages: [[END], said, result] },
      { tools, messages: [[undefined], said, result, said, result] },
    ]);
  });

  it('does not store the conversation for a turn that must answer', async () => {
    turns.server.answers.push(twoCalls, { text: 'It is x.' });
    const conversation = after(await turns.ask(model), results);
    await turns.ask(model, { turn: 2, conversation, toolChoice: 'none' });
    const [, last] = turns.server.questions().map(ends);
    expect(last!.messages).toEqual([[END], Array(3).fill(undefined), [undefined, undefined]]);
  });

  it.each([undefined, []])('charges for reads and writes of the cache (%p)', async (deltas) => {
    turns.server.answers.push({
      text: 'Hi',
      usage: {
        prompt_tokens: 1_000,
        completion_tokens: 1,
        cached_tokens: 700,
        cache_write_tokens: 200,
      },
    });
    expect(await turns.ask(model, {}, deltas)).toMatchObject({
      usage: {
        input_tokens: 1_000,
        output_tokens: 1,
        cached_tokens: 700,
        cache_write_tokens: 200,
      },
      // 100 × 1 + 200 × 1.25 + 700 × 0.1 + 1 × 10
      costMicros: 430,
    });
  });

  it.each(models.filter((each) => each !== model))('does not affect %s', async (other) => {
    turns.server.answers.push({ text: 'Hi' });
    await turns.ask(other);
    expect(JSON.stringify(turns.server.questions())).not.toMatch(/cache_?control/i);
  });
});

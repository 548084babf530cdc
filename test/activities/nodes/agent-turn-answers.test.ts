import { describe, expect, it } from '@jest/globals';
import type { ModelAnswer } from '#test/support/model-server.ts';
import { exactly, type Said } from '#test/support/model-server-said.ts';
import {
  after,
  KEY,
  models,
  offered,
  startTurns,
  type Turns,
  twoCalls,
} from '#test/support/turns.ts';
import { useStageEach } from '#test/support/stage.ts';

const turns = useStageEach(() => startTurns());

const schema = {
  type: 'object',
  properties: { category: { type: 'string' } },
  required: ['category'],
  additionalProperties: false,
};

/** Both ways to ask, since a stream has code of its own. */
const ways = models.flatMap((model) => [[model, 'whole'] as const, [model, 'streamed'] as const]);
const deltasOf = (way: 'whole' | 'streamed'): string[] | undefined =>
  way === 'streamed' ? [] : undefined;

describe.each(ways)('a turn of %s, %s', (model, way) => {
  const ask = (answer: ModelAnswer, call: Parameters<Turns['ask']>[1] = {}) => {
    turns.server.answers.splice(0, Infinity, answer);
    return turns.ask(model, call, deltasOf(way));
  };

  it('refuses a tool that is not offered, under the name it was called by', async () => {
    const { said } = await ask({ calls: [{ id: 'x', name: 'rm_rf', arguments: { path: '/' } }] });
    expect(said.calls).toEqual([
      {
        index: 1,
        id: expect.any(String),
        tool: 'rm_rf',
        given: { path: '/' },
        refusal: "The tool 'rm_rf' is not offered; offered are custom_find, http_request",
      },
    ]);
    turns.server.answers.splice(0, 9, { text: 'Sorry.' });
    const result = { ...said.calls[0]!, content: said.calls[0]!.refusal!, isError: true };
    const conversation = after({ said, costMicros: 0 }, [result]);
    await turns.ask(model, { turn: 2, conversation }, deltasOf(way));
    expect(JSON.stringify(turns.server.questions()[1])).toContain('rm_rf');
  });

  it('refuses arguments that are not a JSON object, and quotes them', async () => {
    // Outside streams, Anthropic and Google return values instead of texts.
    const given = model.startsWith('google/') ? '[7]' : '{"id": 7';
    const { said } = await ask({ calls: [{ name: 'custom_find', arguments: given }] });
    expect(said.calls).toMatchObject([
      {
        tool: 'custom:find',
        given: expect.stringContaining('7'),
        refusal: expect.stringMatching(/^The arguments are not a JSON object: .*7/),
      },
    ]);
    turns.server.answers.splice(0, 9, { text: 'Sorry.' });
    const result = { ...said.calls[0]!, content: said.calls[0]!.refusal!, isError: true };
    const conversation = after({ said, costMicros: 0 }, [result]);
    await turns.ask(model, { turn: 2, conversation }, deltasOf(way));
    const question = JSON.stringify(turns.server.questions()[1]);
    expect(question).toMatch(/"(?:input|args)":\{\}|"arguments":"\{\}"/);
    expect(question).toContain('not a JSON object');
  });

  it('keeps every digit of the numbers in arguments', async () => {
    const digits = '7615917337495251231';
    const isText = /^(?:openai|compatible)/.test(model) || `${model} ${way}`.endsWith('5 streamed');
    const args = isText
      ? `{"id": ${digits}, "list": [1e400]}`
      : { id: exactly(digits), list: [exactly('1e400')] };
    const { said } = await ask({ calls: [{ name: 'custom_find', arguments: args }] });
    expect(said.calls).toMatchObject([
      { tool: 'custom:find', given: { id: digits, list: ['1e400'] } },
    ]);
  });

  it('fails once when arguments are too large', async () => {
    const deep = '['.repeat(200) + ']'.repeat(200);
    const call = { name: 'custom_find', arguments: { id: JSON.parse(deep) as unknown } };
    await expect(ask({ calls: [call] })).rejects.toMatchObject({
      name: 'NodeError',
      message: expect.stringContaining('nested deeper than 100 levels'),
      retryable: false,
    });
  });

  it('fails once when the answer is nested 10,000 levels deep', async () => {
    const deep = `{"choices":${'{"a":'.repeat(10_000)}1${'}'.repeat(10_000)}}`;
    await expect(
      ask({ raw: way === 'streamed' ? `data: ${deep}\n\n` : deep }),
    ).rejects.toMatchObject({
      name: 'NodeError',
      message: expect.stringContaining('nested deeper than 100 levels'),
      retryable: false,
    });
    expect(turns.server.seen).toHaveLength(1);
  });

  it('makes at most 100 calls, refuses as many more, and ignores the rest', async () => {
    const calls = Array.from({ length: 230 }, (_each, id) => ({
      name: 'custom_find',
      arguments: { id },
    }));
    const { said } = await ask({ calls });
    expect(said.calls).toHaveLength(200);
    expect(said.calls.findIndex(({ refusal }) => refusal !== undefined)).toBe(100);
    expect(said.calls[199]).toMatchObject({
      index: 200,
      given: { id: 199 },
      refusal: 'Not made: a turn can have at most 100 calls',
    });
  });

  it('has its own ids if the provider repeats them', async () => {
    const call = { id: 'same', name: 'custom_find', arguments: {} };
    const { said } = await ask({ calls: [call, call] });
    const ids = new Set(said.calls.map(({ id }) => id));
    expect(ids.size).toBe(2);
    expect(ids).toContain('same');
  });

  it.each<[string, ModelAnswer, object, string]>([
    ['calls', { ...twoCalls, finish: 'length' }, {}, 'its calls were complete'],
    [
      'an answer at the default limit',
      { text: 'It', finish: 'length' },
      {},
      'its answer was complete',
    ],
    [
      'nothing at its own limit',
      { finish: 'length' },
      { max_output_tokens: 9 },
      'its answer was complete',
    ],
    [
      'JSON',
      { text: '{"a":', finish: 'length' },
      { response_schema: schema },
      'its JSON was complete',
    ],
  ])('is retryable when it truncates %s', async (_what, answer, node, before) => {
    await expect(ask(answer, { node })).rejects.toMatchObject({
      name: 'NodeError',
      message: `${model} was cut off at its output limit before ${before}`,
      retryable: true,
      consumption: { costMicros: 120 },
    });
  });

  it("can end a text at the node's own limit, which is sent", async () => {
    const node = { max_output_tokens: 9, temperature: 0.5 };
    expect((await ask({ text: 'It is', finish: 'length' }, { node })).output).toBe('It is');
    const sent = JSON.stringify(turns.server.questions()[0]);
    expect(sent).toMatch(/"(?:max_tokens|maxOutputTokens)":9\b/);
    expect(sent).toContain('"temperature":0.5');
  });

  // A server that only speaks the protocol of OpenAI has no refusals.
  const finishes = model.startsWith('compatible/') ? ['filter'] : ['filter', 'refusal'];
  it.each(finishes as Said['finish'][])(
    'fails, with its cost, when it is withheld: %s',
    async (finish) => {
      await expect(ask({ text: 'I cannot', finish })).rejects.toMatchObject({
        message: `${model} withheld its response (content filter)`,
        retryable: true,
        consumption: { costMicros: 120 },
      });
      await expect(ask({ text: 'No', finish }, { toolChoice: 'required' })).rejects.toMatchObject({
        message: `${model} withheld its response (content filter)`,
      });
    },
  );

  it('counts cached tokens at their own price', async () => {
    const usage = { prompt_tokens: 100, completion_tokens: 1, cached_tokens: 80 };
    expect(await ask({ text: 'Hi', usage })).toMatchObject({
      usage: { input_tokens: 100, output_tokens: 1, cached_tokens: 80 },
      // 20 × 1 + 80 × 0.1 + 1 × 10
      costMicros: 38,
    });
  });

  it('never contains a key, in its texts, its arguments or its stream', async () => {
    const deltas: string[] = [];
    const text = `${'x'.repeat(50)}${KEY}${'y'.repeat(100)} ${KEY}`;
    turns.server.answers.push({
      text,
      calls: [{ name: 'custom_find', arguments: { id: KEY, [KEY]: [1] }, id: KEY }],
    });
    const { said } = await turns.ask(model, {}, way === 'streamed' ? deltas : undefined);
    expect(JSON.stringify(said)).not.toContain(KEY);
    expect(said).toMatchObject({
      text: text.replaceAll(KEY, '***'),
      calls: [{ given: { id: '***', '***': [1] } }],
    });
    if (way === 'streamed') expect(deltas.join('')).toBe(said.text);
  });
});

it('shortens a text only after its keys are redacted', async () => {
  const wrong = `"${'x'.repeat(190)}${KEY}`;
  turns.server.answers.push({
    calls: [
      { name: 'custom_find', arguments: wrong },
      { name: `${'x'.repeat(190)}${KEY}`, arguments: {} },
    ],
  });
  const { said } = await turns.ask('openai/gpt-4o');
  expect(said.calls).toHaveLength(2);
  expect(JSON.stringify(said)).not.toContain(KEY.slice(0, 6));
});

describe.each(ways)('a schema beside tools, %s, %s', (model, way) => {
  const node = { response_schema: schema };

  it('is sent, and the answer is the JSON that fits it', async () => {
    turns.server.answers.push({ text: '{"category":"billing"}' });
    const result = await turns.ask(model, { node }, deltasOf(way));
    expect(result).toMatchObject({
      output: { category: 'billing' },
      said: { text: '{"category":"billing"}', calls: [] },
    });
    const sent = JSON.stringify(turns.server.questions()[0]);
    expect(sent).toContain('"required":["category"]');
    expect(sent).toContain('custom_find');
  });

  it('also applies to the mock', async () => {
    const mock = { turns: [{ output: { category: 1 } }] };
    const answer = turns.ask('mock', { node: { ...node, mock } }, deltasOf(way));
    await expect(answer).rejects.toMatchObject({
      message: expect.stringMatching(
        /^The response of mock does not fit the response_schema: category/,
      ),
    });
  });

  it('does not apply to calls', async () => {
    turns.server.answers.push(twoCalls);
    const result = await turns.ask(model, { node }, deltasOf(way));
    expect(result.said.calls).toHaveLength(2);
    expect(result.output).toBeUndefined();
  });

  it.each([
    ['{"category":1}', /does not fit the response_schema: category/],
    ['Billing', /did not respond with valid JSON: Billing/],
  ])('is validated: %s', async (text, message) => {
    turns.server.answers.push({ text });
    await expect(turns.ask(model, { node }, deltasOf(way))).rejects.toMatchObject({
      message: expect.stringMatching(message),
      retryable: true,
      consumption: { costMicros: 120 },
    });
  });
});

it('becomes a tool for a Gemini model that does not support both at once', async () => {
  const node = { response_schema: { type: 'object', properties: { a: { type: 'number' } } } };
  turns.server.answers.push({ calls: [{ name: 'json', arguments: { a: 1 } }] });
  for (const deltas of [undefined, []]) {
    const result = await turns.ask('google/gemini-2.5-flash', { node }, deltas);
    expect(result).toMatchObject({ output: { a: 1 }, said: { calls: [] } });
  }
});

describe('what a provider signed', () => {
  const signed: ModelAnswer = {
    thought: { text: 'I need it.', signature: 'c2lnbmVk' },
    text: 'Let me see.',
    calls: [{ id: 'c1', name: 'custom_find', arguments: { id: 1 }, signature: 'Y2FsbA==' }],
  };
  const [, anthropic, google] = models as [string, string, string];
  const next = async (model: string, asked: string, answer = signed) => {
    turns.server.answers.splice(0, Infinity, answer, { text: 'Done.' });
    const first = await turns.ask(model);
    const result = { index: 1, id: 'c1', tool: 'custom:find', content: null, isError: false };
    await turns.ask(asked, { turn: 2, conversation: after(first, [result]) });
    return { first, sent: JSON.stringify(turns.server.questions()[1]) };
  };

  it('is returned to its model, in order', async () => {
    const { sent } = await next(anthropic, anthropic);
    expect(sent).toMatch(
      /"type":"thinking","thinking":"I need it.","signature":"c2lnbmVk".*"Let me see.".*tool_use/,
    );
  });

  it('is returned with its call', async () => {
    const { sent } = await next(google, google);
    expect(sent).toMatch(/"functionCall":\{[^}]*"custom_find".*"thoughtSignature":"Y2FsbA=="/);
  });

  it.each(['anthropic/claude-sonnet-4-5', ...models])(
    'is not sent to others: %s',
    async (other) => {
      const { sent } = await next(other === anthropic ? google : anthropic, other);
      expect(sent).not.toMatch(/I need it|c2lnbmVk/);
      expect(sent).toContain('Let me see.');
    },
  );

  it('is dropped when a key was redacted from it', async () => {
    const { first, sent } = await next(anthropic, anthropic, { ...signed, text: `Use ${KEY}.` });
    expect(first.said.verbatim).toBeUndefined();
    expect(sent).toContain('Use ***.');
  });
});

it.each(['custom:find', 'rm -rf /é', 'x'.repeat(99)])(
  'a tool that is not offered has a name that providers accept: %s',
  async (tool) => {
    const call = { index: 1, id: 'c1', tool, given: {} };
    const results = [{ ...call, content: 'No', isError: true }];
    const conversation = after({ said: { text: '', calls: [call] }, costMicros: 0 }, results);
    await turns.ask('openai/gpt-4o', { conversation, tools: [] });
    const [, , said] = turns.server.questions()[0]!['messages'] as {
      tool_calls?: { function: { name: string } }[];
    }[];
    expect(said?.tool_calls?.[0]?.function.name).toMatch(/^[a-zA-Z0-9_-]{1,64}$/);
  },
);

it('a tool has the name under which it is offered', async () => {
  const tool = { ...offered[0]!, providerName: 'find_it' };
  turns.server.answers.push(
    { calls: [{ id: 'c1', name: 'find_it', arguments: {} }] },
    { text: 'x' },
  );
  const first = await turns.ask('openai/gpt-4o', { tools: [tool] });
  expect(first.said.calls).toMatchObject([{ tool: 'custom:find' }]);
  const results = [{ index: 1, id: 'c1', tool: 'custom:find', content: 1, isError: false }];
  const next = { tools: [tool], conversation: after(first, results) };
  await turns.ask('openai/gpt-4o', next);
  await turns.ask('google/gemini-3-flash-preview', next);
  for (const question of turns.server.questions().slice(1)) {
    expect(JSON.stringify(question)).not.toContain('custom_find');
  }
});

it.each([undefined, []])('a call that Google cannot read is retryable', async (deltas) => {
  turns.server.answers.push({ finish: 'malformed' });
  await expect(turns.ask('google/gemini-3-flash-preview', {}, deltas)).rejects.toMatchObject({
    message: 'google/gemini-3-flash-preview reported an error instead of a response',
    retryable: true,
    consumption: { costMicros: 120 },
  });
});

it('sends Anthropic only ids that it accepts', async () => {
  turns.server.answers.push(
    { calls: [{ id: 'functions.find:0', name: 'custom_find', arguments: {} }] },
    { text: 'Done.' },
  );
  const first = await turns.ask('compatible/llama-4', { tools: offered });
  const result = { ...first.said.calls[0]!, content: 1, isError: false };
  await turns.ask('anthropic/claude-haiku-4-5', { turn: 2, conversation: after(first, [result]) });
  expect(JSON.stringify(turns.server.questions()[1])).toContain('"tool_use_id":"functions_find_0"');
});

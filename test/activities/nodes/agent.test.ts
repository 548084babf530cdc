import { describe, expect, it } from '@jest/globals';
import { createNodeRunners } from '#activities/nodes/runners.ts';
import { loadConfig } from '#shared/platform/config.ts';
import { createEgress } from '#shared/platform/egress/egress.ts';
import { startTurns } from '#test/support/turns.ts';
import type { Json, JsonObject } from '#shared/json.ts';
import type { PriceOverrides } from '#shared/money/prices.ts';
import { startModelServer } from '#test/support/model-server.ts';
import { agentCall } from '#test/fakes/node-call.ts';
import { useStageEach } from '#test/support/stage.ts';

const KEY = 'sk-test-0123456789';
const egress = useStageEach(() => createEgress({ allow: ['127.0.0.1'] }));
const server = useStageEach(() => startModelServer());

function agent(env: Record<string, string> = {}, prices?: PriceOverrides) {
  const config = loadConfig({
    OPENAI_API_KEY: KEY,
    OPENAI_BASE_URL: `${server.url}/v1`,
    ANTHROPIC_API_KEY: KEY,
    ANTHROPIC_BASE_URL: `${server.url}/v1`,
    GOOGLE_API_KEY: KEY,
    GOOGLE_BASE_URL: `${server.url}/v1beta`,
    COMPATIBLE_BASE_URL: `${server.url}/v1`,
    ...env,
  });
  const runners = createNodeRunners({ db: undefined as never, config, egress, mailer: undefined });
  // Every agent is streamed.
  const ask: typeof runners.agent = (call) =>
    runners.agent({ onText: () => undefined, ...call, prices });
  return ask;
}

const schema = {
  type: 'object',
  properties: { category: { type: 'string' }, score: { type: 'number' } },
  required: ['category'],
};

describe('a request to a provider', () => {
  it('sends prompts and settings, and prices tokens by the table', async () => {
    server.answers.push({ text: 'Fine.', usage: { prompt_tokens: 1001, completion_tokens: 3 } });
    const result = await agent()(
      agentCall({
        node: { model: 'openai/gpt-4o-mini', temperature: 0.3, max_output_tokens: 50 },
        params: { system_prompt: 'Be brief.', prompt: 'How are you?' },
      }),
    );
    // 1001 x 0.15 + 3 x 0.60 = 151.95 micro-dollars, rounded up
    expect(result).toEqual({
      output: 'Fine.',
      model: 'openai/gpt-4o-mini',
      usage: {
        ...{ input_tokens: 1001, output_tokens: 3 },
        price: { input_usd_per_million: 0.15, output_usd_per_million: 0.6 },
      },
      costMicros: 152,
    });
    expect(server.questions()[0]).toMatchObject({
      model: 'gpt-4o-mini',
      temperature: 0.3,
      messages: [
        { role: 'system', content: 'Be brief.' },
        { role: 'user', content: 'How are you?' },
      ],
    });
    expect(JSON.stringify(server.questions()[0])).toMatch(/"max_(completion_)?tokens":50/);
    expect(server.seen[0]?.headers['authorization']).toBe(`Bearer ${KEY}`);
  });

  it('uses the API of Anthropic', async () => {
    server.answers.push({ text: 'Bonjour', usage: { prompt_tokens: 10, completion_tokens: 2 } });
    const result = await agent()(
      agentCall({ node: { model: 'anthropic/claude-haiku-4-5' }, params: { prompt: 'Hi' } }),
    );
    expect(result).toMatchObject({ output: 'Bonjour', costMicros: 20 });
    expect(server.seen[0]).toMatchObject({ url: '/v1/messages' });
    expect(server.seen[0]?.headers['x-api-key']).toBe(KEY);
  });

  it('uses the Gemini API of Google', async () => {
    server.answers.push({ text: 'Ciao', usage: { prompt_tokens: 10, completion_tokens: 2 } });
    const result = await agent()(
      agentCall({ node: { model: 'google/gemini-2.5-flash' }, params: { prompt: 'Hi' } }),
    );
    // 10 × 0.30 + 2 × 2.50
    expect(result).toMatchObject({ output: 'Ciao', costMicros: 8 });
    expect(server.seen[0]).toMatchObject({
      url: '/v1beta/models/gemini-2.5-flash:streamGenerateContent?alt=sse',
    });
    expect(server.seen[0]?.headers['x-goog-api-key']).toBe(KEY);
  });

  it('counts cached tokens, at their rate', async () => {
    const usage = { prompt_tokens: 2_000, completion_tokens: 10, cached_tokens: 1_000 };
    server.answers.push({ text: 'Hi', usage });
    const result = await agent()(agentCall({ node: { model: 'openai/gpt-4o' } }));
    // 1000 × 2.50 + 1000 × 1.25 + 10 × 10
    expect(result).toMatchObject({
      usage: { input_tokens: 2_000, output_tokens: 10, cached_tokens: 1_000 },
      costMicros: 3_850,
    });
  });

  it('needs no key for a compatible server, and flags a model without a price', async () => {
    const result = await agent()(
      agentCall({ node: { model: 'compatible/llama-4' }, params: { prompt: 'Hi' } }),
    );
    expect(result).toMatchObject({
      output: 'Hello',
      costMicros: 0,
      unpriced: true,
      model: 'compatible/llama-4',
    });
    expect(result.usage).toEqual({ input_tokens: 20, output_tokens: 10 });
    expect(server.seen[0]?.headers['authorization']).toBeUndefined();
  });

  it('prefers workspace prices to the table', async () => {
    const overrides = { 'compatible/llama-4': { inputUsd: 1, outputUsd: 2 } };
    const runner = agent({}, overrides);
    const result = await runner(
      agentCall({ node: { model: 'compatible/llama-4' }, params: { prompt: 'Hi' } }),
    );
    expect(result).toMatchObject({ costMicros: 40 });
    expect(result.unpriced).toBeUndefined();
  });

  it('skips models without a price if a cap or a budget applies', async () => {
    const call = agentCall({ budgeted: true, node: { model: 'compatible/llama-4' } });
    await expect(agent()(call)).rejects.toMatchObject({
      retryable: false,
      message: expect.stringContaining('compatible/llama-4 has no price') as unknown,
    });
    expect(server.seen).toHaveLength(0);
    const overrides = { 'compatible/llama-4': { inputUsd: 1, outputUsd: 2 } };
    expect(await agent({}, overrides)(call)).toMatchObject({ costMicros: 40 });
    const led = agentCall({
      budgeted: true,
      node: { model: 'compatible/other', fallback_models: ['openai/gpt-4o'] },
    });
    expect(await agent()(led)).toMatchObject({ model: 'openai/gpt-4o' });
  });

  it('is charged its maximum cost when the provider reports no token counts', async () => {
    server.answers.push({ text: 'Hi', usage: null });
    const result = await agent()(
      agentCall({ node: { model: 'openai/gpt-4o' }, params: { prompt: 'Hi' } }),
    );
    expect(result).toMatchObject({ output: 'Hi', estimated: true });
    expect(result.costMicros).toBeGreaterThan(0);
  });

  it('sends the run state as JSON without a prompt, and an object prompt as JSON', async () => {
    await agent()(agentCall({ node: { model: 'openai/gpt-4o' }, state: { ticket: 'T-1' } }));
    await agent()(agentCall({ node: { model: 'openai/gpt-4o' }, params: { prompt: { a: [1] } } }));
    expect(server.questions().map((question) => question['messages'])).toEqual([
      [{ role: 'user', content: '{"ticket":"T-1"}' }],
      [{ role: 'user', content: '{"a":[1]}' }],
    ]);
  });
});

describe('the text of an answer', () => {
  const ask = (model: string, texts: string[], rest: object = {}) =>
    agent()(
      agentCall({
        node: { model, ...rest },
        params: { prompt: 'Hi' },
        onText: (text, from) => void texts.push(`${from}: ${text}`),
      }),
    );
  const text = 'A long answer, of which the beginning arrives first. '.repeat(20);

  it.each([
    'openai/gpt-4o',
    'anthropic/claude-haiku-4-5',
    'google/gemini-2.5-flash',
    'compatible/llama-4',
  ])('of %s arrives while the model writes it', async (model) => {
    const texts: string[] = [];
    const pause = async () => {
      while (texts.length === 0) await new Promise(setImmediate);
    };
    server.answers.push({ text, pause });
    expect(await ask(model, texts)).toMatchObject({ output: text });
    expect(texts.length).toBeGreaterThan(3);
    expect(texts.map((each) => each.slice(model.length + 2)).join('')).toBe(text);
  });

  it('starts again with the next model', async () => {
    const texts: string[] = [];
    server.answers.push({ text, cut: 'destroy' }, { text: 'Short' });
    const result = await ask('openai/gpt-4o', texts, { fallback_models: ['compatible/spare'] });
    expect(result).toMatchObject({ output: 'Short', model: 'compatible/spare' });
    expect(texts[0]).toMatch(/^openai.gpt-4o: A long/);
    expect(texts.at(-1)).toBe('compatible/spare: Short');
  });

  it.each(['openai/gpt-4o', 'anthropic/claude-haiku-4-5', 'compatible/llama-4'])(
    'of %s arrives at once from a server that does not stream, which is asked once',
    async (model) => {
      server.answers.push({ text: 'Whole', whole: true });
      const texts: string[] = [];
      const result = await ask(model, texts);
      expect(result).toMatchObject({
        output: 'Whole',
        usage: { input_tokens: 20, output_tokens: 10 },
      });
      expect(texts).toEqual([`${model}: Whole`]);
      expect(server.seen).toHaveLength(1);
    },
  );

  it('is requested without a stream if the server refuses one', async () => {
    const message = 'Your organization must be verified to stream this model.';
    server.answers.push({ status: 400, message }, { text: 'Whole' });
    const texts: string[] = [];
    expect(await ask('openai/gpt-4o', texts)).toMatchObject({ output: 'Whole', costMicros: 150 });
    expect(server.asked().map(({ streamed }) => streamed)).toEqual([true, false]);
    server.answers.splice(0, 9, { status: 400, message: 'Too many tokens' });
    await expect(ask('openai/gpt-4o', texts)).rejects.toMatchObject({ retryable: false });
    expect(server.seen).toHaveLength(3);
  });

  it('of the mock takes its delay, and a call that fails says nothing', async () => {
    const texts: string[] = [];
    const said = (rest: object = {}) =>
      agent()(
        agentCall({
          node: { mock: { output: '😀'.repeat(9), delay_ms: 40, ...rest } },
          onText: (each) => void texts.push(each),
        }),
      );
    const started = performance.now();
    expect(await said()).toMatchObject({ output: '😀'.repeat(9) });
    expect(performance.now() - started).toBeGreaterThan(35);
    expect(texts).toEqual(['😀😀😀', '😀😀😀', '😀😀😀']);
    await expect(said({ fail_times: 1 })).rejects.toThrow('Mock failure');
    expect(texts).toHaveLength(3);
  });
});

describe('a structured answer', () => {
  const ask = (model = 'openai/gpt-4o') =>
    agent()(agentCall({ node: { model, response_schema: schema }, params: { prompt: 'Which?' } }));

  it.each([
    ['openai/gpt-4o', '{"category":"billing"}'],
    ['anthropic/claude-haiku-4-5', '{"category":"billing"}'],
    ['google/gemini-2.5-flash', '{"category":"billing"}'],
    ['compatible/llama-4', '{"category":"billing"}'],
    ['compatible/llama-4', '```json\n{"category":"billing"}\n```'],
  ])('of %s is parsed into the output', async (model, text) => {
    server.answers.push({ text });
    expect(await ask(model)).toMatchObject({ output: { category: 'billing' } });
    expect(JSON.stringify(server.questions()[0])).toContain('"required":["category"]');
    if (model === 'openai/gpt-4o') {
      const format = { type: 'json_schema', json_schema: { strict: false, schema } };
      expect(server.questions()[0]).toMatchObject({ response_format: format });
    }
  });

  it.each([
    ['no JSON', 'Billing, I think', /valid JSON: Billing/],
    [
      'a missing key',
      '{"score":1}',
      /does not fit the response_schema: category is missing: add it$/,
    ],
    ['a wrong type', '{"category":"a","score":"high"}', /response_schema: score must be/],
    ['nothing', '', /valid JSON/],
  ])('with %s fails as retryable, and its cost counts', async (_what, text, message) => {
    server.answers.push({ text });
    await expect(ask()).rejects.toMatchObject({
      name: 'NodeError',
      message: expect.stringMatching(message),
      retryable: true,
      consumption: { costMicros: 150, usage: { input_tokens: 20, output_tokens: 10 } },
    });
    expect(server.seen).toHaveLength(1);
  });

  it.each([
    [
      { type: 'object', oneOf: [{ required: ['refund'] }, { required: ['reply'] }] },
      ['{"refund":12}', '{"reply":"Hello"}'],
      ['{}', '{"refund":12,"reply":"Hello"}', '[]'],
    ],
    [{ required: ['label'] }, ['{"label":1}'], ['{}']],
    [{ type: 'array', items: { type: 'integer' } }, ['[1,2]'], ['[1.5]', '{}']],
    [{ if: { required: ['a'] }, then: { required: ['b'] } }, ['{}', '{"a":1,"b":1}'], ['{"a":1}']],
    [{ not: { required: ['a'] } }, ['{}'], ['{"a":1}']],
    [{ dependentRequired: { a: ['b'] } }, ['{"a":1,"b":2}'], ['{"a":1}']],
    [{ properties: { a: { pattern: '^[a-z]+$' } } }, ['{"a":"x"}'], ['{"a":"X"}']],
    [
      {
        $schema: 'http://json-schema.org/draft-07/schema#',
        properties: { a: { items: [{ const: 1 }] } },
      },
      ['{"a":[1]}'],
      ['{"a":[2]}'],
    ],
  ] as [JsonObject, string[], string[]][])(
    'is validated against the whole schema: %j',
    async (response_schema, good, bad) => {
      for (const mock of [false, true]) {
        const answer = (text: string) => {
          if (!mock) server.answers.splice(0, Infinity, { text });
          const node = mock
            ? { model: 'mock', mock: { output: JSON.parse(text) as Json } }
            : { model: 'openai/gpt-4o' };
          return agent()(
            agentCall({ node: { ...node, response_schema }, params: { prompt: '?' } }),
          );
        };
        for (const text of good) {
          expect(await answer(text)).toMatchObject({ output: JSON.parse(text) });
        }
        for (const text of bad) {
          await expect(answer(text)).rejects.toMatchObject({
            message: expect.stringMatching(
              /^The response of \S+ does not fit the response_schema: /,
            ),
          });
        }
      }
    },
  );

  it.each(['openai/gpt-4o', 'anthropic/claude-haiku-4-5', 'compatible/llama-4'])(
    'is requested from %s without a choice at the top of its schema',
    async (model) => {
      server.answers.push({ text: '{"refund":12}' });
      const response_schema = {
        type: 'object',
        oneOf: [{ required: ['refund'] }, { required: ['reply'] }],
      };
      await agent()(agentCall({ node: { model, response_schema }, params: { prompt: '?' } }));
      const asked = JSON.stringify(server.questions()[0]);
      expect(asked).toContain('"properties":{"refund":{},"reply":{}}');
      expect(asked).not.toContain('"oneOf":');
    },
  );

  it('can be between other text, and its numbers are not changed', async () => {
    server.answers.push({
      text: '<think>Or {"category":"x"}?</think>Here:\n```JSON\n{"category":"billing"}\n```\nDone.',
    });
    expect(await ask()).toMatchObject({ output: { category: 'billing' } });
    server.answers.splice(0, 9, { text: '{"category":"a","score":7615917337495251231}' });
    await expect(ask()).rejects.toMatchObject({ message: expect.stringContaining('score') });
  });

  it('that is truncated and empty fails', async () => {
    server.answers.push({ text: '', finish: 'length' });
    await expect(ask()).rejects.toMatchObject({ message: expect.stringContaining('cut off') });
  });

  it('that is truncated is retryable', async () => {
    server.answers.push({ text: '{"category":', finish: 'length' });
    await expect(ask()).rejects.toMatchObject({
      message: expect.stringContaining('cut off'),
      retryable: true,
    });
  });

  it('ignores regular expressions in the schema', async () => {
    const evil = { type: 'object', properties: { a: { type: 'string', pattern: '^(a+)+$' } } };
    server.answers.push({ text: JSON.stringify({ a: `${'a'.repeat(40)}!` }) });
    const call = agentCall({
      node: { model: 'openai/gpt-4o', response_schema: evil },
      params: { prompt: '?' },
    });
    await expect(agent()(call)).rejects.toMatchObject({
      message: expect.stringContaining('response_schema: a must match the pattern ^(a+)+$'),
    });
  });
});

describe('failing providers', () => {
  const node = { model: 'openai/gpt-4o', fallback_models: ['compatible/spare', 'mock'] };

  it.each([429, 500, 503, 401, 404])(
    'fall back to the next model on %d, one request each',
    async (status) => {
      server.answers.push(
        { status, message: 'no', headers: { 'retry-after': '0' } },
        { text: 'From the spare' },
      );
      const result = await agent()(agentCall({ node, params: { prompt: 'Hi' } }));
      expect(result).toMatchObject({ output: 'From the spare', model: 'compatible/spare' });
      expect(server.questions().map((question) => question['model'])).toEqual(['gpt-4o', 'spare']);
    },
  );

  it('fall back to the mock last', async () => {
    server.answers.push({ status: 500, message: 'no' });
    const result = await agent()(agentCall({ node, params: { prompt: 'Hi' } }));
    expect(result).toMatchObject({ output: 'Mock answer to: Hi', model: 'mock' });
  });

  it.each([400, 413, 422])('do not fall back after a refusal with %d', async (status) => {
    server.answers.push({ status, message: 'too many tokens' });
    await expect(agent()(agentCall({ node, params: { prompt: 'Hi' } }))).rejects.toMatchObject({
      message: `openai/gpt-4o answered ${status}: too many tokens`,
      retryable: false,
      definite: true,
    });
    expect(server.seen).toHaveLength(1);
  });

  it.each([
    [429, true],
    [500, true],
    [408, true],
    [401, false],
    [404, false],
  ])('with status %d are retryable: %s; the SDK does not retry', async (status, retryable) => {
    server.answers.push({ status, message: 'no' });
    const call = agentCall({ node: { model: 'openai/gpt-4o' }, params: { prompt: 'Hi' } });
    await expect(agent()(call)).rejects.toMatchObject({ retryable, definite: true });
    expect(server.seen).toHaveLength(1);
  });

  it('withhold a response', async () => {
    server.answers.push({ text: 'I cannot', finish: 'filter' });
    for (const response_schema of [undefined, schema]) {
      const call = agentCall({
        node: { model: 'openai/gpt-4o', ...(response_schema && { response_schema }) },
      });
      await expect(agent()(call)).rejects.toMatchObject({
        message: 'openai/gpt-4o withheld its response (content filter)',
        retryable: true,
        consumption: { costMicros: 150 },
      });
    }
  });

  it('are all named in the error', async () => {
    server.answers.push({ status: 401, message: 'who?' }, { status: 503, message: 'busy' });
    const call = agentCall({
      node: { model: 'openai/gpt-4o', fallback_models: ['compatible/spare'] },
    });
    await expect(agent()(call)).rejects.toMatchObject({
      message: 'openai/gpt-4o answered 401: who?; compatible/spare answered 503: busy',
      retryable: true,
    });
  });

  it.each<[string, string[], number]>([
    ['a model asks for', ['7'], 7_000],
    ['the most patient of two does not need', ['7', '20'], 7_000],
    ['one that does not say so makes needless', ['7', ''], 0],
  ])('are retried after the wait that %s', async (_what, waits, retryAfterMs) => {
    server.answers.push(
      ...waits.map((wait) => ({ status: 429, message: 'no', headers: { 'retry-after': wait } })),
    );
    const node = {
      model: 'openai/gpt-4o',
      ...(waits.length > 1 && { fallback_models: ['compatible/spare'] }),
    };
    await expect(agent()(agentCall({ node }))).rejects.toMatchObject({
      retryable: true,
      retryAfterMs,
    });
  });

  it('never show a key, or a masked form of it', async () => {
    server.answers.push({
      status: 401,
      message: `Incorrect API key provided: ${KEY}, or sk-te**********6789.`,
    });
    const error = await agent()(agentCall({ node: { model: 'openai/gpt-4o' } })).catch(
      (caught: unknown) => caught,
    );
    expect((error as Error).message).toBe(
      'openai/gpt-4o answered 401: Incorrect API key provided: ***, or ***.',
    );
  });

  it('with an unexpected body are retryable', async () => {
    for (const raw of ['<html>', '{"choices":[]}', '{}']) {
      server.answers.splice(0, 9, { raw });
      const call = agentCall({ node: { model: 'openai/gpt-4o' }, params: { prompt: 'Hi' } });
      await expect(agent()(call)).rejects.toMatchObject({ name: 'NodeError', retryable: true });
    }
  });

  describe.each(['openai/gpt-4o', 'compatible/llama-4'])('in the body of a 200 of %s', (model) => {
    it.each<[string, string, boolean]>([
      ['{"error":{"message":"Model is loading","type":"unavailable"}}', 'Model is loading', true],
      ['{"error":"CUDA out of memory"}', 'CUDA out of memory', true],
      ['{"error":{"code":429,"message":"Slow down"},"user_id":"u"}', 'Slow down', true],
      ['{"error":{"message":"No credits","code":402}}', 'No credits', false],
      ['{"object":"error","message":"Too long","type":"BadRequest","code":400}', 'Too long', false],
      ['{"error":{"type":"x"},"choices":[]}', '{"type":"x"}', true],
    ])('are shown, streamed or not: %s', async (body, message, retryable) => {
      const event = `data: {"id":"x","created":1,"model":"m","choices":[{"index":0,"delta":{"content":"Hi"}}]}\n\ndata: ${body}\n\n`;
      const call = agentCall({ node: { model }, params: { prompt: 'Hi' } });
      const expected = {
        name: 'NodeError',
        message: `${model} answered with an error: ${message}`,
        retryable,
      };
      server.answers.splice(0, 9, { raw: body });
      await expect(agent()(call)).rejects.toMatchObject(expected);
      for (const raw of [event, `data: ${body}\n\ndata: [DONE]\n\n`, body]) {
        const turns = await startTurns();
        turns.server.answers.push({ raw });
        try {
          await expect(turns.ask(model, {}, [])).rejects.toMatchObject(expected);
        } finally {
          await turns.close();
        }
      }
    });

    it('are not detected in what a model says', async () => {
      for (const text of ['{"error":"x"}', '"error" is a word']) {
        server.answers.splice(0, 9, { text });
        const call = agentCall({ node: { model }, params: { prompt: 'Hi' } });
        expect(await agent()(call)).toMatchObject({ output: text });
      }
    });
  });

  it('are retryable if down, final if denied', async () => {
    await server.close();
    const call = agentCall({ node: { model: 'openai/gpt-4o' } });
    await expect(agent()(call)).rejects.toMatchObject({
      name: 'NodeError',
      message: expect.stringContaining('could not be reached'),
      retryable: true,
    });
    const inside = agent({ OPENAI_BASE_URL: 'http://169.254.169.254/v1' });
    await expect(inside(call)).rejects.toMatchObject({
      message: "openai/gpt-4o: The address of '169.254.169.254' is not allowed",
      retryable: false,
    });
  });

  it.each([
    ['openai/gpt-4o', 'OPENAI_API_KEY', { OPENAI_API_KEY: '' }],
    ['anthropic/claude-haiku-4-5', 'ANTHROPIC_API_KEY', { ANTHROPIC_API_KEY: '' }],
    ['google/gemini-2.5-flash', 'GOOGLE_API_KEY', { GOOGLE_API_KEY: '' }],
    ['compatible/x', 'COMPATIBLE_BASE_URL', { COMPATIBLE_BASE_URL: '' }],
    ['google/gemini:embedContent?', 'Not a name', {}],
    ['google/../files/x', 'Not a name', {}],
    ['gpt-4o', 'provider/model', {}],
    ['constructor/x', 'provider/model', {}],
    ['openai/', 'provider/model', {}],
  ])('of %s without settings or a name say %s, and are final', async (model, name, env) => {
    const call = agentCall({ node: { model, fallback_models: ['mock'] } });
    await expect(agent(env)(call)).rejects.toMatchObject({
      message: expect.stringContaining(name),
      retryable: false,
    });
    expect(server.seen).toHaveLength(0);
  });
});

it("an abort ends a hanging request with the signal's reason, without the fallback", async () => {
  server.answers.push({ hang: true });
  const controller = new AbortController();
  const reason = new Error('run cancelled');
  const call = agentCall({
    node: { model: 'openai/gpt-4o', fallback_models: ['mock'] },
    signal: controller.signal,
  });
  const asked = agent()(call);
  setTimeout(() => controller.abort(reason), 50);
  await expect(asked).rejects.toBe(reason);
  expect(server.seen.length).toBeLessThanOrEqual(1);
});

describe('the mock model', () => {
  const ask = agentCall;

  it('echoes the prompt, shortened and on one line, the same every time', async () => {
    const runner = agent();
    const call = ask({ params: { prompt: `Sort\nthis: ${'😀'.repeat(200)}` } });
    const first = await runner(call);
    expect(first).toEqual(await runner(call));
    expect(first).toMatchObject({ costMicros: 0, model: 'mock' });
    expect(first.output).toBe(`Mock answer to: Sort this: ${'😀'.repeat(109)}...`);
  });

  it('returns the output of the node or its rendered params, including null', async () => {
    const runner = agent();
    const output = { category: 'billing' };
    expect((await runner(ask({ node: { mock: { output } } }))).output).toEqual(output);
    const rendered = ask({ node: { mock: { output: '{x}' } }, params: { mock: { output: 'X' } } });
    expect((await runner(rendered)).output).toBe('X');
    expect((await runner(ask({ node: { mock: { output: null } } }))).output).toBeNull();
  });

  it('matches the schema when it has no output', async () => {
    const result = await agent()(ask({ node: { response_schema: schema } }));
    expect(result.output).toEqual({ category: 'mock', score: 0 });
  });

  it.each([
    [{ type: 'object', oneOf: [{ required: ['a'] }, { required: ['b'] }] }, { a: null }],
    [
      { type: 'object', required: ['a'], properties: { a: { type: 'string', minLength: 6 } } },
      { a: 'mock..' },
    ],
    [{ type: 'integer', exclusiveMinimum: 3, multipleOf: 5 }, 5],
    [
      {
        properties: { a: { $ref: '#/$defs/code' } },
        $defs: { code: { type: 'string', pattern: '^A', default: 'A1' } },
        required: ['a'],
      },
      { a: 'A1' },
    ],
    [
      { type: 'object', properties: { next: { $ref: '#' }, a: { const: 1 } }, required: ['a'] },
      { a: 1 },
    ],
  ] as [JsonObject, Json][])('finds an example that fits %j', async (response_schema, output) => {
    expect(await agent()(ask({ node: { response_schema } }))).toMatchObject({ output });
  });

  it('tries a bounded number of examples', async () => {
    const all = Array.from({ length: 30 }, () => ({ $ref: '#' }));
    const properties = Object.fromEntries(all.map((inner, at) => [`f${at}`, inner]));
    const response_schema = { type: 'object', properties, required: Object.keys(properties) };
    await expect(agent()(ask({ node: { response_schema } }))).rejects.toMatchObject({
      message: expect.stringContaining('does not fit the response_schema'),
    });
  });

  it('fails fail_times times at no cost, then costs cost_usd', async () => {
    const node = { mock: { fail_times: 2, cost_usd: 0.0012345 } };
    for (const attempt of [1, 2]) {
      await expect(agent()(ask({ node, attempt }))).rejects.toMatchObject({
        message: `Mock failure ${attempt} of 2`,
        retryable: true,
        consumption: { costMicros: 0 },
      });
    }
    expect(await agent()(ask({ node, attempt: 3 }))).toMatchObject({ costMicros: 1235 });
  });

  it('waits, and stops waiting on abort', async () => {
    const started = Date.now();
    await agent()(ask({ node: { mock: { delay_ms: 60 } } }));
    expect(Date.now() - started).toBeGreaterThanOrEqual(55);
    const controller = new AbortController();
    const reason = new Error('run cancelled');
    const waiting = agent()(
      ask({ node: { mock: { delay_ms: 60_000 } }, signal: controller.signal }),
    );
    controller.abort(reason);
    await expect(waiting).rejects.toBe(reason);
  });
});

import { describe, expect, test } from '@jest/globals';
import {
  type CustomToolDefinition,
  offeredTools,
  providerNameOf,
} from '#shared/agents/offered-tools.ts';
import { graphNodeSchema, type AgentNode } from '#shared/contract/workflows/graph.ts';
import { jsonDigest } from '#shared/crypto/json-digest.ts';
import type { Json, JsonObject } from '#shared/json.ts';

const refundSchema: JsonObject = {
  type: 'object',
  properties: { order: { type: 'string' }, amount: { type: 'number' } },
  required: ['order', 'amount'],
  additionalProperties: false,
};
const tool = (fields: Partial<CustomToolDefinition> = {}): CustomToolDefinition => ({
  label: '',
  description: '',
  input_schema: refundSchema,
  ...fields,
});
const registered = new Map([
  ['refund', tool({ label: 'Refund', description: 'Refunds an order' })],
  ['labelled', tool({ label: 'A label' })],
  ['bare', tool()],
  ['no-schema', tool({ input_schema: null })],
  ['untyped', tool({ input_schema: { properties: { a: {}, b: {} }, required: ['a', 'b'] } })],
  ['nullable', tool({ input_schema: { type: ['object', 'null'] } })],
  ['list', tool({ input_schema: { type: 'array' } })],
]);

const workflows = new Map([
  ['Refund an order', { name: 'Refund an order', description: '', input_schema: refundSchema }],
  ['wf_1', { name: 'Größe prüfen', description: 'Checks a size', input_schema: refundSchema }],
  [
    'Größe prüfen',
    { name: 'Größe prüfen', description: 'Checks a size', input_schema: refundSchema },
  ],
  ['Untyped', { name: 'Untyped', description: '', input_schema: null }],
  ['Twin', { problem: "Several workflows are named 'Twin'" }],
]);

const offer = (...tools: Json[]) =>
  offeredTools(
    graphNodeSchema.parse({ id: 'a', kind: 'agent', tools }) as AgentNode,
    { customTools: registered, workflows },
    jsonDigest,
  );

describe('an offered tool', () => {
  test('has its own description and schema, and the defaults', () => {
    expect(offer('custom:refund')).toEqual({
      tools: [
        {
          name: 'custom:refund',
          providerName: 'custom_refund',
          description: 'Refunds an order',
          schema: refundSchema,
          schemaDigest: jsonDigest(refundSchema),
          toolDigest: null,
          approval: 'never',
          fixed: [],
          maxCalls: undefined,
          onError: 'tell',
        },
      ],
      problems: [],
    });
  });

  test('takes everything else from its entry', () => {
    const parameters = { type: 'object', properties: { id: {} } };
    const { tools } = offer({
      name: 'custom:no-schema',
      description: 'Mine',
      parameters,
      approval: 'args.amount > 100',
      max_calls: 3,
      on_error: 'fail',
    });
    expect(tools).toMatchObject([
      {
        description: 'Mine',
        schema: parameters,
        approval: 'args.amount > 100',
        maxCalls: 3,
        onError: 'fail',
      },
    ]);
  });

  test.each([
    ['custom:labelled', 'A label'],
    ['custom:bare', 'bare'],
    ['json_transform', expect.stringContaining('expression')],
  ])('%s is described as %s', (name, description) => {
    expect(offer(name).tools).toMatchObject([{ description }]);
  });

  test('can be a workflow, by name or id, with a name that providers accept', () => {
    const named = offer('workflow:Refund an order', 'workflow:Größe prüfen', 'workflow:wf_1');
    expect(named).toMatchObject({
      problems: [],
      tools: [
        {
          name: 'workflow:Refund an order',
          providerName: 'workflow_Refund_an_order',
          description: "Runs the workflow 'Refund an order'",
          schema: refundSchema,
          schemaDigest: jsonDigest(refundSchema),
          toolDigest: null,
        },
        { providerName: 'workflow_Gro_e_prufen', description: 'Checks a size' },
        { name: 'workflow:wf_1', providerName: 'workflow_wf_1', description: 'Checks a size' },
      ],
    });
    const parameters = { type: 'object', properties: { a: {} } };
    const { tools } = offer({ name: 'workflow:Untyped', parameters, description: 'Mine' });
    expect(tools).toMatchObject([{ schema: parameters, description: 'Mine' }]);
  });

  test('is neither offered nor refused if the workflows are unknown', () => {
    const { tools, problems } = offeredTools(
      { tools: ['workflow:any', 'http_request'] },
      { customTools: registered },
      jsonDigest,
    );
    expect(problems).toEqual([]);
    expect(tools.map(({ name }) => name)).toEqual(['http_request']);
  });

  test('does not show fixed arguments to the model, nor require them', () => {
    const { tools } = offer({ name: 'custom:refund', fixed: { order: '{order.id}' } });
    const schema = {
      type: 'object',
      properties: { amount: { type: 'number' } },
      required: ['amount'],
      additionalProperties: false,
    };
    expect(tools).toMatchObject([{ schema, fixed: ['order'], schemaDigest: jsonDigest(schema) }]);
    const all = offer({ name: 'custom:refund', fixed: { order: 'x', amount: 1 } });
    expect(all.tools[0]?.schema).toEqual({
      type: 'object',
      properties: {},
      additionalProperties: false,
    });
    expect(offer({ name: 'custom:untyped', fixed: { a: 1, other: 2 } }).tools[0]?.schema).toEqual({
      type: 'object',
      properties: { b: {} },
      required: ['b'],
    });
  });

  test('always has a schema of the type object', () => {
    expect(offer('custom:untyped').tools[0]?.schema).toMatchObject({ type: 'object' });
    expect(offer('custom:nullable').tools[0]?.schema).toEqual({ type: 'object' });
  });

  test('has a digest that does not depend on the order of keys', () => {
    const parameters = (keys: string[]) => ({
      type: 'object',
      properties: Object.fromEntries(keys.map((key) => [key, {}])),
    });
    const digests = [
      ['a', 'b'],
      ['b', 'a'],
      ['a', 'c'],
    ].map(
      (keys) => offer({ name: 'custom:bare', parameters: parameters(keys) }).tools[0]?.schemaDigest,
    );
    expect(digests[0]).toMatch(/^sha256:[0-9a-f]{64}$/);
    expect(digests[1]).toBe(digests[0]);
    expect(digests[2]).not.toBe(digests[0]);
  });
});

describe('a tool that cannot be offered', () => {
  test.each<[string, Json[], string, string]>([
    ['unknown_tool', ['http_reqest'], 'tools[0]', "; did you mean 'http_request'?"],
    ['unknown_tool', ['refund'], 'tools[0]', "; did you mean 'custom:refund'?"],
    ['unknown_custom_tool', ['custom:refnd'], 'tools[0]', 'is not registered'],
    ['tool_not_for_agents', ['delay'], 'tools[0]', 'a timer of the run'],
    ['tool_not_for_agents', ['mcp'], 'tools[0]', 'POST /api/tools/import'],
    [
      'tool_not_for_agents',
      [{ name: 'mcp', fixed: { server_url: 'https://a.test/', tool: 'x' } }],
      'tools[0]',
      'POST /api/tools/import',
    ],
    ['workflow_unknown', ['workflow:triage'], 'tools[0]', "There is no workflow 'triage'"],
    ['workflow_unknown', ['workflow:Twin'], 'tools[0]', 'Several workflows'],
    ['tool_without_schema', ['workflow:Untyped'], 'tools[0]', 'give the workflow an input_schema'],
    [
      'unknown_param',
      [{ name: 'workflow:Refund an order', fixed: { amont: 1 } }],
      'tools[0].fixed.amont',
      "did you mean 'amount'?",
    ],
    [
      'tool_names_collide',
      ['workflow:wf_1', 'workflow:wf.1'],
      'tools[1]',
      "the same name 'workflow_wf_1' for the model",
    ],
    ['tool_without_schema', ['custom:no-schema'], 'tools[0]', 'input_schema'],
    ['tool_schema_not_an_object', ['custom:list'], 'tools[0]', "'object'"],
    [
      'tool_schema_not_an_object',
      [{ name: 'custom:bare', parameters: { type: 'string' } }],
      'tools[0]',
      "'object'",
    ],
    ['duplicate_tool', ['custom:bare', { name: 'custom:bare' }], 'tools[1]', 'listed twice'],
    [
      'unknown_param',
      [{ name: 'custom:refund', fixed: { amont: 1 } }],
      'tools[0].fixed.amont',
      "did you mean 'amount'?",
    ],
    [
      'unknown_param',
      [{ name: 'http_request', fixed: { timeout: 1 } }],
      'tools[0].fixed.timeout',
      "no argument 'timeout'",
    ],
    [
      'headers_without_url',
      [{ name: 'http_request', fixed: { headers: { authorization: 'x' } } }],
      'tools[0].fixed.headers',
      'fixed url',
    ],
  ])('%s: %j', (code, tools, path, message) => {
    const { problems, tools: rest } = offer(...tools);
    expect(problems).toEqual([{ code, path, message: expect.stringContaining(message) }]);
    expect(rest).toHaveLength(tools.length - 1);
  });

  test('is not offered twice under names that are the same for the model', () => {
    const long = `custom:${'x'.repeat(63)}`;
    const collided = offeredTools(
      { tools: [`${long}a`, `${long}b`] },
      {
        customTools: new Map(
          [`${'x'.repeat(63)}a`, `${'x'.repeat(63)}b`].map((name) => [name, tool()]),
        ),
      },
      jsonDigest,
    );
    expect(collided.problems).toMatchObject([{ code: 'tool_names_collide', path: 'tools[1]' }]);
    expect(providerNameOf('custom:a.b')).toBe('custom_a_b');
    expect(providerNameOf(long)).toHaveLength(64);
  });
});

import { beforeAll, describe, expect, test } from '@jest/globals';
import type { GraphInput } from '#shared/contract/workflows/graph.ts';
import type { JsonObject } from '#shared/json.ts';
import { echo, edge } from '#test/support/engine.ts';
import { call as callOf } from '#test/support/sub-workflows.ts';
import { useEngineApi } from '#test/api/engine-api.ts';

const { engine, call } = useEngineApi({
  env: { ENCRYPTION_KEY: Buffer.alloc(32, 7).toString('base64') },
});

const request = (params: JsonObject) =>
  ({ id: 'ask', kind: 'tool', tool_name: 'http_request', params }) as never;
const map = (items: string) => ({ id: 'all', kind: 'map', items }) as never;
const gate = (settings: JsonObject) => ({ id: 'review', kind: 'human_gate', ...settings }) as never;
const agent = (settings: JsonObject) => ({ id: 'ask', kind: 'agent', ...settings }) as never;
const alone = (node: never): GraphInput => ({ nodes: [node], edges: [] });

/** Each mistake that validation finds: its code, its place, and a sentence that says where and what to do. */
const found: [string, () => Promise<GraphInput> | GraphInput, [string, string, string]][] = [
  [
    'a map without a body',
    () => alone(map('list')),
    [
      'map_without_body',
      'nodes[0]',
      "Map 'all' has no body: draw a 'true' edge to the node that each item starts with",
    ],
  ],
  [
    'the body of a map without a way back',
    () => ({ nodes: [map('list'), echo('one')], edges: [edge('all', 'one', 'true')] }),
    [
      'map_without_return',
      'nodes[0]',
      "Nothing in the body of map 'all' leads back to it: draw an edge from its last node to the map",
    ],
  ],
  [
    'a workflow that calls itself',
    () => alone(callOf('again', 'Calls itself')),
    [
      'workflow_cycle',
      'nodes[0].workflow',
      "Node 'again': the workflow would start itself, 'Calls itself' → 'Calls itself': remove one of these calls",
    ],
  ],
  [
    'a workflow that calls itself through another one',
    async () => {
      await engine.define(alone(callOf('back', 'Calls another')), 'The other');
      return alone(callOf('there', 'The other'));
    },
    [
      'workflow_cycle',
      'nodes[0].workflow',
      "Node 'there': the workflow would start itself, 'Calls another' → 'The other' → 'Calls another': remove one of these calls",
    ],
  ],
  [
    'a secret that does not exist',
    () => alone(request({ url: 'https://a.example.com/', headers: { a: '{secrets.NONE}' } })),
    [
      'unknown_secret',
      'nodes[0].params.headers.a',
      "Node 'ask': there is no secret 'NONE': create it, or name another one",
    ],
  ],
  [
    'a secret in a URL',
    () => alone(request({ url: 'https://a.example.com/{secrets.KEY}' })),
    [
      'secret_not_allowed',
      'nodes[0].params.url',
      "Node 'ask': 'secrets.KEY' cannot stand here: move it to headers, query or body of http_request, headers of mcp or headers of a custom tool",
    ],
  ],
  [
    'a secret for another host',
    () => alone(request({ url: 'https://b.example.com/', headers: { a: '{secrets.KEY}' } })),
    [
      'secret_host_not_allowed',
      'nodes[0].params.url',
      "Node 'ask': the secret 'KEY' may not be sent to b.example.com, only to a.example.com: allow the host, or change the address",
    ],
  ],
  [
    'an error edge from a node that cannot fail',
    () => ({
      nodes: [{ id: 'if', kind: 'condition', expression: 'true' } as never, echo('handler')],
      edges: [edge('if', 'handler', 'error')],
    }),
    [
      'error_edge_not_allowed',
      'edges[0].condition_value',
      "The edge from 'if' to 'handler' is never taken: a condition has no errors to catch; start it at the agent, tool, map, workflow or gate whose error it handles",
    ],
  ],
  [
    'a form that no input fits',
    () => alone(gate({ input_schema: { required: ['iban'], additionalProperties: false } })),
    [
      'gate_schema_invalid',
      'nodes[0].input_schema',
      "Node 'review': input_schema fits no input, since input_schema.required has 'iban', which additionalProperties: false forbids: add it to properties, or remove it from required",
    ],
  ],
  [
    'a schema of answers that cannot be used',
    () => alone(agent({ response_schema: { type: 'strng' } })),
    [
      'response_schema_invalid',
      'nodes[0].response_schema',
      "Node 'ask': response_schema is not a valid JSON Schema: schema/type must be equal to one of the allowed values (array, boolean, integer, null, number, object, string), schema/type must be array, schema/type must match a schema in anyOf",
    ],
  ],
  [
    'a schema of answers that refers to nothing',
    () => alone(agent({ response_schema: { $ref: '#/$defs/answer' } })),
    [
      'response_schema_invalid',
      'nodes[0].response_schema',
      "Node 'ask': response_schema is not a valid JSON Schema: can't resolve reference #/$defs/answer from id #",
    ],
  ],
  [
    'a schema of arguments that refers to another server',
    () =>
      alone(
        agent({
          tools: [{ name: 'json_transform', parameters: { $ref: 'https://a.example/x' } }],
        }),
      ),
    [
      'tool_schema_invalid',
      'nodes[0].tools[0].parameters',
      "Node 'ask': tools[0].parameters is not a valid JSON Schema: can't resolve reference https://a.example/x from id #",
    ],
  ],
  [
    'an approver who no longer exists',
    () => alone(gate({ approvers: { members: ['mem_gone'] } })),
    [
      'gate_approver_unknown',
      'nodes[0].approvers.members[0]',
      "Node 'review': the approver 'mem_gone' no longer exists: remove it from approvers.members, or name another member",
    ],
  ],
  [
    'a role that nobody has',
    () => alone(gate({ approvers: { roles: ['viewer'] } })),
    [
      'gate_too_few_approvers',
      'nodes[0].approvers',
      "Node 'review': 1 approval is required, but only 0 members can decide: require fewer, or let more members decide",
    ],
  ],
];

describe('validation reports where a mistake is, and what to do', () => {
  beforeAll(async () => {
    const secret = { value: 'demo-value-0123', allowed_hosts: ['a.example.com'] };
    expect((await call('PUT', '/api/secrets/KEY', secret)).status).toBe(201);
  });

  const names: Record<string, string> = {
    'a workflow that calls itself': 'Calls itself',
    'a workflow that calls itself through another one': 'Calls another',
  };
  test.each(found)('%s', async (title, make, [code, path, message]) => {
    const { body: workflow } = await call('POST', '/api/workflows', {
      ...{ name: names[title] ?? title, graph: await make() },
    });
    const { body } = await call('POST', `/api/workflows/${workflow.id}/validate`);
    expect(body.valid).toBe(false);
    expect(body.errors).toContainEqual(expect.objectContaining({ code, path, message }));
  });
});

describe('a run reports where a mistake is, and what to do', () => {
  const body = (items: string): GraphInput => ({
    nodes: [map(items), echo('one', 'all.item')],
    edges: [edge('all', 'one', 'true'), edge('one', 'all')],
  });

  test.each<[string, JsonObject, string]>([
    [
      'the items of a map that are no list',
      { list: 'a text' },
      "Node 'all' failed: items gives a string: change the expression so that it gives a list",
    ],
    [
      'too many items of a map',
      { list: Array.from({ length: 10_001 }, () => 1) },
      "Node 'all' failed: items gives a list of 10001: shorten it to at most 10000, or split it over several maps",
    ],
  ])('%s', async (_title, input, error) => {
    const runId = await engine.trigger(await engine.define(body('list')), input);
    expect((await engine.until(runId, ['failed'])).error).toBe(error);
  });

  test('an input of an approver that does not fit the form', async () => {
    const form = { properties: { iban: { type: 'string' } }, required: ['iban'] };
    const runId = await engine.trigger(await engine.define(alone(gate({ input_schema: form }))));
    await engine.until(runId, ['paused']);
    const path = `/api/runs/${runId}/approve`;
    const { status, body } = await call('POST', path, { input: { iban: 5 } });
    expect({ status, body }).toEqual({
      status: 400,
      body: { detail: 'Invalid input: input.iban must be a text, not a number' },
    });
  });

  test('a change of a draft without the tag of the one that was read', async () => {
    const id = await engine.define(alone(echo('a') as never));
    const draft = { graph: alone(echo('b') as never) };
    expect((await call('PUT', `/api/workflows/${id}/draft`, draft)).status).toBe(201);
    const other = { graph: alone(echo('c') as never) };
    const { status, body } = await call('PUT', `/api/workflows/${id}/draft`, other);
    expect({ status, body }).toEqual({
      status: 428,
      body: {
        detail: `Changing, discarding or publishing a draft requires the header If-Match: send the ETag of GET /api/workflows/${id}/draft`,
      },
    });
  });
});

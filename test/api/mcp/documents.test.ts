import { afterAll, beforeAll, describe, expect, test } from '@jest/globals';
import { Ajv } from 'ajv';
import type { Client } from '@modelcontextprotocol/client';
import { tools } from '#api/mcp/server.ts';
import { connectMcp, generations } from '#test/fakes/mcp-client.ts';
import { useEngineApi } from '#test/api/engine-api.ts';

const { engine } = useEngineApi();

/** A tool's data when it succeeded, otherwise the text of its error. */
const use = async (client: Client, name: string, args: Record<string, unknown>): Promise<any> => {
  const result: any = await client.callTool({ name, arguments: args });
  return result.isError === true ? { error: result.content[0].text } : result.structuredContent;
};

describe.each(generations)('a model, by the protocol %s,', (generation) => {
  let client: Client;
  beforeAll(async () => {
    client = await connectMcp(`${engine.url}/api/mcp`, generation);
  });
  afterAll(() => client.close());

  const read = async (uri: string): Promise<{ mimeType: string; text: string }> => {
    const { contents } = await client.readResource({ uri });
    expect(contents).toHaveLength(1);
    return contents[0] as never;
  };

  test('reads the guides that are listed', async () => {
    const { resources } = await client.listResources();
    expect(resources.length).toBeGreaterThan(30);
    expect(resources).toContainEqual({
      uri: 'docs://approvals',
      name: 'approvals',
      title: 'Approvals',
      description: expect.stringContaining('Who decides at a gate'),
      mimeType: 'text/markdown',
    });
    for (const { uri, mimeType } of resources) {
      const { text, ...rest } = await read(uri);
      expect(rest).toEqual({ uri, mimeType });
      expect(text.length).toBeGreaterThan(500);
    }
    expect((await client.listResourceTemplates()).resourceTemplates).toEqual([]);
  });

  test('reads the schema of workflows', async () => {
    const { mimeType, text } = await read('schema://workflow');
    expect(mimeType).toBe('application/schema+json');
    const validate = new Ajv({ strict: false }).compile(JSON.parse(text) as object);
    expect(validate({ name: 'W', graph: { nodes: [{ id: 'a', kind: 'merge' }] } })).toBe(true);
    expect(validate({ name: 'W', graph: { nodes: [{ id: 'a', kind: 'other' }] } })).toBe(false);
  });

  test.each([
    'docs://nothing',
    'docs://README',
    'docs://../package',
    'file:///etc/passwd',
    'schema://',
  ])('does not get the resource %s', async (uri) => {
    await expect(client.readResource({ uri })).rejects.toThrow(/not found/i);
  });

  test('gets prompts that name tools and resources that there are', async () => {
    const { prompts } = await client.listPrompts();
    expect(prompts.map(({ name }) => name)).toEqual([
      'build_workflow',
      'fix_workflow',
      'explain_run',
    ]);
    const { resources } = await client.listResources();
    const known = new Set(tools.map(({ name }) => name));
    const about = new Set(['input_schema', 'human_gate', 'run_id']);
    for (const { name, arguments: [wanted] = [] } of prompts) {
      const given = { [wanted!.name]: 'Answer "tickets"' };
      const { messages } = await client.getPrompt({ name, arguments: given });
      const { text } = messages[0]!.content as { text: string };
      expect(text).toContain('tickets');
      const words = [...text.matchAll(/\b[a-z]+(?:_[a-z]+)+\b/g)].map(([word]) => word);
      expect(words.length).toBeGreaterThan(2);
      expect(words.filter((word) => !known.has(word) && !about.has(word))).toEqual([]);
      for (const [uri] of text.matchAll(/\b(?:docs|schema):\/\/[a-z-]+/g)) {
        expect(resources.map((resource) => resource.uri)).toContain(uri);
      }
    }
  });

  test.each([
    ['an unknown prompt', 'nothing', {}, /Unknown prompt: nothing/],
    ['a prompt without its argument', 'build_workflow', {}, /build_workflow needs goal/],
    ['a prompt with too much', 'explain_run', { run_id: 'x'.repeat(20_001) }, /at most 20000/],
  ])('is refused %s', async (_title, name, args, message) => {
    await expect(client.getPrompt({ name, arguments: args })).rejects.toThrow(message);
  });
});

describe('a model that writes a workflow', () => {
  let client: Client;
  beforeAll(async () => {
    client = await connectMcp(`${engine.url}/api/mcp`);
    // From here on, the client validates results against the output schemas.
    await client.listTools();
  });
  afterAll(() => client.close());

  const wrong = {
    nodes: [
      { id: 'draft', kind: 'agent', promt: 'Answer {ticket}' },
      { id: 'ok', kind: 'human_gate', prompt: 'Send it?' },
    ],
    edges: [{ source: 'draft', target: 'okay' }],
  };

  test('sees for each problem what is there, what must be, and what to read, and corrects it', async () => {
    const made = await use(client, 'create_workflow', { name: 'Written', graph: wrong });
    expect(made).toMatchObject({ status: 'draft', version: 1, graph: wrong });
    const told = await use(client, 'explain_validation', { workflow: made.id });
    expect(told).toMatchObject({ valid: false, more: 0 });
    expect(told.problems).toContainEqual(
      expect.objectContaining({
        severity: 'error',
        message: expect.stringContaining("did you mean 'prompt'"),
        value: expect.anything(),
        schema: 'AgentNode',
        guide: 'docs://agents',
      }),
    );
    expect(told.schemas['AgentNode'].properties).toHaveProperty('prompt');
    const graph = {
      nodes: [
        { id: 'draft', kind: 'agent', prompt: 'Answer {ticket}', model: 'mock' },
        wrong.nodes[1],
      ],
      edges: [{ source: 'draft', target: 'okay' }],
    };
    // Another graph is only looked at.
    const next = await use(client, 'explain_validation', { workflow: 'Written', graph });
    expect(next.problems.find((problem: any) => problem.schema === 'GraphEdge')).toMatchObject({
      severity: 'error',
      guide: 'docs://graphs',
    });
    expect((await use(client, 'get_workflow', { workflow: made.id })).graph).toEqual(wrong);
    const right = { ...graph, edges: [{ source: 'draft', target: 'ok' }] };
    await use(client, 'save_draft', { workflow: made.id, graph: right });
    expect(
      await use(client, 'explain_validation', { workflow: made.id, draft: true }),
    ).toMatchObject({ valid: true });
    expect(await use(client, 'explain_validation', { workflow: made.id })).toMatchObject({
      valid: false,
    });
  });

  test('sees the schema of the part that is wrong, and the names that tools and their parameters have', async () => {
    const node = { id: 'send', kind: 'tool', params: { uri: 'x' } };
    const graph = {
      nodes: [
        { ...node, tool_name: 'http', retry: { attempts: 3 } },
        { ...node, id: 'again', tool_name: 'http_request' },
        { id: 'paid', kind: 'wait', event: 'invoice.paid' },
        { id: 'clerk', kind: 'agent', tools: [{ name: 'send_email', approve: 'always' }] },
      ],
      edges: [{ source: 'send', target: 'clerk', condition_value: 'maybe' }],
    };
    const { id } = await use(client, 'create_workflow', { name: 'Four parts', graph });
    const { problems, schemas } = await use(client, 'explain_validation', { workflow: id });
    const at = (path: string): any => problems.find((problem: any) => problem.path === path);
    for (const [path, schema, key] of [
      ['nodes[0].retry.attempts', 'NodeRetry', 'max_attempts'],
      ['nodes[2].event', 'AwaitedEvent', 'match'],
      ['nodes[3].tools[0].approve', 'AgentTool', 'approval'],
      ['edges[0].condition_value', 'GraphEdge', 'condition_value'],
    ] as const) {
      expect([path, at(path).schema]).toEqual([path, schema]);
      expect(schemas[schema].properties).toHaveProperty(key);
    }
    const { choices, guide } = at('nodes[1].params.uri');
    expect([choices, guide]).toEqual([
      ['url', 'method', 'headers', 'query', 'body'],
      'docs://graphs',
    ]);
    // A node with a wrong key is not looked at further.
    const alone = { nodes: [{ ...node, tool_name: 'http' }], edges: [] };
    const other = await use(client, 'explain_validation', { workflow: id, graph: alone });
    expect(other.problems[0].choices).toContain('http_request');
  });

  test('is shown the first thirty of many problems, and how many follow', async () => {
    const nodes = Array.from({ length: 50 }, (_, at) => ({
      id: `n${at}`,
      kind: 'agent',
      promt: 'x',
    }));
    const { id } = await use(client, 'create_workflow', {
      name: 'Many',
      graph: { nodes, edges: [] },
    });
    const { problems, more, schemas } = await use(client, 'explain_validation', { workflow: id });
    expect(problems).toHaveLength(30);
    expect(more).toBeGreaterThanOrEqual(20);
    expect(Object.keys(schemas)).toEqual(['AgentNode']);
  });

  test('gets a sentence for a workflow without a draft, and for one that there is not', async () => {
    const { id } = await use(client, 'create_workflow', { name: 'Bare' });
    const args = { workflow: id, draft: true };
    expect((await use(client, 'explain_validation', args)).error).toContain('Draft not found');
    expect((await use(client, 'explain_validation', { workflow: 'None' })).error).toContain(
      'not found',
    );
  });
});

import { afterEach, describe, expect, test } from '@jest/globals';
import { slugOf } from '#shared/db/tools/workflow-tools.ts';
import { connectMcp } from '#test/fakes/mcp-client.ts';
import { echo } from '#test/support/engine.ts';
import { useEngineApi } from '#test/api/engine-api.ts';

const { engine, call } = useEngineApi();

afterEach(async () => {
  for (const { id } of (await call('GET', '/api/workflows')).body) await remove(id);
});

const schema = {
  type: 'object',
  properties: { ticket: { type: 'string' }, extra: true },
  required: ['ticket'],
};
const graph = { nodes: [echo('answer', "'re: ' + ticket")], edges: [] };

const add = async (name: string, fields: object = {}): Promise<string> => {
  const body = { name, graph, input_schema: schema, ...fields };
  const { id } = (await call('POST', '/api/workflows', body)).body;
  await call('POST', `/api/workflows/${id}/publish`);
  return id;
};
const rename = (id: string, name: string) => call('PUT', `/api/workflows/${id}`, { name });
const remove = (id: string) => call('DELETE', `/api/workflows/${id}`);
const rpc = async (method: string, params: object = {}) =>
  (await call('POST', '/api/mcp', { jsonrpc: '2.0', id: 1, method, params })).body;
const listed = async (): Promise<any[]> => (await rpc('tools/list')).result.tools;
/** The tools of workflows, without the general one. */
const names = async (): Promise<string[]> =>
  (await listed()).flatMap(({ name }) => (/^run_(?!workflow$)/.test(name) ? [name] : []));
const use = (name: string, args: object = {}) => rpc('tools/call', { name, arguments: args });
const unknown = (name: string) => ({ error: { code: -32602, message: `Unknown tool: ${name}` } });

describe('a published workflow with an input schema', () => {
  test('is a tool with that schema, for clients of the protocol', async () => {
    const id = await add('Answer tickets', { description: 'For the support team.' });
    const client = await connectMcp(`${engine.url}/api/mcp`);
    const tool = (await client.listTools()).tools.find(({ name }) => name === 'run_answer_tickets');
    expect(tool).toMatchObject({
      title: 'Answer tickets',
      description: expect.stringContaining('For the support team.'),
      // Some clients accept no boolean schemas of properties.
      inputSchema: { ...schema, properties: { ...schema.properties, extra: {} } },
      annotations: { readOnlyHint: false },
    });
    const result = await client.callTool({
      name: 'run_answer_tickets',
      arguments: { ticket: 'Hello' },
    });
    expect(result.structuredContent).toMatchObject({
      workflow_id: id,
      trigger: 'mcp',
      status: 'success',
      output: { answer: 're: Hello' },
    });
    await client.close();
  });

  test('shows its fields without a choice at the top, and validates them by its schema', async () => {
    const choices = { anyOf: [{ required: ['ticket'] }, { required: ['Größe'] }] };
    const properties = { ticket: { type: 'string' }, Größe: { type: 'number' } };
    await add('Choose', { input_schema: { type: 'object', properties, ...choices } });
    await add('Nothing', { input_schema: {}, graph: { nodes: [echo('one', '1')], edges: [] } });
    const schemas = new Map((await listed()).map(({ name, inputSchema }) => [name, inputSchema]));
    expect(schemas.get('run_choose')).toEqual({
      type: 'object',
      properties: { ticket: { type: 'string' } },
      description: `Must also fit this JSON Schema: ${JSON.stringify(choices)}\n\nHas these fields, too, by their exact names: {"Größe":{"type":"number"}}`,
    });
    expect(schemas.get('run_nothing')).toEqual({ type: 'object', properties: {} });
    expect((await use('run_choose', {})).result).toEqual(
      refusal('Invalid input: input must fit one of the forms that the schema lists'),
    );
    expect((await use('run_choose', { Größe: 1 })).result).toMatchObject({
      structuredContent: { status: expect.any(String) },
    });
  });

  test('has a schema that clients accept, like all other tools', async () => {
    await add('Answer');
    for (const { name, inputSchema } of await listed()) {
      expect([name, inputSchema.type, typeof inputSchema.properties]).toEqual([
        name,
        'object',
        'object',
      ]);
      for (const key of ['anyOf', 'oneOf', 'allOf', 'not', 'enum', '$ref']) {
        expect([name, inputSchema]).not.toEqual([
          name,
          expect.objectContaining({ [key]: expect.anything() }),
        ]);
      }
    }
  });

  test('is offered while it is published and has a schema, in its current version', async () => {
    const { id } = (await call('POST', '/api/workflows', { name: 'Later', graph })).body;
    expect(await names()).toEqual([]);
    await call('PUT', `/api/workflows/${id}`, { input_schema: schema });
    expect(await names()).toEqual([]);
    await call('POST', `/api/workflows/${id}/publish`);
    expect(await names()).toEqual(['run_later']);
    const stricter = { ...schema, required: ['ticket', 'team'] };
    await call('PUT', `/api/workflows/${id}`, { input_schema: stricter });
    const tool = (await listed()).find(({ name }) => name === 'run_later');
    expect(tool.inputSchema.required).toEqual(['ticket', 'team']);
    expect((await use('run_later', { ticket: 'x' })).result).toEqual(
      refusal('Invalid input: input.team is missing: add it'),
    );
    await call('PUT', `/api/workflows/${id}`, { input_schema: null });
    expect(await names()).toEqual([]);
    expect(await use('run_later', { ticket: 'x' })).toMatchObject(unknown('run_later'));
  });

  test('has a unique name, which it keeps', async () => {
    const first = await add('Send mail');
    const second = await add('Send: mail!');
    const own = `run_send_mail_${second.slice(-8)}`;
    expect(await names()).toEqual(['run_send_mail', own]);
    await remove(first);
    expect(await names()).toEqual([own]);
    expect(await use('run_send_mail', { ticket: 'x' })).toMatchObject(unknown('run_send_mail'));
    // The name of the first is free, for workflows that are offered from now on.
    await add('Send mail');
    expect(await names()).toEqual([own, 'run_send_mail']);
    await rename(second, 'Send letters');
    expect(await use(own, { ticket: 'x' })).toMatchObject(unknown(own));
    expect((await use('run_send_letters', { ticket: 'x' })).result.structuredContent).toMatchObject(
      { workflow_id: second },
    );
  });

  test('never takes the name of another tool', async () => {
    const id = await add('Workflow');
    expect(await names()).toEqual([`run_workflow_${id.slice(-8)}`]);
  });

  test('needs the permission to run workflows', async () => {
    await add('Guarded');
    const key = { name: 'reader', role: 'viewer' };
    const { secret } = (await call('POST', '/api/keys', key)).body;
    const asViewer = async (method: string, params: object) => {
      const message = { jsonrpc: '2.0', id: 1, method, params };
      return (await call('POST', '/api/mcp', message, { 'x-api-key': secret })).body.result;
    };
    const { tools } = await asViewer('tools/list', {});
    expect(tools.map(({ name }: { name: string }) => name)).toContain('run_guarded');
    expect(await asViewer('tools/call', { name: 'run_guarded', arguments: {} })).toEqual(
      refusal("This action requires the 'run_workflows' permission"),
    );
  });

  test('is one of at most 100, the oldest, with at most 500,000 characters of schemas', async () => {
    const large = { type: 'object', description: 'x'.repeat(65_000) };
    const ids = [];
    for (let at = 0; at < 8; at += 1) ids.push(await add(`L${at}`, { input_schema: large }));
    expect(await names()).toEqual([
      'run_l0',
      'run_l1',
      'run_l2',
      'run_l3',
      'run_l4',
      'run_l5',
      'run_l6',
    ]);
    for (const id of ids) await remove(id);
    for (let at = 0; at < 101; at += 1) await add(`S${at}`);
    const offered = await names();
    expect([offered.length, offered[0], offered.at(-1)]).toEqual([100, 'run_s0', 'run_s99']);
    expect(await use('run_s100', { ticket: 'x' })).toMatchObject(unknown('run_s100'));
  }, 60_000);
});

const refusal = (text: string) => ({ content: [{ type: 'text', text }], isError: true });

describe('the part of a name', () => {
  test.each([
    ['Répondre aux tickets', 'repondre_aux_tickets'],
    ['  --A/B: test--  ', 'a_b_test'],
    ['請求書', 'untitled'],
    ['x'.repeat(100), 'x'.repeat(44)],
  ])('for %s is %s', (name, slug) => expect(slugOf(name)).toBe(slug));
});

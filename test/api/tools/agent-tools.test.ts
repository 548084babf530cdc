import { describe, expect, test } from '@jest/globals';
import { resolveTools } from '#activities/agents/tools.ts';
import { type AgentNode, graphNodeSchema } from '#shared/contract/workflows/graph.ts';
import { jsonDigest } from '#shared/crypto/json-digest.ts';
import { useTestApi } from '#test/api/test-api.ts';

const api = useTestApi();

const schema = { type: 'object', properties: { id: {} }, additionalProperties: false };
let made = 0;

/** A tool, and a workflow with an agent that offers it. */
async function offered(tool: object = {}, entry: object = {}) {
  const name = `offered-${(made += 1)}`;
  const body = { name, endpoint_url: 'http://127.0.0.1:9/', input_schema: schema, ...tool };
  const { id } = (await api.call('POST', '/api/tools', body)).body;
  const node = { id: 'a', kind: 'agent', tools: [{ name: `custom:${name}`, ...entry }] };
  const graph = { nodes: [node], edges: [] };
  const workflow = (await api.call('POST', '/api/workflows', { name: 'x', graph })).body.id;
  return {
    name,
    body,
    url: `/api/tools/${id}`,
    report: async () => (await api.call('POST', `/api/workflows/${workflow}/validate`)).body,
    trigger: async () => {
      const { status, body: run } = await api.call('POST', `/api/workflows/${workflow}/runs`, {});
      return [status, run.detail];
    },
  };
}

describe('a workflow whose agent offers a custom tool', () => {
  test('is valid with the schema of the tool', async () => {
    const { report, trigger } = await offered();
    expect(await report()).toEqual({ valid: true, errors: [], warnings: [] });
    expect(await trigger()).toEqual([201, undefined]);
  });

  test('is refused without one, unless the node provides it', async () => {
    const { report, trigger } = await offered({ input_schema: null });
    expect((await report()).errors).toMatchObject([{ code: 'tool_without_schema', node_id: 'a' }]);
    expect(await trigger()).toEqual([400, expect.stringContaining('no schema of its arguments')]);
    const given = await offered({ input_schema: null }, { parameters: schema });
    expect(await given.trigger()).toEqual([201, undefined]);
  });

  test('is refused when a fixed argument is not in the schema', async () => {
    const { report } = await offered({}, { fixed: { ids: 1 } });
    expect((await report()).errors).toMatchObject([
      { code: 'unknown_param', path: 'nodes[0].tools[0].fixed.ids' },
    ]);
  });

  test('is checked again when the tool is deleted, registered again, or gets another schema', async () => {
    const { name, body, url, trigger } = await offered();
    expect(await trigger()).toEqual([201, undefined]);
    await api.call('PUT', url, { input_schema: null });
    expect(await trigger()).toEqual([400, expect.stringContaining('no schema of its arguments')]);
    await api.call('PUT', url, { input_schema: { type: 'object' } });
    expect(await trigger()).toEqual([201, undefined]);
    await api.call('DELETE', url);
    expect(await trigger()).toEqual([
      400,
      `Workflow graph invalid: Node 'a': the custom tool 'custom:${name}' is not registered`,
    ]);
    await api.call('POST', '/api/tools', body);
    expect(await trigger()).toEqual([201, undefined]);
  });
});

describe('the tools that an agent offers', () => {
  const agent = (...tools: string[]) =>
    graphNodeSchema.parse({ id: 'a', kind: 'agent', tools }) as AgentNode;

  test('are resolved with the custom tools of its own workspace as they are now', async () => {
    const { name, url } = await offered({ description: 'First' });
    const node = agent('http_request', `custom:${name}`);
    expect(await resolveTools(api.db, api.workspaceId, node)).toMatchObject([
      { name: 'http_request' },
      { name: `custom:${name}`, description: 'First', schemaDigest: jsonDigest(schema) },
    ]);
    const { body } = await api.call('PUT', url, { description: 'Second', input_schema: {} });
    expect((await resolveTools(api.db, api.workspaceId, node))[1]).toMatchObject({
      description: 'Second',
      schema: { type: 'object' },
    });
    expect(body.schema_digest).toBe(jsonDigest({}));
    await expect(resolveTools(api.db, 'ws_other', node)).rejects.toMatchObject({
      nonRetryable: true,
      message: `Its tools cannot be offered: the custom tool 'custom:${name}' is not registered`,
    });
  });

  test('can be only built-in ones, which take no query', async () => {
    const none = undefined as never;
    expect(await resolveTools(none, '', agent('json_transform'))).toHaveLength(1);
  });
});

import { beforeAll, expect, test } from '@jest/globals';
import type { Client } from '@modelcontextprotocol/client';
import { connectMcp } from '#test/fakes/mcp-client.ts';
import { useTestApi } from '#test/api/test-api.ts';
import { draftCalls, graphOf } from './draft-calls.ts';

const api = useTestApi();
let calls: ReturnType<typeof draftCalls>;
let url: string;
beforeAll(async () => {
  calls = draftCalls(api);
  url = `${await api.app.listen({ host: '127.0.0.1', port: 0 })}/api/mcp`;
});

/** The data of a successful call, or the texts of its error. */
const use = async (client: Client, name: string, args: object): Promise<any> => {
  const result: any = await client.callTool({ name, arguments: { ...args } });
  return result.isError === true
    ? { errors: result.content.map(({ text }: { text: string }) => text) }
    : result.structuredContent;
};

test('a model can save, read, publish and discard a draft by its etag', async () => {
  const client = await connectMcp(url);
  const { id: workflow } = await calls.create();
  const saved = await use(client, 'save_draft', { workflow, graph: graphOf('a') });
  expect(saved).toMatchObject({ base_version: 1, revision: 1, graph: graphOf('a') });
  expect(await use(client, 'get_draft', { workflow })).toEqual(saved);
  expect(await use(client, 'save_draft', { workflow, graph: graphOf('b') })).toEqual({
    errors: [expect.stringContaining('requires the header If-Match')],
  });
  const [detail, current] = (
    await use(client, 'save_draft', { workflow, graph: graphOf('b'), if_match: 'other' })
  ).errors;
  expect(detail).toContain('has changed since you read it');
  expect(JSON.parse(current)).toEqual({ current: saved });
  const args = { workflow, if_match: saved.etag };
  expect(await use(client, 'publish_draft', { ...args, note: 'By a model' })).toMatchObject({
    version: 2,
    status: 'published',
    etag: (await calls.currentOf(workflow)).etag,
  });
  const again = await use(client, 'save_draft', { workflow, graph: graphOf('c') });
  const known = { workflow, if_match: again.etag };
  expect(await use(client, 'discard_draft', known)).toEqual({ discarded: true });
  expect(await use(client, 'get_draft', { workflow })).toEqual({ errors: ['Draft not found'] });
  await client.close();
});

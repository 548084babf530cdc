import { afterEach, beforeEach, describe, expect, test } from '@jest/globals';
import { startMcpServer } from '#test/fakes/mcp-server.ts';
import { type FakeServer, sendJson, startHttpServer } from '#test/fakes/http-server.ts';
import { useTestApi } from '#test/api/test-api.ts';

// A secret belongs to the origin (scheme, host and port) it was given for. A caller who can change a tool cannot read
// its headers, and must not be able to have them sent to another server.

const SECRET = 'Bearer only-for-the-first-origin';

const api = useTestApi({
  ENCRYPTION_KEY: 'a key of this test, long enough',
  EGRESS_ALLOW: '127.0.0.0/8',
});
let given: FakeServer;
let stranger: FakeServer;
beforeEach(async () => {
  given = await startHttpServer((_request, response) => sendJson(response, 200, {}));
  stranger = await startHttpServer((_request, response) => sendJson(response, 200, {}));
});
afterEach(async () => {
  await given.close();
  await stranger.close();
});

let made = 0;
const register = async (fields: object = {}): Promise<string> => {
  const tool = {
    name: `origin-${(made += 1)}`,
    endpoint_url: `${given.url}/run`,
    headers: { Authorization: SECRET, 'X-Key': 'another secret' },
    ...fields,
  };
  return (await api.call('POST', '/api/tools', tool)).body.id;
};
const change = (id: string, fields: object) => api.call('PUT', `/api/tools/${id}`, fields);
const tryOut = (id: string) => api.call('POST', `/api/tools/${id}/test`, {});
const refusal = (names: string, from: string, to: string) =>
  `Invalid body: headers: the values of ${names} were given for ${from}; send them again in full to move ` +
  `endpoint_url to ${to}, or leave them out`;

describe('the headers of a custom tool', () => {
  test.each<[string, object, string]>([
    ['that are not named', {}, 'Authorization, X-Key'],
    ['kept by the mask', { headers: { Authorization: '***' } }, 'Authorization'],
    [
      'of which only one is given again',
      { headers: { Authorization: 'Bearer new', 'x-key': '***' } },
      'x-key',
    ],
    ['with another kind', { kind: 'mcp', mcp_tool: 'add' }, 'Authorization, X-Key'],
  ])('%s are not sent to another origin', async (_how, fields, names) => {
    const id = await register();
    const before = (await api.call('GET', `/api/tools/${id}`)).text;
    const { status, body } = await change(id, { endpoint_url: `${stranger.url}/run`, ...fields });
    expect([status, body.detail]).toEqual([400, refusal(names, given.url, stranger.url)]);
    expect((await api.call('GET', `/api/tools/${id}`)).text).toBe(before);
    await tryOut(id);
    expect(given.seen.map(({ headers }) => headers.authorization)).toEqual([SECRET]);
    expect(stranger.seen).toEqual([]);
  });

  test.each([
    ['scheme', 'https://127.0.0.1:{port}/run'],
    ['host', 'http://127.0.0.2:{port}/run'],
    ['port', 'http://127.0.0.1:9/run'],
  ])('are not sent to another %s', async (_part, url) => {
    const id = await register();
    const endpoint_url = url.replace('{port}', String(given.port));
    expect((await change(id, { endpoint_url })).status).toBe(400);
  });

  test('stay when the URL changes within its origin, in any notation', async () => {
    const id = await register();
    for (const base of [given.url, given.url.replace('http://127.0.0.1', 'HTTP://2130706433')]) {
      expect((await change(id, { endpoint_url: `${base}/other` })).status).toBe(200);
    }
    await tryOut(id);
    expect(given.seen[0]).toMatchObject({ url: '/other', headers: { authorization: SECRET } });
  });

  test('go to a new origin if given again, without the others', async () => {
    const id = await register();
    const headers = { Authorization: 'Bearer for the second origin' };
    const { status, body } = await change(id, { endpoint_url: `${stranger.url}/run`, headers });
    expect([status, body.headers]).toEqual([200, { Authorization: '***' }]);
    await tryOut(id);
    expect(stranger.seen[0]?.headers).toMatchObject({ authorization: headers.Authorization });
    expect(stranger.seen[0]?.headers['x-key']).toBeUndefined();
  });

  test('do not block a URL change if there are none', async () => {
    const id = await register({ headers: {} });
    expect((await change(id, { endpoint_url: `${stranger.url}/run` })).status).toBe(200);
  });

  test('of an MCP server are not sent to another', async () => {
    const mcp = await startMcpServer();
    const id = await register({ kind: 'mcp', mcp_tool: 'add', endpoint_url: `${mcp.url}/mcp` });
    const { status } = await change(id, { endpoint_url: `${stranger.url}/mcp` });
    expect(status).toBe(400);
    await tryOut(id);
    expect(stranger.connections()).toBe(0);
    await mcp.close();
  });

  test('never reach another origin in concurrent changes', async () => {
    for (let round = 0; round < 20; round += 1) {
      const id = await register({ headers: {} });
      // One of the two comes first; either way, the secret only goes to the origin it was given for.
      await Promise.all([
        change(id, { headers: { Authorization: SECRET }, endpoint_url: `${given.url}/a` }),
        change(id, { endpoint_url: `${stranger.url}/b` }),
      ]);
      await tryOut(id);
    }
    expect(stranger.seen.filter(({ headers }) => headers.authorization === SECRET)).toEqual([]);
    expect(given.seen.length + stranger.seen.length).toBe(20);
  });
});

test.each(['https://{host}.example.com/', 'https://%7Bhost%7D/', 'https://x:1@example.com/'])(
  'an endpoint URL with an unsafe host is refused: %s',
  async (endpoint_url) => {
    const { status, body } = await api.call('POST', '/api/tools', { name: 'host', endpoint_url });
    expect([status, body.detail]).toEqual([400, expect.stringContaining('endpoint_url must')]);
  },
);

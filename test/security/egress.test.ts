import { afterAll, beforeAll, describe, expect, test } from '@jest/globals';
import { createEgress } from '#shared/platform/egress/egress.ts';
import { type FakeServer, sendJson, startHttpServer } from '#test/fakes/http-server.ts';
import { startTestApi, type TestApi } from '#test/api/test-api.ts';

// Every feature where a tenant chooses an address, with every spelling of an internal address. A server listens on
// loopback; it must not receive a single connection.

let api: TestApi;
let inside: FakeServer;
beforeAll(async () => {
  api = await startTestApi({ ENCRYPTION_KEY: 'a key of this test, long enough' });
  inside = await startHttpServer((_request, response) => sendJson(response, 200, { secret: 1 }));
});
afterAll(async () => {
  await api.stop();
  await inside.close();
});

/** Hosts that a lenient parser reads as this machine, or a neighbor of it. */
const spellings = [
  '127.0.0.1',
  '127.1',
  '127.0.1',
  '2130706433',
  '0x7f000001',
  '0x7f.0.0.1',
  '0177.0.0.1',
  '017700000001',
  '0x7f.1',
  '127.0.0.1.',
  '0.0.0.0',
  '0',
  'localhost',
  'localhost.',
  'LOCALHOST',
  'a.localhost',
  '127.255.255.254',
  '１２７.０.０.１',
  '①②⑦.⓪.⓪.①',
  '127。0。0。1',
  'ｌｏｃａｌｈｏｓｔ',
  '%31%32%37.0.0.1',
  '[::1]',
  '[::]',
  '[0:0:0:0:0:0:0:1]',
  '[::ffff:127.0.0.1]',
  '[::ffff:7f00:1]',
  '[::127.0.0.1]',
  '[64:ff9b::7f00:1]',
  '[2002:7f00:1::]',
  '[fe80::1]',
  '[fd00::1]',
  '169.254.169.254',
  '[::ffff:a9fe:a9fe]',
  '0xa9fea9fe',
  '2852039166',
  '0251.0376.0251.0376',
  '10.0.0.1',
  '172.16.0.1',
  '192.168.0.1',
  '100.64.0.1',
  '168.63.129.16',
  '255.255.255.255',
];
/** Addresses that are not HTTP addresses, or that contain a user to sign in as. */
const forms = [
  (port: number) => `http://user:pass@127.0.0.1:${port}/`,
  (port: number) => `http://public.example.com@127.0.0.1:${port}/`,
  (port: number) => `http:\\\\127.0.0.1:${port}/`,
  (port: number) => `http:127.0.0.1:${port}`,
  (port: number) => `//127.0.0.1:${port}/`,
  (port: number) => `ws://127.0.0.1:${port}/`,
  () => 'file:///etc/passwd',
  () => 'gopher://127.0.0.1:70/',
  () => 'data:application/json,{}',
  () => 'unix:/var/run/docker.sock',
];

const urls = () => [
  ...spellings.map((host) => `http://${host}:${inside.port}/`),
  ...forms.map((form) => form(inside.port)),
];

let made = 0;
/** Each sends a request to the address, or refuses to store it. Returns the error that the caller gets. */
const senders: Record<string, (url: string) => Promise<string>> = {
  'a custom tool': async (endpoint_url) => {
    const tool = { name: `inside-${(made += 1)}`, endpoint_url };
    const { status, body } = await api.call('POST', '/api/tools', tool);
    if (status === 400) return 'refused';
    const tried = await api.call('POST', `/api/tools/${body.id}/test`, {});
    expect(tried.body).toMatchObject({ ok: false, status: null, result: null });
    return String(tried.body.error);
  },
  'an MCP server': async (endpoint_url) => {
    const tool = { name: `mcp-${(made += 1)}`, endpoint_url, kind: 'mcp', mcp_tool: 'x' };
    const { status, body } = await api.call('POST', '/api/tools', tool);
    if (status === 400) return 'refused';
    const tried = await api.call('POST', `/api/tools/${body.id}/test`, {});
    expect(tried.body).toMatchObject({ ok: false, result: null });
    return String(tried.body.error);
  },
  'an import of tools': async (server_url) => {
    const { status, body } = await api.call('POST', '/api/tools/import', { server_url });
    expect(status).toBe(400);
    return String(body.detail);
  },
  'a webhook endpoint': async (url) => {
    const { status, body } = await api.call('POST', '/api/webhooks', {
      url,
      events: ['ping'],
    });
    if (status === 400) return String(body.detail);
    // A name that does not resolve at that moment is accepted, and checked with every request.
    const egress = createEgress({ allow: [] });
    const error: unknown = await egress.request(url, { timeoutMs: 2_000 }).catch((e: unknown) => e);
    await egress.close();
    expect([url, error]).toEqual([url, expect.objectContaining({ name: 'EgressError' })]);
    return (error as Error).message;
  },
};

describe.each(Object.entries(senders))('%s', (_name, sender) => {
  test('reaches no internal address in any notation', async () => {
    for (const url of urls()) {
      const told = await sender(url);
      // Reveals neither what listens there nor how the name resolves.
      expect(told).not.toMatch(/ECONN|secret|ENOTFOUND|EAI_AGAIN/);
    }
    expect(inside.connections()).toBe(0);
  }, 60_000);
});

describe('a name that resolves to a public address, then to an internal one', () => {
  test('never connects to the internal address', async () => {
    let asked = 0;
    const egress = createEgress({
      allow: [],
      connectTimeoutMs: 500,
      resolve: async () => {
        asked += 1;
        return asked % 2 === 1 ? ['192.0.2.1'] : ['127.0.0.1'];
      },
    });
    for (let round = 0; round < 4; round += 1) {
      await expect(
        egress.request(`http://rebinding.example.com:${inside.port}/`, { timeoutMs: 1_000 }),
      ).rejects.toMatchObject({ name: 'EgressError' });
    }
    expect(asked).toBeGreaterThanOrEqual(4);
    expect(inside.connections()).toBe(0);
    await egress.close();
  });
});

import { afterAll, afterEach, beforeAll, expect, test } from '@jest/globals';
import { clientTokens } from '#shared/platform/calls/oauth.ts';
import { createEgress, type Egress } from '#shared/platform/egress/egress.ts';
import { type FakeServer, sendJson, startHttpServer } from '#test/fakes/http-server.ts';

let server: FakeServer;
let egress: Egress;
beforeAll(async () => {
  server = await startHttpServer((_request, response) =>
    sendJson(response, 200, { access_token: 'a-token-of-this-test', token_type: 'bearer' }),
  );
  egress = createEgress({ allow: ['127.0.0.1'] });
});
afterEach(() => {
  server.seen.length = 0;
});
afterAll(async () => {
  await egress.close();
  await server.close();
});

const request = async (clientAuth: 'basic' | 'post' | 'none', id: string, secret?: string) => {
  await clientTokens(egress, {
    ...{ issuer: null, tokenUrl: `${server.url}/token`, clientAuth, scopes: [] },
    ...{ clientId: id, clientSecret: secret, resource: null },
  });
  const [{ headers, body }] = server.seen as [(typeof server.seen)[number]];
  const given = String(headers['authorization'] ?? '').replace('Basic ', '');
  return { header: atob(given), body: Object.fromEntries(new URLSearchParams(body)) };
};

test.each([
  // Of Notion and of Slack: what most ids and secrets contain is the same for those who do not decode.
  ['463558a3-725e-4f37', 'secret_Ab.9-x', '463558a3-725e-4f37:secret_Ab.9-x'],
  ['2141029472.6912', 'e1b9e11dfcd1', '2141029472.6912:e1b9e11dfcd1'],
  // A colon or a percent sign could not be read otherwise.
  ['a:b', 'p%+/= ä', 'a%3Ab:p%25%2B%2F%3D+%C3%A4'],
])(
  'a client id %s and its secret are in the header as RFC 6749 has them',
  async (id, secret, header) => {
    const sent = await request('basic', id, secret);
    expect(sent).toEqual({ header, body: { grant_type: 'client_credentials' } });
  },
);

test('a client secret is in the body, or nowhere, if the connection says so', async () => {
  expect(await request('post', 'id-1', 's_1')).toEqual({
    header: '',
    body: { grant_type: 'client_credentials', client_id: 'id-1', client_secret: 's_1' },
  });
  server.seen.length = 0;
  expect(await request('none', 'id-1')).toEqual({
    header: '',
    body: { grant_type: 'client_credentials', client_id: 'id-1' },
  });
});

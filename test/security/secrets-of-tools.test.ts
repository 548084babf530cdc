import { afterAll, beforeAll, describe, expect, test } from '@jest/globals';
import { callDigest } from '#shared/crypto/call-digest.ts';
import { createSealer } from '#shared/crypto/sealing.ts';
import { secretPlace } from '#shared/db/secrets/secrets.ts';
import { openSecrets } from '#shared/platform/secrets/open-secrets.ts';
import { startListingServer } from '#test/fakes/listing-server.ts';
import { gives, startSecretWorld, VALUE } from '#test/support/secret-world.ts';

// Secrets in the headers of custom tools and of imports.

let world: Awaited<ReturnType<typeof startSecretWorld>>;
let call: typeof world.call;
beforeAll(async () => {
  world = await startSecretWorld();
  ({ call } = world);
}, 120_000);
afterAll(() => world.close());

const headers = { Authorization: 'Bearer {secrets.CANARY}' };
const importFrom = (server_url: string, fields: object = { headers }) =>
  call('POST', '/api/tools/import', { server_url, ...fields });

describe('an import with a secret in its headers', () => {
  test('sends it to its host only, and redacts what the server repeats', async () => {
    const listing = await startListingServer([
      { name: 'search', description: `With ${VALUE}`, inputSchema: { type: 'object' } },
    ]);
    const server_url = `${listing.url}/mcp`;
    const bearer = { headers: { Authorization: 'Bearer {secrets.IMPORTS}' } };
    const put = (allowed_hosts: string[]) =>
      call('PUT', '/api/secrets/IMPORTS', { value: VALUE, allowed_hosts });
    await put(['api.example.com']);
    const refused = await importFrom(server_url, bearer);
    expect([refused.status, listing.seen.length]).toEqual([400, 0]);
    expect(refused.body.detail).toContain("the secret 'IMPORTS' may not be sent to 127.0.0.1");

    await put([`127.0.0.1:${listing.port}`]);
    const { status, body, text } = await importFrom(server_url, bearer);
    expect([status, body.created[0]?.name]).toEqual([200, 'search']);
    const sent = listing.requests('tools/list').map((seen) => seen.headers['authorization']);
    expect(sent).toEqual([`Bearer ${VALUE}`]);
    const shown = [
      text,
      (await call('GET', '/api/tools')).text,
      (await call('GET', '/api/audit')).text,
    ];
    expect(gives(shown.join('\n'))).toEqual([]);
    await listing.close();
  });

  test.each(['plain', 'base64-1', 'percent', 'json-unicode'])(
    'shows no error that repeats it as %s',
    async (form) => {
      for (const status of ['200', '401', '500']) {
        const answer = await importFrom(`${world.home.url}/echo/${form}/${status}`);
        expect([answer.status, gives(answer.text)]).toEqual([400, []]);
        expect(answer.body.detail).toMatch(/^The tools of this server cannot be listed/);
      }
    },
  );

  test.each([301, 302, 303, 307, 308])(
    'does not send it on after a redirect with %i',
    async (code) => {
      world.away.seen.length = 0;
      const answer = await importFrom(`${world.home.url}/to/${code}?copy=1`);
      expect([answer.status, gives(answer.text)]).toEqual([400, []]);
      expect(world.away.seen).toEqual([]);
    },
  );
});

test('the digest of a call to approve depends on the arguments, not on the secret', async () => {
  const input_schema = { type: 'object', properties: { amount: { type: 'number' } } };
  const tool = { name: 'pay', endpoint_url: `${world.home.url}/pay`, headers, input_schema };
  expect((await call('POST', '/api/tools', tool)).status).toBe(201);
  const made = await world.define({
    nodes: [
      {
        id: 'payer',
        kind: 'agent',
        tools: [{ name: 'custom:pay', approval: 'always' }],
        mock: {
          turns: [
            { calls: [{ tool: 'custom:pay', arguments: { amount: 5 } }] },
            { output: 'Paid' },
          ],
        },
      },
    ],
    edges: [],
  });
  const started = await call('POST', `/api/workflows/${made.body.id}/runs`, {});
  expect([started.status, started.body.detail]).toEqual([201, undefined]);
  const runId: string = started.body.id;
  await world.engine.until(runId, ['paused']);
  const shown = await call('GET', `/api/runs/${runId}`);
  const { step_key, tool_call: asked } = shown.body.pending_gate;
  const { tool: name, schema_digest, tool_digest, arguments: args, digest } = asked;
  expect(digest).toBe(
    callDigest({
      run_id: runId,
      step_key,
      tool: name,
      schema_digest,
      tool_digest,
      arguments: args,
    }),
  );
  expect(gives([shown.text, (await call('GET', '/api/approvals')).text].join('\n'))).toEqual([]);

  // Another value is no reason to ask again; the call sends what the secret is then.
  const allowed_hosts = [`127.0.0.1:${world.home.port}`];
  await call('PUT', '/api/secrets/CANARY', { value: 'renewed-value-of-it', allowed_hosts });
  expect((await call('GET', `/api/runs/${runId}`)).body.pending_gate.tool_call.digest).toBe(digest);
  const approved = await call('POST', `/api/runs/${runId}/approve`, { approved: true, digest });
  expect(approved.status).toBe(200);
  await world.engine.until(runId, ['success']);
  const paid = world.home.seen.filter(({ url }) => url === '/pay');
  expect(paid.map((seen) => seen.headers['authorization'])).toEqual(['Bearer renewed-value-of-it']);
  await call('PUT', '/api/secrets/CANARY', { value: VALUE, allowed_hosts });
});

describe('a redirect from https to http', () => {
  const sealer = createSealer({ encryptionKey: 'the key of this test, long enough' });
  const place = { workspaceId: 'ws', name: 'CANARY' };
  // Port 80 is allowed as well.
  const hosts = ['api.example.com'];
  const sealed = new Map([
    ['CANARY', { ...place, hosts, sealed: sealer!.seal(VALUE, secretPlace(place)) }],
  ]);
  const { check } = openSecrets(sealer, { sealed, addresses: new Map() }, ['CANARY']);
  const from = new URL('https://api.example.com/');
  const to = (text: string) => new URL(text);

  test.each([
    [
      'in a header',
      { url: to('http://api.example.com/'), headers: { 'X-Key': VALUE }, body: undefined },
    ],
    [
      'in the body',
      { url: to('http://api.example.com/'), headers: {}, body: `{"key": "${VALUE}"}` },
    ],
    [
      'in the query',
      {
        url: to(`http://api.example.com/?k=${encodeURIComponent(VALUE)}`),
        headers: {},
        body: undefined,
      },
    ],
  ])('is refused with the value %s, even to the same host', (_place, message) => {
    expect(() => check(message, from)).toThrow(
      "'api.example.com' redirects to where the secret 'CANARY' may not be sent",
    );
    const secure = { ...message, url: to(message.url.href.replace('http:', 'https:')) };
    expect(() => check(secure, from)).not.toThrow();
  });

  test('is followed without the value', () => {
    const plain = { url: to('http://api.example.com/'), headers: {}, body: undefined };
    expect(() => check(plain, from)).not.toThrow();
  });
});

import { readFileSync } from 'node:fs';
import { join } from 'node:path';
import { afterAll, beforeAll, describe, expect, test } from '@jest/globals';
import { coversOtherOwners } from '#shared/platform/secrets/public-suffix.ts';
import { connectionPresets } from '#shared/contract/connections/presets.ts';
import { useTestApi } from '#test/api/test-api.ts';
import {
  type AuthorizationServer,
  CLIENT,
  startAuthorizationServer,
} from '#test/fakes/authorization-server.ts';

const api = useTestApi({
  ENCRYPTION_KEY: 'a key of this test, long enough',
  EGRESS_ALLOW: '127.0.0.0/8',
  PUBLIC_URL: 'http://ops.test',
});

const guide = readFileSync(join(import.meta.dirname, '../../../docs/connections.md'), 'utf8');

let server: AuthorizationServer;
beforeAll(async () => {
  server = await startAuthorizationServer({
    redirectUris: ['http://ops.test/api/connections/callback'],
  });
});
afterAll(() => server.close());

let number = 0;
const input = (change: object = {}) => ({
  name: `C${(number += 1)}`,
  authorization_url: 'https://login.example.com/authorize',
  token_url: 'https://login.example.com/token',
  ...CLIENT,
  scopes: ['read'],
  allowed_hosts: ['api.example.com'],
  ...change,
});
const create = (change: object = {}) => api.call('POST', '/api/connections', input(change));

describe('connections', () => {
  test('are created, read, changed and deleted, without their secrets', async () => {
    const created = await create({ name: 'CRM', authorization_params: { access_type: 'offline' } });
    expect([created.status, created.headers['location']]).toEqual([
      201,
      `/api/connections/${created.body.id}`,
    ]);
    expect(created.body).toEqual({
      id: expect.stringMatching(/^con_/),
      name: 'CRM',
      preset: null,
      grant: 'authorization_code',
      owner: 'workspace',
      issuer: null,
      authorization_url: 'https://login.example.com/authorize',
      token_url: 'https://login.example.com/token',
      callback_url: `http://ops.test/api/connections/callback/${created.body.id}`,
      client_id: CLIENT.client_id,
      client_auth: 'basic',
      resource: null,
      scopes: ['read'],
      authorization_params: { access_type: 'offline' },
      allowed_hosts: ['api.example.com'],
      status: 'not_signed_in',
      signed_in_by: null,
      expires_at: null,
      last_used_at: null,
      created_at: expect.any(String),
      updated_at: expect.any(String),
      etag: expect.any(String),
    });
    const path = `/api/connections/${created.body.id}`;
    expect((await api.call('GET', path)).body).toEqual(created.body);
    expect((await api.call('GET', '/api/connections')).body).toEqual([created.body]);
    const changed = await api.call('PUT', path, { scopes: ['read', 'write'] });
    expect([changed.status, changed.body.scopes]).toEqual([200, ['read', 'write']]);
    const stale = { 'if-match': `"${created.body.etag}"` };
    expect((await api.call('PUT', path, { scopes: [] }, stale)).status).toBe(412);
    expect((await api.call('DELETE', path, undefined, stale)).status).toBe(412);
    expect((await api.call('DELETE', path)).status).toBe(204);
    expect((await api.call('GET', path)).body.detail).toBe('Connection not found');
    const { logs } = (await api.call('GET', '/api/audit?target_type=connection')).body;
    expect(logs.map(({ action }: { action: string }) => action)).toEqual([
      'delete',
      'update',
      'create',
    ]);
    expect(JSON.stringify([created.body, logs])).not.toContain(CLIENT.client_secret);
  });

  test('have one name in a workspace', async () => {
    await create({ name: 'TWICE' });
    const again = await create({ name: 'TWICE' });
    expect([again.status, again.body.detail]).toEqual([
      409,
      "A connection named 'TWICE' already exists",
    ]);
  });

  test.each(connectionPresets.map(({ id }) => id))(
    'take the rest from the preset %s',
    async (id) => {
      const preset = connectionPresets.find((each) => each.id === id)!;
      const { name, client_id, client_secret } = input();
      const { body } = await api.call('POST', '/api/connections', {
        ...{ name, client_id, client_secret },
        preset: id,
      });
      expect(body).toMatchObject({
        authorization_url: preset.authorization_url,
        token_url: preset.token_url,
        client_auth: preset.client_auth,
        scopes: preset.scopes,
        allowed_hosts: preset.allowed_hosts,
      });
      expect(preset.allowed_hosts.filter(coversOtherOwners)).toEqual([]);
      const { body: presets } = await api.call('GET', '/api/connection-presets');
      expect(presets).toContainEqual({ scope_separator: ' ', ...preset });
    },
  );

  // What the documentation of each service says, so that a change here begins with reading it.
  test.each<[id: string, source: string, facts: object]>([
    [
      'atlassian',
      'https://developer.atlassian.com/cloud/jira/platform/oauth-2-3lo-apps/',
      { authorization_params: { audience: 'api.atlassian.com', prompt: 'consent' } },
    ],
    [
      'github',
      'https://docs.github.com/en/apps/oauth-apps/building-oauth-apps/authorizing-oauth-apps',
      { client_auth: 'post', authorization_params: {} },
    ],
    [
      'google',
      'https://developers.google.com/identity/protocols/oauth2/web-server',
      { authorization_params: { access_type: 'offline', prompt: 'consent' } },
    ],
    [
      'hubspot',
      'https://developers.hubspot.com/docs/api-reference/latest/authentication/manage-oauth-tokens',
      { client_auth: 'post', token_url: 'https://api.hubapi.com/oauth/2026-03/token' },
    ],
    [
      'linear',
      'https://linear.app/developers/oauth-2-0-authentication',
      { scope_separator: ',', token_url: 'https://api.linear.app/oauth/token' },
    ],
    [
      'microsoft',
      'https://learn.microsoft.com/en-us/entra/identity-platform/v2-oauth2-auth-code-flow',
      { scopes: expect.arrayContaining(['offline_access']) },
    ],
    [
      'notion',
      'https://developers.notion.com/guides/authorization/overview',
      { client_auth: 'basic', authorization_params: { owner: 'user' }, scopes: [] },
    ],
    [
      'salesforce',
      'https://help.salesforce.com/s/articleView?id=xcloud.remoteaccess_oauth_web_server_flow.htm',
      { scopes: expect.arrayContaining(['refresh_token']) },
    ],
    [
      'slack',
      'https://docs.slack.dev/reference/methods/oauth.v2.access',
      { client_auth: 'basic', scope_separator: ',' },
    ],
    [
      'stripe',
      'https://docs.stripe.com/connect/oauth-standard-accounts',
      { client_auth: 'post', token_url: 'https://connect.stripe.com/oauth/token' },
    ],
  ])('of the preset %s are as %s says, which the document links', (id, source, facts) => {
    const preset = connectionPresets.find((each) => each.id === id)!;
    expect(preset).toMatchObject(facts);
    const row = guide.split('\n').find((line) => line.includes(`](${source})`));
    expect(row).toMatch(new RegExp(`^\\| \\[${preset.label}\\]`));
    expect(connectionPresets).toHaveLength(10);
  });

  test('find the addresses of an issuer, and share a callback if it names itself', async () => {
    const { name, client_id, client_secret, allowed_hosts } = input();
    const made = await api.call('POST', '/api/connections', {
      ...{ name, client_id, client_secret, allowed_hosts },
      issuer: server.issuer,
    });
    expect(made.body).toMatchObject({
      issuer: server.issuer,
      authorization_url: `${server.issuer}/auth`,
      token_url: `${server.issuer}/token`,
      callback_url: 'http://ops.test/api/connections/callback',
    });
  });

  test.each<[string, object, string]>([
    ['no token_url', { token_url: undefined }, 'token_url is required'],
    ['no authorization_url', { authorization_url: undefined }, 'authorization_url is required'],
    ['no hosts', { allowed_hosts: undefined }, 'allowed_hosts is required'],
    ['hosts of many', { allowed_hosts: ['*.co.uk'] }, 'covers the domains of many owners'],
    ['an address without TLS', { token_url: 'http://login.example.com/token' }, 'https://'],
    ['an address in the network', { token_url: 'https://10.0.0.1/token' }, 'not allowed'],
    ['a user in an address', { token_url: 'https://a:b@login.example.com/' }, 'https://'],
    ['a script as an address', { authorization_url: 'javascript:alert(1)' }, 'https://'],
    ['a parameter of its own', { authorization_params: { State: 'x' } }, "must not have 'State'"],
    ['a name in lower case', { name: 'crm' }, 'capital letter'],
    ['no secret', { client_secret: undefined, client_auth: 'post' }, 'client_secret is required'],
    ['a secret of a public client', { client_auth: 'none' }, 'has none'],
    [
      "a member's own token of a program",
      { grant: 'client_credentials', owner: 'member', authorization_url: undefined },
      'belongs to the workspace',
    ],
    ['another address than the issuer', { issuer: 'SERVER' }, 'names other addresses'],
    ['an issuer that does not exist', { issuer: 'https://127.0.0.1:1' }, 'cannot be used'],
    ['a space in a scope', { scopes: ['a b'] }, 'one scope'],
  ])('are refused with %s', async (_what, change, problem) => {
    const given = JSON.parse(JSON.stringify(change).replace('SERVER', server.issuer));
    const removed = Object.fromEntries(
      Object.entries(change).filter(([, value]) => value === undefined),
    );
    const made = await create({ ...given, ...removed });
    expect([made.status, made.body.detail]).toEqual([400, expect.stringContaining(problem)]);
    expect(made.text).not.toContain(CLIENT.client_secret);
  });
});

describe('a change that leads elsewhere', () => {
  test.each<[string, object]>([
    ['another token_url', { token_url: 'https://evil.example.com/token' }],
    ['another authorization_url', { authorization_url: 'https://evil.example.com/' }],
    ['another client', { client_id: 'other' }],
    ['another way to send the secret', { client_auth: 'post' }],
    ['a further host', { allowed_hosts: ['api.example.com', 'evil.example.com'] }],
  ])('needs the client secret again: %s', async (_what, change) => {
    const { body } = await create();
    const path = `/api/connections/${body.id}`;
    const refused = await api.call('PUT', path, change);
    expect([refused.status, refused.body.detail]).toEqual([
      400,
      expect.stringContaining('client_secret: send it again'),
    ]);
    const { client_secret } = CLIENT;
    expect((await api.call('PUT', path, { ...change, client_secret })).status).toBe(200);
  });

  test('does not need it for fewer hosts, and loses the issuer with its addresses', async () => {
    const { name, client_id, client_secret } = input();
    const { body } = await api.call('POST', '/api/connections', {
      ...{ name, client_id, client_secret },
      allowed_hosts: ['a.example.com', 'b.example.com'],
      issuer: server.issuer,
    });
    const path = `/api/connections/${body.id}`;
    expect((await api.call('PUT', path, { allowed_hosts: ['a.example.com'] })).status).toBe(200);
    const moved = await api.call('PUT', path, {
      token_url: 'https://login.example.com/token',
      client_secret,
    });
    expect(moved.body).toMatchObject({
      issuer: null,
      callback_url: expect.stringContaining(body.id),
    });
  });
});

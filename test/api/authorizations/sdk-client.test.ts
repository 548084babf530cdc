import { describe, expect, test } from '@jest/globals';
import { UnauthorizedError } from '@modelcontextprotocol/client';
import { sql } from '#shared/db/pool.ts';
import { connectWith, createProvider, signInWith } from '#test/fakes/oauth-client.ts';
import { echo } from '#test/support/engine.ts';
import { bearer, useAuthorizations } from './authorization-stage.ts';

const stage = useAuthorizations();

const structured = (result: { structuredContent?: unknown }): any => result.structuredContent;

/** Ends the access tokens of everyone, as an hour does. */
const expireAccess = () =>
  stage.engine.db.query(sql.unsafe`
    UPDATE authorization_tokens SET expires_at = now() WHERE kind = 'access'`);

describe("the SDK's client", () => {
  test('finds the server, registers, signs in, calls tools, refreshes, and is revoked', async () => {
    const person = await stage.person('editor');
    const workflow = await stage.engine.define({ nodes: [echo('answer')], edges: [] }, 'Answers');
    const provider = createProvider();
    const signedIn = await signInWith(stage.mcpUrl, provider, (page) => stage.allow(page, person));
    expect(signedIn.page.origin + signedIn.page.pathname).toBe(`${stage.apiUrl}/authorize`);
    expect(signedIn.callback.searchParams.get('state')).toBe('state & more');
    expect(signedIn.callback.searchParams.get('iss')).toBe(stage.apiUrl);

    const started = await signedIn.client.callTool({
      name: 'run_workflow',
      arguments: { workflow, wait_seconds: 25 },
    });
    expect(structured(started)).toMatchObject({ status: 'success', trigger: 'mcp' });

    const before = provider.stored.tokens;
    await expireAccess();
    const again = await signedIn.client.callTool({ name: 'get_usage', arguments: {} });
    expect(again.isError).not.toBe(true);
    expect(provider.stored.tokens?.access_token).not.toBe(before?.access_token);
    expect(provider.stored.tokens?.refresh_token).not.toBe(before?.refresh_token);

    const [authorization] = (
      await stage.send('GET', '/api/authorizations', undefined, person.session)
    ).body;
    expect(authorization).toMatchObject({
      client_name: 'Test client',
      client_verified: false,
      member_id: person.id,
      scopes: ['view', 'run', 'edit'],
    });
    await stage.send(
      'DELETE',
      `/api/authorizations/${authorization.id}`,
      undefined,
      person.session,
    );
    await expect(
      signedIn.client.callTool({ name: 'get_usage', arguments: {} }),
    ).rejects.toBeInstanceOf(UnauthorizedError);
  });

  test('continues with stored tokens in another process', async () => {
    const person = await stage.person('viewer');
    const provider = createProvider();
    await signInWith(stage.mcpUrl, provider, (page) => stage.allow(page, person));
    const client = await connectWith(stage.mcpUrl, provider);
    expect((await client.listTools()).tools.length).toBeGreaterThan(10);
  });
});

test('a 401 leads to the metadata of the resource and of its server', async () => {
  const refused = await stage.send('POST', '/api/mcp', {
    jsonrpc: '2.0',
    id: 1,
    method: 'tools/list',
  });
  expect(refused.status).toBe(401);
  const challenge = refused.headers.get('www-authenticate') ?? '';
  const [, url = ''] = /resource_metadata="([^"]+)"/.exec(challenge) ?? [];
  expect(url).toBe(`${stage.apiUrl}/.well-known/oauth-protected-resource/api/mcp`);
  expect(challenge).not.toContain('error=');
  const resource = (await stage.send('GET', url)).body;
  expect(resource).toMatchObject({
    resource: stage.mcpUrl,
    authorization_servers: [stage.apiUrl],
    scopes_supported: ['view', 'run', 'edit'],
  });
  expect((await stage.send('GET', '/.well-known/oauth-protected-resource')).body).toEqual(resource);
  const server = (await stage.send('GET', '/.well-known/oauth-authorization-server')).body;
  expect(server).toMatchObject({
    issuer: stage.apiUrl,
    code_challenge_methods_supported: ['S256'],
    token_endpoint_auth_methods_supported: ['none'],
    authorization_response_iss_parameter_supported: true,
  });
  const wrong = await stage.send('GET', '/api/mcp', undefined, bearer('mcpa_unknown'));
  expect(wrong.status).toBe(401);
  expect(wrong.headers.get('www-authenticate')).toContain('error="invalid_token"');
});

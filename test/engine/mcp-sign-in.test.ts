import { afterAll, afterEach, beforeAll, describe, expect, test } from '@jest/globals';
import { sql } from '#shared/db/pool.ts';
import { useEngineApi } from '#test/api/engine-api.ts';
import {
  type AuthorizationServer,
  cookieOf,
  startAuthorizationServer,
} from '#test/fakes/authorization-server.ts';
import { sendJson, startHttpServer } from '#test/fakes/http-server.ts';
import { connectMcp } from '#test/fakes/mcp-client.ts';
import {
  type ProtectedMcpServer,
  startProtectedMcpServer,
} from '#test/fakes/protected-mcp-server.ts';
import { CONNECTION_ENV } from '#test/support/connection-world.ts';

const { engine, call } = useEngineApi({ env: CONNECTION_ENV });

let server: AuthorizationServer;
let tools: ProtectedMcpServer;
beforeAll(async () => {
  server = await startAuthorizationServer({ redirectUris: [], isOfMcp: true });
  tools = await startProtectedMcpServer(server);
});
afterEach(() => tools.reset());
afterAll(() => Promise.all([server.close(), tools.close()]));

let number = 0;
const nextName = () => `M${(number += 1)}`;
const list = (change: object = {}) =>
  call('POST', '/api/tools/import', { server_url: tools.address, ...change });
const as = (name: string) => ({ auth: { connection: name } });
async function connect(name = nextName(), change: object = {}) {
  const body = { name, mcp_server_url: tools.address, ...change };
  const made = await call('POST', '/api/connections', body);
  if (made.status !== 201) throw new Error(made.text);
  return { name, id: made.body.id as string };
}
async function signIn(id: string): Promise<string> {
  const begun = await call('POST', `/api/connections/${id}/authorize`);
  const { pathname, search } = new URL(await server.authorize(begun.body.authorization_url));
  const cookie = cookieOf(begun);
  const ended = await call('GET', `${pathname}${search}`, undefined, { cookie });
  return String(ended.headers['location']);
}
async function signedIn() {
  const made = await connect();
  expect(await signIn(made.id)).toContain('result=connected');
  return made;
}
/** A workflow with one call of the tool `add`, imported with this connection. */
async function workflowWith(name: string): Promise<string> {
  const imported = await list({ ...as(name), names: ['add'], prefix: `${name.toLowerCase()}_` });
  if (imported.status !== 200) throw new Error(imported.text);
  const tool_name = `custom:${name.toLowerCase()}_add`;
  const node = { id: 'add', kind: 'tool' as const, tool_name, params: { a: 2, b: 3 } };
  return engine.define({ nodes: [{ ...node, retry: { max_attempts: 1 } }], edges: [] });
}
const expire = (id: string) =>
  engine.db.query(sql.unsafe`
    UPDATE connection_tokens SET expires_at = now() - interval '1 s', refresh_at = now() - interval '1 s'
    WHERE connection_id = ${id}`);
const page = (query: Record<string, string>) =>
  `http://ops.test/connections?${new URLSearchParams(query).toString()}`;

describe('an MCP server that requires sign-in', () => {
  test('is imported and called after a sign-in, with tokens for it only, until they are revoked', async () => {
    const refused = await list();
    expect([refused.status, refused.body]).toEqual([
      400,
      {
        detail: expect.stringContaining('it requires sign-in. Create a connection for it at http'),
        needs_sign_in: {
          resource: tools.address,
          issuer: server.issuer,
          scopes: ['tools:read', 'tools:call'],
          connection: null,
          url: page({ mcp_server: tools.address }),
        },
      },
    ]);
    const { name, id } = await connect('TOOLS');
    const known = await list();
    const needed = { connection: { id, name }, url: page({ connection: id }) };
    expect(known.body.needs_sign_in).toMatchObject(needed);
    const early = await list(as(name));
    expect(early.body).toMatchObject({
      detail: expect.stringContaining(`Sign in to the connection 'TOOLS' at ${needed.url}`),
      needs_sign_in: { resource: tools.address, issuer: server.issuer, ...needed },
    });
    expect(await signIn(id)).toContain('result=connected');
    const unused = await list();
    expect(unused.body.detail).toContain("Import with the connection 'TOOLS'");

    const workflow = await workflowWith(name);
    const [tool] = (await call('GET', '/api/tools')).body;
    expect(tool).toMatchObject({ auth: { connection: name, as: 'bearer' }, pinned: true });
    const first = await engine.ended(await engine.trigger(workflow));
    expect([first.error, first.output]).toEqual([null, { add: { sum: 5 } }]);
    const token = tools.tokens().at(-1)!;
    expect(await server.accepts(token, tools.address)).toBe(true);
    expect(JSON.stringify(await call('GET', `/api/runs/${first.id}`))).not.toContain(token);

    await expire(id);
    const second = await engine.ended(await engine.trigger(workflow));
    expect([second.error, tools.tokens().at(-1) === token]).toEqual([null, false]);
    expect(server.granted.map(({ grant }) => grant)).toEqual(
      expect.arrayContaining(['authorization_code', 'refresh_token']),
    );
    expect(server.resources).toEqual(server.granted.map(() => tools.address));

    await server.revokeAll();
    const runId = await engine.trigger(workflow);
    const failed = await engine.until(runId, ['failed']);
    expect(failed.error).toContain("Sign in to the connection 'TOOLS' again");
    const { body } = await call('GET', `/api/runs/${runId}`);
    expect(body.steps[0].error_kind).toBe('connection');
    const again = await list(as(name));
    expect(again.body.needs_sign_in).toMatchObject(needed);
    expect(await signIn(id)).toContain('result=connected');
    await engine.resume(runId);
    expect((await engine.ended(runId)).status).toBe('success');
  });

  test('gets a new token in the middle of a run when it no longer accepts the present one', async () => {
    const { name } = await signedIn();
    const workflow = await workflowWith(name);
    await server.endAccess();
    const since = server.granted.length;
    expect((await engine.ended(await engine.trigger(workflow))).error).toBeNull();
    expect(server.granted.slice(since).map(({ grant }) => grant)).toEqual(['refresh_token']);
  });

  test('says in the test of a tool what is needed', async () => {
    const { name, id } = await signedIn();
    await workflowWith(name);
    const { body: all } = await call('GET', '/api/tools');
    const tool = all.find(
      (each: { auth: { connection: string } }) => each.auth.connection === name,
    );
    const run = () => call('POST', `/api/tools/${tool.id}/test`, { arguments: { a: 1, b: 1 } });
    expect((await run()).body).toMatchObject({ ok: true, needs_sign_in: null });
    await call('POST', `/api/connections/${id}/disconnect`);
    expect((await run()).body).toMatchObject({
      ok: false,
      error: `Sign in to the connection '${name}' at ${page({ connection: id })}`,
      needs_sign_in: { connection: { id, name } },
    });
    const moved = { endpoint_url: 'https://tools.example.com/mcp' };
    const refused = await call('PUT', `/api/tools/${tool.id}`, moved);
    expect([refused.status, refused.body.detail]).toEqual([
      400,
      expect.stringContaining(`the connection '${name}' may not be sent to tools.example.com`),
    ]);
    const freed = await call('PUT', `/api/tools/${tool.id}`, { auth: null });
    expect(freed.body.auth).toBeNull();
    const back = { auth: { connection: name } };
    expect((await call('PUT', `/api/tools/${tool.id}`, back)).body.auth).toEqual({
      connection: name,
      as: 'bearer',
    });
  });

  test('names the scopes that a sign-in lacks', async () => {
    const { name } = await signedIn();
    const workflow = await workflowWith(name);
    tools.says.first = ({ url }, response) => {
      if (url !== '/mcp') return false;
      const challenge = 'Bearer error="insufficient_scope", scope="files:read files:write"';
      response.writeHead(403, { 'www-authenticate': challenge }).end();
      return true;
    };
    const run = await engine.ended(await engine.trigger(workflow));
    expect(run.error).toContain(
      "answered 403: the sign-in lacks the scopes 'files:read', 'files:write'; add them to the connection, and sign in again",
    );
    expect((await list(as(name))).body).toEqual({
      detail: expect.stringContaining("lacks the scopes 'files:read', 'files:write'"),
    });
  });

  test('says over MCP where a person signs in', async () => {
    const client = await connectMcp(`${engine.url}/api/mcp`);
    const refused = await client.callTool({
      name: 'import_tools',
      arguments: { server_url: tools.address },
    });
    const texts = (refused.content as { text: string }[]).map(({ text }) => text);
    expect([refused.isError, texts[0]]).toEqual([
      true,
      expect.stringContaining('requires sign-in'),
    ]);
    expect(JSON.parse(texts[1]!).needs_sign_in).toMatchObject({ issuer: server.issuer });
    await client.close();
  });
});

describe('a server', () => {
  test('that only answers 401 is refused as before', async () => {
    const plain = await startHttpServer((_request, response) => sendJson(response, 401, {}));
    const refused = await list({ server_url: `${plain.url}/mcp` });
    expect(refused.body).toEqual({
      detail: `The tools of this server cannot be listed. 127.0.0.1:${plain.port} answered 401`,
    });
    await plain.close();
  });

  test('with metadata of another resource is refused with the reason', async () => {
    tools.says.metadata = { ...tools.says.metadata, resource: 'https://other.example.com/mcp' };
    const { body } = await list();
    expect(body).toEqual({ detail: expect.stringContaining('it is about another resource') });
  });

  test('that moves to another authorization server gets no token from it, and sends none there', async () => {
    const { name, id } = await signedIn();
    const workflow = await workflowWith(name);
    const evil = await startHttpServer((_request, response) =>
      sendJson(response, 200, { access_token: 'token-of-evil', token_type: 'bearer' }),
    );
    tools.says.metadata = { ...tools.says.metadata, authorization_servers: [evil.url] };
    await server.endAccess();
    const since = server.granted.length;
    expect((await engine.ended(await engine.trigger(workflow))).error).toBeNull();
    expect([server.granted.length - since, evil.seen]).toEqual([1, []]);
    // The connection is not one for the new authorization server.
    const { needs_sign_in: needed } = (await list()).body;
    expect(needed).toMatchObject({ issuer: evil.url, connection: null });
    const { body } = await call('GET', `/api/connections/${id}`);
    expect([body.issuer, evil.seen]).toEqual([server.issuer, []]);
    await evil.close();
  });
});

test.each<[string, object, string]>([
  ['a place in the query', { auth: { connection: 'TOOLS', as: 'query:key' } }, 'must be a header'],
  [
    'the same header twice',
    { auth: { connection: 'TOOLS' }, headers: { authorization: 'Bearer x' } },
    'auth sets this header',
  ],
  ['an unknown connection', { auth: { connection: 'NOTHING' } }, 'there is no connection'],
])('an import with %s is refused', async (_what, change, detail) => {
  const refused = await list(change);
  expect([refused.status, refused.body.detail]).toEqual([400, expect.stringContaining(detail)]);
});

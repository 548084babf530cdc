import { afterAll, beforeAll, describe, expect, test } from '@jest/globals';
import { sql } from '#shared/db/pool.ts';
import { edge, eventually } from '#test/support/engine.ts';
import { useEngineApi } from '#test/api/engine-api.ts';
import {
  CONNECTION_ENV,
  type ConnectionWorld,
  startConnectionWorld,
  withToken,
} from '#test/support/connection-world.ts';
import { addMember, type Person } from '#test/support/people.ts';

// Each member has an account of their own, which only their own runs use.

const { engine, call } = useEngineApi({ env: CONNECTION_ENV });

let world: ConnectionWorld;
let ann: Person;
let bob: Person;
let viewer: Person;
let id: string;
let workflow: string;
const NAME = 'MAIL';
beforeAll(async () => {
  world = await startConnectionWorld(call);
  ann = await addMember({ call }, { role: 'editor', name: 'Ann' });
  bob = await addMember({ call }, { role: 'editor', name: 'Bob' });
  viewer = await addMember({ call }, { role: 'viewer', name: 'Vi' });
  id = await world.connect(NAME, { owner: 'member' });
  workflow = await engine.define({ nodes: [withToken(NAME, `${world.target.url}/me`)], edges: [] });
  expect(await world.signIn(id, ann.headers)).toContain('result=connected');
  expect(await world.signIn(id, bob.headers)).toContain('result=connected');
}, 60_000);
afterAll(() => world.close());

/** The token that a run has sent; undefined if it failed, with its error. */
async function sentBy(runId: string): Promise<{ token: string | undefined; error: string | null }> {
  const before = world.tokens().length;
  const { error } = await engine.ended(runId);
  return { token: world.tokens()[before], error };
}
async function start(
  headers?: Record<string, string>,
  workflowId = workflow,
): Promise<{ token: string | undefined; error: string | null }> {
  const started = await call('POST', `/api/workflows/${workflowId}/runs`, {}, headers);
  expect(started.status).toBe(201);
  return sentBy(started.body.id);
}
const statusFor = async (headers?: Record<string, string>) =>
  (await call('GET', `/api/connections/${id}`, undefined, headers)).body.status;

describe('a connection that members own', () => {
  test('uses the account of the member who started the run', async () => {
    const [first, second] = [await start(ann.headers), await start(bob.headers)];
    expect([first.error, second.error]).toEqual([null, null]);
    expect(first.token).not.toBe(second.token);
    expect((await start(ann.headers)).token).toBe(first.token);
  });

  test('waits for a member who has not signed in, and shows each their own status', async () => {
    const started = await call('POST', `/api/workflows/${workflow}/runs`, {});
    await eventually(async () => {
      const { waiting } = (await call('GET', `/api/runs/${started.body.id}`)).body;
      return waiting[0]?.connection?.id === id;
    });
    await engine.cancel(started.body.id);
    expect([await statusFor(), await statusFor(ann.headers)]).toEqual([
      'not_signed_in',
      'connected',
    ]);
  });

  test('uses the account of the forker in a fork, and of the starter after a resume', async () => {
    const first = (await start(ann.headers)).token;
    const runs = await call('GET', `/api/runs?workflow_id=${workflow}&limit=1`);
    const source = runs.body.runs[0].id;
    const fork = await call('POST', `/api/runs/${source}/fork`, { from_step: 'ask' }, bob.headers);
    expect(fork.status).toBe(201);
    const forked = await sentBy(fork.body.id);
    expect([forked.error, forked.token === first]).toEqual([null, false]);

    const cut = await engine.define({
      nodes: [withToken(NAME, `${world.target.url}/me`)],
      edges: [],
    });
    await call('POST', `/api/connections/${id}/disconnect`, undefined, ann.headers);
    const started = await call('POST', `/api/workflows/${cut}/runs`, {}, ann.headers);
    await eventually(async () => {
      const { waiting } = (await call('GET', `/api/runs/${started.body.id}`)).body;
      return waiting.length === 1;
    });
    await engine.cancel(started.body.id);
    await engine.until(started.body.id, ['failed']);
    expect(await world.signIn(id, ann.headers)).toContain('result=connected');
    const resumed = await call('POST', `/api/runs/${started.body.id}/resume`, {}, bob.headers);
    expect(resumed.status).toBe(200);
    const sent = await sentBy(started.body.id);
    expect(sent.error).toBeNull();
    expect([forked.token, first]).not.toContain(sent.token);
  });

  test('uses the account of the starter in a sub-workflow', async () => {
    const parent = await engine.define({
      nodes: [{ id: 'child', kind: 'workflow', workflow, input: {} }],
      edges: [],
    });
    const own = await start(ann.headers);
    expect(await start(ann.headers, parent)).toEqual(own);
  });

  test.each<[string, () => Promise<string>, string]>([
    [
      'a webhook',
      async () => {
        const hook = await call('POST', `/api/workflows/${workflow}/webhook`);
        const { pathname } = new URL(hook.body.url);
        return (await call('POST', pathname, {})).body.run_id;
      },
      'no member started this run',
    ],
    [
      'an API key without a member',
      async () => {
        const key = await call('POST', '/api/keys', { name: 'k', role: 'editor' });
        const headers = { 'x-api-key': key.body.secret };
        return (await call('POST', `/api/workflows/${workflow}/runs`, {}, headers)).body.id;
      },
      'no member started this run',
    ],
    [
      'two members, under a debounce',
      async () => {
        const shared = await engine.define({
          nodes: [withToken(NAME, `${world.target.url}/me`)],
          edges: [],
        });
        const limits = { debounce: { seconds: 1 } };
        const set = await call('PUT', `/api/workflows/${shared}/limits`, limits);
        expect(set.status).toBe(200);
        const alone = await call('POST', `/api/workflows/${shared}/runs`, {}, ann.headers);
        expect((await sentBy(alone.body.id)).error).toBeNull();
        const path = `/api/workflows/${shared}/runs`;
        const first = await call('POST', path, {}, ann.headers);
        const second = await call('POST', path, { from: 'Bob' }, bob.headers);
        expect(second.body.id).toBe(first.body.id);
        return first.body.id;
      },
      'further triggers have joined it under a debounce',
    ],
  ])('fails in a run that was started by %s', async (_what, begin, problem) => {
    const { token, error } = await sentBy(await begin());
    expect([token, error]).toEqual([undefined, expect.stringContaining(problem)]);
  });

  test('lets a key act for its member only if the member made it', async () => {
    const carl = await addMember({ call }, { role: 'admin', name: 'Carl' });
    expect(await world.signIn(id, carl.headers)).toContain('result=connected');
    const body = { name: 'own', role: 'admin', member_id: carl.id };
    const own = await call('POST', '/api/keys', body, carl.headers);
    const first = await start({ 'x-api-key': own.body.secret });
    expect([first.error, typeof first.token]).toEqual([null, 'string']);
    const lent = await call('POST', '/api/keys', { ...body, name: 'lent' });
    expect((await start({ 'x-api-key': lent.body.secret })).error).toContain(
      "another person made the API key 'lent'",
    );
    await call('DELETE', `/api/keys/${lent.body.id}`);
    expect((await start(carl.headers)).error).toBeNull();
  });

  test('is signed in to by members for themselves, and not by keys or viewers', async () => {
    const path = `/api/connections/${id}/authorize`;
    const key = await call('POST', '/api/keys', { name: 'k', role: 'editor', member_id: ann.id });
    for (const headers of [viewer.headers, { 'x-api-key': key.body.secret }]) {
      expect((await call('POST', path, undefined, headers)).status).toBe(403);
      const out = await call('POST', `/api/connections/${id}/disconnect`, undefined, headers);
      expect(out.status).toBe(403);
    }
    await call('DELETE', `/api/keys/${key.body.id}`);
    const shared = await world.connect('SHARED');
    for (const action of ['authorize', 'disconnect']) {
      const own = `/api/connections/${shared}/${action}`;
      expect((await call('POST', own, undefined, ann.headers)).status).toBe(403);
    }
    await call('POST', `/api/connections/${id}/disconnect`, undefined, bob.headers);
    expect([await statusFor(bob.headers), await statusFor(ann.headers)]).toEqual([
      'not_signed_in',
      'connected',
    ]);
  });

  test('loses the tokens of a member who is removed', async () => {
    const dan = await addMember({ call }, { role: 'editor', name: 'Dan' });
    await world.signIn(id, dan.headers);
    const gated = await engine.define({
      nodes: [{ id: 'gate', kind: 'human_gate' }, withToken(NAME, `${world.target.url}/me`)],
      edges: [edge('gate', 'ask')],
    });
    const started = await call('POST', `/api/workflows/${gated}/runs`, {}, dan.headers);
    await engine.until(started.body.id, ['paused']);
    expect((await call('DELETE', `/api/members/${dan.id}`)).status).toBe(204);
    expect(
      await engine.db.oneFirst(sql.unsafe`
        SELECT count(*) FROM connection_tokens WHERE member_id = ${dan.id}`),
    ).toBe(0);
    await engine.approve(started.body.id);
    const { token, error } = await sentBy(started.body.id);
    expect([token, error]).toEqual([undefined, expect.stringContaining('was removed')]);
  });
});

describe('a custom tool', () => {
  test("sends the starter's token in a header, and a test that of the caller", async () => {
    const headers = { Authorization: `Bearer {connections.${NAME}}` };
    const tool = { endpoint_url: `${world.target.url}/tool`, headers, retry_count: 0 };
    const made = await call('POST', '/api/tools', { name: 'mail', ...tool });
    expect(made.status).toBe(201);
    const using = await engine.define({
      nodes: [{ id: 'a', kind: 'tool', tool_name: 'custom:mail', params: {} }],
      edges: [],
    });
    const own = await start(ann.headers);
    expect(await start(ann.headers, using)).toEqual(own);
    const path = `/api/tools/${made.body.id}/test`;
    const before = world.tokens().length;
    const tested = await call('POST', path, { arguments: {} }, ann.headers);
    expect([tested.body.ok, world.tokens()[before], tested.text.includes(own.token!)]).toEqual([
      true,
      own.token,
      false,
    ]);
    const foreign = await call('POST', path, { arguments: {} }, bob.headers);
    expect(foreign.body.error).toContain('Sign in to the connection');
    const wrong = await call('POST', '/api/tools', {
      ...{ name: 'wrong', ...tool },
      headers: { Authorization: '{connections.NONE}' },
    });
    expect(wrong.body.detail).toContain("there is no connection 'NONE'");
    const away = await call('POST', '/api/tools', {
      ...{ name: 'away', ...tool },
      endpoint_url: 'https://away.example.com',
    });
    expect(away.body.detail).toContain('may not be sent to away.example.com');
  });

  test('gets another token after a 401, as a step of mcp does', async () => {
    await world.server.endAccess();
    const using = await engine.define({
      nodes: [{ id: 'a', kind: 'tool', tool_name: 'custom:mail', params: {} }],
      edges: [],
    });
    const before = world.tokens().length;
    expect((await start(ann.headers, using)).error).toBeNull();
    expect(new Set(world.tokens().slice(before)).size).toBe(2);
    const mcp = await engine.define({
      nodes: [
        {
          id: 'a',
          kind: 'tool',
          tool_name: 'mcp',
          params: {
            server_url: `${world.target.url}/mcp`,
            tool: 't',
            headers: { Authorization: `Bearer {connections.${NAME}}` },
          },
        },
      ],
      edges: [],
    });
    await world.server.endAccess();
    const since = world.tokens().length;
    const granted = world.server.granted.length;
    // The target is no MCP server, which it says once the token is accepted.
    const { error } = await start(ann.headers, mcp);
    expect(error).not.toContain('401');
    expect(new Set(world.tokens().slice(since)).size).toBe(2);
    expect(world.server.granted.length).toBe(granted + 1);
  });
});

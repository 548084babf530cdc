import { afterAll, beforeAll, describe, expect, test } from '@jest/globals';
import { useEngineApi } from '#test/api/engine-api.ts';
import {
  CONNECTION_ENV,
  type ConnectionWorld,
  startConnectionWorld,
  withToken,
} from '#test/support/connection-world.ts';
import { edge, eventually, mock } from '#test/support/engine.ts';
import { verifiedEvidence } from '#test/support/verified-evidence.ts';
import { addMember, type Person } from '#test/support/people.ts';

// A step that acts as its approver sends the token of the member who approved it.

const { engine, call } = useEngineApi({ env: CONNECTION_ENV });

const NAME = 'MAIL';
let world: ConnectionWorld;
let ann: Person;
let bob: Person;
let cem: Person;
let id: string;
beforeAll(async () => {
  world = await startConnectionWorld(call);
  [ann, bob, cem] = (await Promise.all(
    ['Ann', 'Bob', 'Cem'].map((name) => addMember({ call }, { role: 'admin', name })),
  )) as [Person, Person, Person];
  id = await world.connect(NAME, { owner: 'member' });
  for (const { headers } of [ann, bob]) {
    expect(await world.signIn(id, headers)).toContain('result=connected');
  }
}, 60_000);
afterAll(() => world.close());

const acting = (change: object = {}) =>
  withToken(NAME, `${world.target.url}/me`, {
    ...{ act_as: 'approver', approval: 'always' },
    ...change,
  });
const graphOf = (...nodes: object[]) =>
  ({ nodes, edges: [] }) as Parameters<typeof engine.define>[0];
async function start(workflow: string, headers = ann.headers): Promise<string> {
  const started = await call('POST', `/api/workflows/${workflow}/runs`, {}, headers);
  expect([started.status, started.body.detail]).toEqual([201, undefined]);
  return started.body.id as string;
}
const record = async (runId: string) => (await call('GET', `/api/runs/${runId}`)).body;
const gateOf = async (runId: string) => {
  await engine.until(runId, ['paused']);
  return (await record(runId)).pending_gate;
};
async function decide(runId: string, headers: Record<string, string>, change: object = {}) {
  const { tool_call } = await gateOf(runId);
  const body = { digest: tool_call.digest, ...change };
  return call('POST', `/api/runs/${runId}/approve`, body, headers);
}
/** The token that a member's own run sends. */
async function tokenOf({ headers }: Person): Promise<string> {
  const own = await engine.define(graphOf(withToken(NAME, `${world.target.url}/me`)));
  const before = world.tokens().length;
  expect((await engine.ended(await start(own, headers))).error).toBeNull();
  return world.tokens()[before]!;
}
const sent = async (runId: string, before: number) => {
  const { error } = await engine.ended(runId);
  return { error, tokens: world.tokens().slice(before) };
};

describe('a step that acts as its approver', () => {
  test('sends the token of the member who approved it, which the gate shows before', async () => {
    const token = await tokenOf(bob);
    const runId = await start(await engine.define(graphOf(acting())));
    expect(await gateOf(runId)).toMatchObject({ signed_in: true, act_as: 'approver' });
    const before = world.tokens().length;
    expect((await decide(runId, bob.headers)).status).toBe(200);
    expect(await sent(runId, before)).toEqual({ error: null, tokens: [token] });
    const verified = await verifiedEvidence(engine.db, engine.actor.workspaceId, runId);
    expect(verified).toMatchObject({ problems: [], proven: 'complete' });
  });

  test('uses the account of the last of several approvers, and only that one must be signed in', async () => {
    const [token] = [await tokenOf(bob)];
    const approval = { when: 'always', required: 2 };
    const runId = await start(await engine.define(graphOf(acting({ approval }))));
    const before = world.tokens().length;
    expect((await decide(runId, cem.headers)).status).toBe(200);
    expect((await decide(runId, bob.headers)).status).toBe(200);
    expect(await sent(runId, before)).toEqual({ error: null, tokens: [token] });
  });

  test('cannot be approved before its approver is signed in, but can be rejected', async () => {
    const runId = await start(await engine.define(graphOf(acting())));
    for (const change of [{}, { only_check: true }]) {
      const refused = await decide(runId, cem.headers, change);
      expect([refused.status, refused.body.detail]).toEqual([
        409,
        `Sign in to the connection '${NAME}' at /connections?connection=${id} first: the step uses your account if you approve it`,
      ]);
    }
    expect((await decide(runId, cem.headers, { approved: false })).status).toBe(200);
    expect((await engine.ended(runId)).status).toBe('failed');
  });

  test('is approved by members who have signed in to the console only', async () => {
    const key = await call(
      'POST',
      '/api/keys',
      { name: 'own', role: 'admin', member_id: bob.id },
      bob.headers,
    );
    const runId = await start(await engine.define(graphOf(acting())));
    const refused = await decide(runId, { 'x-api-key': key.body.secret });
    expect([refused.status, refused.body.detail]).toEqual([
      403,
      expect.stringContaining('can only be decided by a member who has signed in'),
    ]);
    await engine.cancel(runId);
    await call('DELETE', `/api/keys/${key.body.id}`, undefined, bob.headers);
  });

  test('asks again in a fork, so that a decision of the source lends no account', async () => {
    const workflow = await engine.define({
      nodes: [mock('m'), acting()],
      edges: [edge('m', 'ask')],
    } as never);
    const source = await start(workflow);
    expect((await decide(source, bob.headers)).status).toBe(200);
    await engine.ended(source);
    const path = `/api/runs/${source}/fork`;
    const fork = await call('POST', path, { from_step: 'ask' }, ann.headers);
    const token = await tokenOf(ann);
    expect((await gateOf(fork.body.id)).act_as).toBe('approver');
    const before = world.tokens().length;
    expect((await decide(fork.body.id, ann.headers)).status).toBe(200);
    expect((await sent(fork.body.id, before)).tokens).toEqual([token]);
  });

  test('waits for its approver, whose sign-in has ended when it is sent', async () => {
    const dan = await addMember({ call }, { role: 'admin', name: 'Dan' });
    await world.signIn(id, dan.headers);
    const runId = await start(await engine.define(graphOf(acting())));
    await gateOf(runId);
    await world.server.revokeAll();
    expect((await decide(runId, dan.headers)).status).toBe(200);
    await eventually(async () => {
      const { waiting } = await record(runId);
      return waiting[0]?.connection?.member_id === dan.id;
    });
    // Neither the starter nor another approver helps.
    for (const { headers } of [ann, bob]) await world.signIn(id, headers);
    expect((await record(runId)).waiting).toHaveLength(1);
    await world.signIn(id, dan.headers);
    expect((await engine.ended(runId)).error).toBeNull();
  });

  test('fails when its approver is removed before it is sent', async () => {
    const dan = await addMember({ call }, { role: 'admin', name: 'Dan' });
    await world.signIn(id, dan.headers);
    const runId = await start(await engine.define(graphOf(acting())));
    await gateOf(runId);
    await world.server.revokeAll();
    expect((await decide(runId, dan.headers)).status).toBe(200);
    await eventually(async () => (await record(runId)).waiting.length === 1);
    expect((await call('DELETE', `/api/members/${dan.id}`)).status).toBe(204);
    expect((await engine.ended(runId)).error).toContain(
      'uses the account of the member who approved the step, but this member was removed',
    );
    for (const { headers } of [ann, bob]) await world.signIn(id, headers);
  });

  test('has no account in a rehearsal that executes it', async () => {
    const source = await start(await engine.define(graphOf(acting())));
    expect((await decide(source, bob.headers)).status).toBe(200);
    await engine.ended(source);
    const rehearsal = { mode: 'recorded', allow: ['ask'], from_step: 'ask' };
    const before = world.tokens().length;
    const { body } = await call('POST', `/api/runs/${source}/fork`, rehearsal, ann.headers);
    if (body.id !== undefined) await engine.ended(body.id);
    expect(world.tokens().slice(before)).toEqual([]);
  });
});

describe('a graph with act_as', () => {
  const problems = async (...nodes: object[]) => {
    const { body } = await call('POST', '/api/workflows', { name: 'w', graph: graphOf(...nodes) });
    const validated = await call('POST', `/api/workflows/${body.id}/validate`);
    return [...validated.body.errors, ...validated.body.warnings].map(
      ({ code }: { code: string }) => code,
    );
  };

  test.each<[string, object, string[]]>([
    ['without an approval', { approval: undefined }, ['act_as_without_approval']],
    ['with one that asks sometimes', { approval: 'args.url != null' }, ['act_as_without_approval']],
    ['with one that never asks', { approval: 'never' }, ['act_as_without_approval']],
    [
      'with a deadline that approves',
      { approval: { when: 'always', timeout_seconds: 60, on_timeout: 'approve' } },
      ['act_as_without_approval'],
    ],
    ['with one that always asks', {}, []],
  ])('is checked: %s', async (_what, change, codes) => {
    expect(await problems(acting(change))).toEqual(codes);
  });

  test('has a warning where no connection of a member is used', async () => {
    const shared = await world.connect('SHARED');
    expect(await problems(acting({ params: { url: 'http://x.test' } }))).toContain('act_as_unused');
    const using = withToken('SHARED', `${world.target.url}/me`, {
      ...{ act_as: 'approver', approval: 'always' },
    });
    expect(await problems(using)).toEqual(
      expect.arrayContaining(['connection_not_signed_in', 'act_as_unused']),
    );
    await world.signIn(shared);
    expect(await problems(using)).not.toContain('connection_not_signed_in');
  });
});

describe('a dry run', () => {
  test('has the connections of each node, whose account, and whether the caller is signed in', async () => {
    const shared = await world.connect('BOT');
    const tool = {
      ...{ name: 'mail', endpoint_url: `${world.target.url}/tool` },
      headers: { Authorization: `Bearer {connections.${NAME}}` },
    };
    expect((await call('POST', '/api/tools', tool)).status).toBe(201);
    const child = await engine.define(graphOf(withToken('BOT', `${world.target.url}/me`)), 'child');
    const workflow = await engine.define(
      graphOf(
        withToken(NAME, `${world.target.url}/me`, { id: 'own' }),
        acting({ id: 'approved' }),
        { id: 'custom', kind: 'tool', tool_name: 'custom:mail', params: {} },
        { id: 'below', kind: 'workflow', workflow: child, input: {} },
      ),
    );
    const dryRun = async (headers: Record<string, string>) =>
      (await call('POST', `/api/workflows/${workflow}/dry-run`, {}, headers)).body;
    const of = (node_id: string, account: string, status: string | null) => ({
      ...{ node_id, workflow: null, id, name: NAME, account, status },
    });
    const below = {
      ...{ node_id: 'below', workflow: { id: child, name: 'child' }, id: shared },
      ...{ name: 'BOT', account: 'workspace', status: 'not_signed_in' },
    };
    const forAnn = await dryRun(ann.headers);
    expect(forAnn.connections).toEqual(
      expect.arrayContaining([
        of('own', 'starter', 'connected'),
        of('approved', 'approver', null),
        of('custom', 'starter', 'connected'),
        below,
      ]),
    );
    expect(forAnn.connections).toHaveLength(4);
    expect(forAnn.warnings).toMatchObject([{ code: 'connection_not_signed_in', node_id: 'below' }]);
    const forCem = await dryRun(cem.headers);
    expect(forCem.connections).toContainEqual(of('own', 'starter', 'not_signed_in'));
    expect(forCem.warnings.map((warning: { node_id: string }) => warning.node_id).sort()).toEqual([
      'below',
      'custom',
      'own',
    ]);
  });
});

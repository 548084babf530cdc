import { afterAll, beforeAll, beforeEach, describe, expect, test } from '@jest/globals';
import { z } from 'zod';
import { sql } from '#shared/db/pool.ts';
import { openSignInWait } from '#shared/db/waits/sign-ins.ts';
import { edge, eventually, mock } from '#test/support/engine.ts';
import { useEngineApi } from '#test/api/engine-api.ts';
import {
  CONNECTION_ENV,
  type ConnectionWorld,
  startConnectionWorld,
  withToken,
} from '#test/support/connection-world.ts';
import { verifiedEvidence } from '#test/support/verified-evidence.ts';
import { addMember, type Person } from '#test/support/people.ts';

// A step without a token of its member waits until this member signs in.

const { engine, call } = useEngineApi({ env: CONNECTION_ENV });

let world: ConnectionWorld;
let ann: Person;
let bob: Person;
let id: string;
let name: string;
let number = 0;
beforeAll(async () => {
  world = await startConnectionWorld(call);
  ann = await addMember({ call }, { role: 'editor', name: 'Ann' });
  bob = await addMember({ call }, { role: 'editor', name: 'Bob' });
}, 60_000);
beforeEach(async () => {
  name = `MAIL${(number += 1)}`;
  id = await world.connect(name, { owner: 'member' });
});
afterAll(() => world.close());

const ask = (change: object = {}) => withToken(name, `${world.target.url}/me`, change);
const graph = (...nodes: object[]) => ({ nodes, edges: [] }) as Parameters<typeof engine.define>[0];
const define = () => engine.define(graph(ask()));
async function start(workflow: string, headers = ann.headers): Promise<string> {
  const started = await call('POST', `/api/workflows/${workflow}/runs`, {}, headers);
  expect([started.status, started.body.detail]).toEqual([201, undefined]);
  return started.body.id as string;
}
const record = async (runId: string) => (await call('GET', `/api/runs/${runId}`)).body;
const waits = (runId: string, count = 1) =>
  eventually(async () => {
    const { waiting } = await record(runId);
    return waiting.length === count && waiting[0].for === 'connection';
  });
const signIn = async (person: Person, connection = id) =>
  expect(await world.signIn(connection, person.headers)).toContain('result=connected');
/** The requests that arrived since then. */
const since = (before: number) => world.tokens().slice(before);
const change = (statement: ReturnType<typeof sql.unsafe>) => engine.db.query(statement);
const clockRow = z.object({ at_rest: z.boolean(), waiting_ms: z.number(), status: z.string() });
const clocks = (runId: string) =>
  engine.db.one(sql.type(clockRow)`
    SELECT at_rest, waiting_ms::int, status FROM runs WHERE id = ${runId}`);

describe('a step whose member has not signed in', () => {
  test('waits, says whose sign-in is missing, and continues after it with one attempt of its retry', async () => {
    const before = world.tokens().length;
    const workflow = await engine.define(graph(ask({ retry: { max_attempts: 1 } })));
    const runId = await start(workflow);
    await waits(runId);
    await eventually(async () => (await clocks(runId)).at_rest);
    expect(await record(runId)).toMatchObject({
      status: 'running',
      waiting: [
        {
          for: 'connection',
          node_id: 'ask',
          step_key: 'ask',
          connection: {
            id,
            name,
            reason: 'not_signed_in',
            member_id: ann.id,
            member_name: 'Ann',
            page: `/connections?connection=${id}`,
          },
        },
      ],
    });
    await signIn(bob);
    await waits(runId);
    await signIn(ann);
    const run = await engine.ended(runId);
    expect([run.status, run.error, run.waiting]).toEqual(['success', null, []]);
    const { attempts } = (await record(runId)).steps[0];
    expect(attempts.map(({ outcome }: { outcome: string }) => outcome)).toEqual([
      'interrupted',
      'success',
    ]);
    expect(since(before)).toHaveLength(1);
    expect((await clocks(runId)).waiting_ms).toBeGreaterThan(0);
  });

  test('waits after the service has refused its refresh token, and sends each request once', async () => {
    await signIn(ann);
    await world.server.revokeAll();
    await change(sql.unsafe`
      UPDATE connection_tokens SET expires_at = now() - interval '1 s', refresh_at = now() - interval '1 s'
      WHERE connection_id = ${id}`);
    const before = world.tokens().length;
    const runId = await start(await define());
    await waits(runId);
    expect((await record(runId)).waiting[0].connection.reason).toBe('needs_sign_in');
    await signIn(ann);
    expect((await engine.ended(runId)).error).toBeNull();
    expect(since(before)).toHaveLength(1);
  });

  test('waits after a call that was answered with 401, which counts as not made', async () => {
    await signIn(ann);
    await world.server.revokeAll();
    const before = world.tokens().length;
    const runId = await start(await define());
    await waits(runId);
    await signIn(ann);
    expect((await engine.ended(runId)).error).toBeNull();
    const [refused, accepted, ...rest] = since(before);
    expect([refused === accepted, rest]).toEqual([false, []]);
  });

  test('does not wait for a sign-in that comes while the step is about to wait', async () => {
    const runs: string[] = [];
    const workflow = await define();
    // The sign-in of each round can come at any moment of its step.
    for (let round = 0; round < 8; round += 1) {
      const [runId] = await Promise.all([start(workflow), signIn(ann)]);
      runs.push(runId);
      expect((await engine.ended(runId)).error).toBeNull();
      await call('POST', `/api/connections/${id}/disconnect`, undefined, ann.headers);
    }
    expect(new Set(runs).size).toBe(8);
  });

  test('does not wait when a sign-in is committed before its wait', async () => {
    const runId = await start(await define());
    await waits(runId);
    const [held, release] = [
      Promise.withResolvers<undefined>(),
      Promise.withResolvers<undefined>(),
    ];
    const signedIn = engine.db.transaction(async (tx) => {
      await tx.query(sql.unsafe`SELECT FROM connections WHERE id = ${id} FOR SHARE`);
      held.resolve(undefined);
      await release.promise;
      await tx.query(sql.unsafe`
        INSERT INTO connection_tokens (connection_id, workspace_id, member_id, revision, generation, sealed_access)
        SELECT id, workspace_id, ${ann.id}, revision, 1, 'sealed' FROM connections WHERE id = ${id}`);
    });
    await held.promise;
    const opened = openSignInWait(engine.db, {
      ...{ run_id: runId, step_key: 'late', node_id: 'late', label: 'Late', execution: 'e' },
      account: {
        ...{ connectionId: id, connectionName: name, memberId: ann.id },
        reason: 'not_signed_in',
      },
    });
    await eventually(() =>
      engine.db.exists(sql.unsafe`
        SELECT FROM pg_stat_activity
        WHERE datname = current_database() AND wait_event_type = 'Lock' AND query LIKE '%FROM connections WHERE id%'`),
    );
    release.resolve(undefined);
    await signedIn;
    expect(await opened).toEqual({ state: 'ready' });
    await engine.cancel(runId);
  });

  test('waits in a call of an agent, which then gets the result', async () => {
    const tool = {
      ...{ name: `mail-${name.toLowerCase()}`, endpoint_url: `${world.target.url}/tool` },
      headers: { Authorization: `Bearer {connections.${name}}` },
      input_schema: { type: 'object' },
    };
    expect((await call('POST', '/api/tools', tool)).status).toBe(201);
    const called = `custom:${tool.name}`;
    const agent = {
      ...{ id: 'agent', kind: 'agent', prompt: 'Ask', tools: [called] },
      mock: { turns: [{ calls: [{ tool: called, arguments: {} }] }, { output: 'done' }] },
    };
    const runId = await start(await engine.define(graph(agent)));
    await waits(runId);
    expect((await record(runId)).waiting[0]).toMatchObject({
      node_id: 'agent',
      connection: { member_id: ann.id },
    });
    await signIn(ann);
    const run = await engine.ended(runId);
    expect([run.error, run.output]).toEqual([null, { agent: 'done' }]);
    const steps = (await record(runId)).steps as { call_tool?: string; status: string }[];
    expect(steps.map(({ status }) => status)).not.toContain('failed');
  });

  test('waits in every item of a map, and one sign-in wakes all', async () => {
    const items = Array.from({ length: 50 }, (_, n) => n);
    const workflow = await engine.define({
      nodes: [{ id: 'map', kind: 'map', items: 'items', concurrency: 50 }, ask()],
      edges: [edge('map', 'ask', 'true'), edge('ask', 'map')],
    } as never);
    const before = world.tokens().length;
    const started = await call('POST', `/api/workflows/${workflow}/runs`, { items }, ann.headers);
    const runId = started.body.id as string;
    const open = () =>
      engine.db.oneFirst(sql.type(z.object({ n: z.number() }))`
        SELECT count(*)::int AS n FROM run_waits WHERE run_id = ${runId} AND status = 'open'`);
    await eventually(async () => (await open()) >= 20);
    await signIn(ann);
    expect((await engine.until(runId, ['success', 'failed'], 90_000)).error).toBeNull();
    expect(since(before)).toHaveLength(50);
    expect(
      await engine.db.oneFirst(sql.unsafe`
        SELECT count(*)::int FROM outbox WHERE payload ->> 'connection_id' = ${id}`),
    ).toBeLessThanOrEqual(1);
  });

  test('waits beside a gate, and for another connection after the first', async () => {
    const second = await world.connect(`${name}B`, { owner: 'member' });
    const both = ask();
    both.params.headers.Authorization = `Bearer {connections.${name}}{connections.${name}B}`;
    const runId = await start(
      await engine.define(graph(both, { id: 'gate', kind: 'human_gate', prompt: 'Go on?' })),
    );
    await waits(runId);
    await eventually(async () => (await clocks(runId)).status === 'paused');
    await signIn(ann);
    await eventually(async () => (await record(runId)).waiting[0]?.connection.id === second);
    await eventually(async () => (await clocks(runId)).status === 'paused');
    await engine.approve(runId);
    await eventually(async () => (await clocks(runId)).at_rest);
    await signIn(ann, second);
    // The target knows neither of both tokens in one.
    expect((await engine.ended(runId)).error).toContain('401');
  });
});

describe('a wait for a sign-in', () => {
  test('ends with the run that is cancelled, and begins again when it is resumed', async () => {
    const runId = await start(await define());
    await waits(runId);
    await engine.cancel(runId);
    await engine.until(runId, ['failed']);
    expect((await record(runId)).waiting).toEqual([]);
    await engine.resume(runId);
    await waits(runId);
    await signIn(ann);
    expect((await engine.ended(runId)).error).toBeNull();
  });

  test('that has only just begun when its run is cancelled is tried again when that is resumed', async () => {
    const workflow = await define();
    const runs = await Promise.all(Array.from({ length: 12 }, () => start(workflow)));
    const opened = async (runId: string): Promise<boolean> =>
      engine.db.exists(sql.unsafe`SELECT FROM run_waits WHERE run_id = ${runId}`);
    // Without a pause, so that some executions are cancelled before they know that their step waits.
    const cancelled = runs.map(async (runId) => {
      while (!(await opened(runId)));
      await engine.cancel(runId);
      await engine.until(runId, ['failed']);
    });
    await Promise.all(cancelled);
    await signIn(ann);
    for (const runId of runs) await engine.resume(runId);
    for (const runId of runs) expect((await engine.ended(runId)).error).toBeNull();
  });

  test('fails the step with the kind connection after seven days, and waits again after a resume', async () => {
    const runId = await start(await define());
    await waits(runId);
    await change(sql.unsafe`
      UPDATE run_waits SET due_at = now(), wake_at = now() WHERE run_id = ${runId}`);
    const failed = await engine.until(runId, ['failed']);
    expect(failed.error).toContain('has not signed in within 7 days');
    expect((await record(runId)).steps[0].error_kind).toBe('connection');
    await engine.resume(runId);
    await waits(runId);
    await signIn(ann);
    expect((await engine.ended(runId)).error).toBeNull();
  });

  test.each<[string, () => Promise<unknown>, string]>([
    [
      'the connection is deleted',
      () => call('DELETE', `/api/connections/${id}`),
      'There is no connection',
    ],
    [
      'it belongs to the workspace now',
      async () => {
        await call('DELETE', `/api/connections/${id}`);
        await world.connect(name);
      },
      'Sign in to the connection',
    ],
  ])('ends with the sentence of the step when %s', async (_what, act, error) => {
    // The step ends only after both changes.
    const workflow = await define();
    const runId = await start(workflow);
    await waits(runId);
    await act();
    const run = await engine.until(runId, ['failed']);
    expect(run.error).toMatch(new RegExp(`There is no connection|${error}`));
    expect((await record(runId)).waiting).toEqual([]);
  });

  test('ends when its member is removed', async () => {
    const dan = await addMember({ call }, { role: 'editor', name: 'Dan' });
    const runId = await start(await define(), dan.headers);
    await waits(runId);
    expect((await call('DELETE', `/api/members/${dan.id}`)).status).toBe(204);
    expect((await engine.until(runId, ['failed'])).error).toContain('was removed');
  });

  test('is approved by no one, and a rejection fails the step', async () => {
    const runId = await start(await define());
    await waits(runId);
    const decide = (body: object) => call('POST', `/api/runs/${runId}/approve`, body);
    for (const body of [{ approved: true }, { approved: true, node_id: 'ask' }]) {
      const { status, body: refused } = await decide(body);
      expect([status, refused.detail]).toEqual([
        409,
        expect.stringContaining(`waits until Ann signs in to the connection '${name}'`),
      ]);
    }
    expect((await decide({ approved: false })).status).toBe(409);
    await waits(runId);
    const rejection = { approved: false, node_id: 'ask' };
    const check = await decide({ ...rejection, only_check: true });
    expect(check.status).toBe(200);
    await waits(runId);
    expect((await decide({ ...rejection, reason: 'Too late' })).status).toBe(200);
    const failed = await engine.until(runId, ['failed']);
    expect(failed.error).toContain('has rejected the step');
    const { body } = await call('GET', `/api/audit?target_id=${runId}&action=reject_wait`);
    expect(body.logs[0].details).toMatchObject({ step_key: 'ask', connection: name });
    expect((await decide(rejection)).status).toBe(409);
    const verified = await verifiedEvidence(engine.db, engine.actor.workspaceId, runId);
    expect(verified).toMatchObject({ problems: [], proven: 'complete' });
    expect((await call('GET', '/api/audit/verify')).body).toMatchObject({
      tool_calls: { problems: [] },
    });
  });

  test('belongs to the forker in a fork of a run that waits', async () => {
    const workflow = await engine.define({
      nodes: [mock('m'), ask()],
      edges: [edge('m', 'ask')],
    } as never);
    const source = await start(workflow);
    await waits(source);
    const fork = await call('POST', `/api/runs/${source}/fork`, { from_step: 'ask' }, bob.headers);
    expect(fork.status).toBe(201);
    await waits(fork.body.id);
    expect((await record(fork.body.id)).waiting[0].connection.member_id).toBe(bob.id);
    await signIn(bob);
    expect((await engine.ended(fork.body.id)).error).toBeNull();
    await waits(source);
    await engine.cancel(source);
  });

  test('is that of the starter in a sub-workflow, and holds up nothing else', async () => {
    const child = await define();
    const parent = await engine.define(
      graph({ id: 'child', kind: 'workflow', workflow: child, input: {} }, mock('other')),
    );
    const runId = await start(parent);
    await eventually(async () => {
      const { waits: open } = (await call('GET', `/api/waits?for=connection&member_id=${ann.id}`))
        .body;
      return open.some((wait: { workflow_id: string }) => wait.workflow_id === child);
    });
    await signIn(ann);
    expect((await engine.ended(runId)).error).toBeNull();
  });

  test('is listed for its member when the list is filtered', async () => {
    const runId = await start(await define());
    await waits(runId);
    const listed = async (query: string) =>
      (await call('GET', `/api/waits?${query}`)).body.waits.map(
        (wait: { run_id: string }) => wait.run_id,
      );
    expect(await listed(`for=connection&member_id=${ann.id}`)).toContain(runId);
    expect(await listed(`member_id=${bob.id}`)).not.toContain(runId);
    expect(await listed('for=time')).not.toContain(runId);
    await engine.cancel(runId);
  });
});

describe('no step waits', () => {
  test('in a run that no member has started', async () => {
    const hook = await call('POST', `/api/workflows/${await define()}/webhook`);
    const { pathname } = new URL(hook.body.url);
    const { run_id } = (await call('POST', pathname, {})).body;
    expect((await engine.ended(run_id)).error).toContain('no member started this run');
  });
});

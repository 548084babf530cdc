import { afterAll, beforeAll, beforeEach, describe, expect, test } from '@jest/globals';
import pg from 'pg';
import { z } from 'zod';
import { buildApp } from '#api/app.ts';
import type { App } from '#api/deps.ts';
import { dataScopeNames } from '#shared/contract/data/envelope.ts';
import { connectDatabase, type Pool, sql } from '#shared/db/pool.ts';
import { echo, edge, type Engine, eventually, startEngine } from '#test/support/engine.ts';
import { untilLockWaiters } from '#test/support/lock-waits.ts';
import { type PostgresWire, startPostgresWire } from '#test/support/postgres-wire.ts';
import { type MutationContext, mutationEnv, mutations } from '#test/api/contract/mutations.ts';
import { type Answer, callerOf } from '#test/api/test-api.ts';

// The connection to Postgres is lost around the commit of a change, for every route with one: the response must match
// what happened.

let engine: Engine;
let sound: App;
let call: ReturnType<typeof callerOf>;
let wire: PostgresWire;
let db: Pool;
let app: App;
let lossy: ReturnType<typeof callerOf>;
let context: MutationContext;
let dataSecret = '';
beforeAll(async () => {
  engine = await startEngine({ env: mutationEnv });
  sound = buildApp(engine.deps);
  await sound.ready();
  call = callerOf(sound);
  wire = await startPostgresWire(engine.databaseUrl);
  db = await connectDatabase(wire.url, { maxPoolSize: 5 });
  app = buildApp({ ...engine.deps, db });
  await app.ready();
  lossy = callerOf(app);
  context = {
    workspaceId: engine.actor.workspaceId,
    db: engine.db,
    call: async (method, url, payload) => {
      const { status, text, body } = await call(method, url, payload, credentialOf(url));
      if (status >= 300) throw new Error(`${method} ${url} answered ${status}: ${text}`);
      return body;
    },
    until: async (runId, status) => {
      await engine.until(runId, [status]);
    },
  };
  const key = { name: 'x', mode: 'live', scopes: dataScopeNames };
  dataSecret = (await context.call('POST', '/api/data/keys', key)).secret;
}, 60_000);
afterAll(async () => {
  await app.close();
  await db.end();
  wire.close();
  await sound.close();
  await engine.close();
});
beforeEach(() => wire.mend());

const credentialOf = (url: string, token?: string): Record<string, string> =>
  url.startsWith('/v1/')
    ? { 'x-api-key': dataSecret }
    : token === undefined
      ? {}
      : { authorization: `Bearer ${token}` };
const audited = () =>
  engine.db.oneFirst(sql.type(z.object({ n: z.number() }))`SELECT count(*) AS n FROM audit_log`);
/** MCP responds with status 200 and reports a failed tool in the body. */
const refused = ({ status, body }: Answer) => status >= 300 || body?.result?.isError === true;

const UNREACHABLE = 'The database cannot be reached; try again';

test.each(Object.keys(mutations))(
  '%s: changes nothing if disconnected before the commit, and succeeds if after it',
  async (route) => {
    const { url, body, token, headers = {} } = await mutations[route]!(context);
    const method = route.slice(0, route.indexOf(' '));
    const send = () => lossy(method, url, body, { ...credentialOf(url, token), ...headers });
    const before = await audited();
    wire.breakAt({ at: 'commit', when: 'sent' });
    const lost = await send();
    expect([wire.hasBroken(), refused(lost)]).toEqual([true, true]);
    expect(lost.text).toContain(UNREACHABLE);
    if (route !== 'POST /api/mcp') expect(lost.status).toBe(503);
    expect(await audited()).toBe(before);

    wire.breakAt({ at: 'commit', when: 'answered' });
    const taken = await send();
    expect([wire.hasBroken(), refused(taken), taken.text]).toEqual([true, false, taken.text]);
    expect(await audited()).toBe(before + 1);
  },
  30_000,
);

const pausedRun = async (): Promise<string> => {
  const workflowId = await engine.define({
    nodes: [{ id: 'gate', kind: 'human_gate' }, echo('a')],
    edges: [edge('gate', 'a')],
  });
  const runId = await engine.trigger(workflowId);
  await engine.until(runId, ['paused']);
  return runId;
};
const decisionsOf = async (runId: string) =>
  engine.db.anyFirst(sql.type(z.object({ action: z.string() }))`
    SELECT action FROM audit_log WHERE target_id = ${runId} AND action IN ('approve', 'reject')`);
const useTool = (name: string, args: object) =>
  lossy('POST', '/api/mcp', {
    jsonrpc: '2.0',
    id: 1,
    method: 'tools/call',
    params: { name, arguments: args },
  });

describe('a decision at a gate', () => {
  test('that waited for its run is found after a lost commit', async () => {
    const workflowId = await engine.define({
      nodes: [
        { id: 'one', kind: 'human_gate' },
        { id: 'two', kind: 'human_gate' },
      ],
      edges: [],
    });
    const runId = await engine.trigger(workflowId);
    await eventually(async () => (await engine.run(runId)).pending_gates.length === 2);
    // Another caller decides the first gate while the request waits for the run, so that it decides the other one.
    const holder = new pg.Client({ connectionString: engine.databaseUrl });
    await holder.connect();
    await holder.query('BEGIN');
    await holder.query('UPDATE runs SET updated_at = now() WHERE id = $1', [runId]);
    const sent = lossy('POST', `/api/runs/${runId}/approve`, {});
    await untilLockWaiters(engine.db, 1, 'IS NOT NULL AS rehearsed');
    await holder.query(
      `UPDATE gates SET status = 'approved', decided_at = now() WHERE (run_id, step_key, round) = (
         SELECT run_id, step_key, round FROM gates WHERE run_id = $1 ORDER BY opened_at, step_key LIMIT 1)`,
      [runId],
    );
    wire.breakAt({ at: 'commit', when: 'answered' });
    await holder.query('COMMIT');
    await holder.end();
    const answer = await sent;
    expect([answer.status, wire.hasBroken(), answer.text]).toEqual([200, true, answer.text]);
    expect(await decisionsOf(runId)).toEqual(['approve']);
  });

  test('is reported as unknown if it cannot be looked up, also by MCP', async () => {
    for (const decide of [
      (runId: string) => lossy('POST', `/api/runs/${runId}/approve`, {}),
      async (runId: string) => {
        const { digest } = (await call('GET', `/api/runs/${runId}/gates/gate`)).body;
        return useTool('approve_run', { run_id: runId, digest });
      },
    ]) {
      const runId = await pausedRun();
      wire.breakAt({ at: 'commit', when: 'answered', thenDown: true });
      const answer = await decide(runId);
      expect([wire.hasBroken(), refused(answer)]).toEqual([true, true]);
      expect(answer.text).toContain('the outcome is unknown');
      wire.mend();
    }
  }, 30_000);
});

describe('a change whose result cannot be read', () => {
  test('is read again after reconnecting', async () => {
    const runId = await pausedRun();
    wire.breakAt({ at: 'SELECT json_agg(json_build_object(', when: 'sent' });
    const answer = await lossy('POST', `/api/runs/${runId}/cancel`);
    expect([wire.hasBroken(), answer.status, answer.body.status]).toEqual([true, 200, 'failed']);
  });

  test('is reported as saved', async () => {
    const { id } = await context.call('POST', '/api/workflows', { name: 'before' });
    wire.breakAfterCommit();
    const answer = await lossy('PUT', `/api/workflows/${id}`, { name: 'later' });
    wire.mend();
    expect([answer.status, answer.body.detail]).toEqual([
      503,
      expect.stringMatching(/^The change was saved, but the database cannot be reached/),
    ]);
    expect((await call('GET', `/api/workflows/${id}`)).body.name).toBe('later');
  });

  test('is reported as saved by MCP', async () => {
    const workflow = await engine.define({
      nodes: [{ id: 'gate', kind: 'human_gate' }],
      edges: [],
    });
    wire.breakAfterCommit();
    const answer = await useTool('run_workflow', { workflow, wait_seconds: 5 });
    wire.mend();
    expect(answer.body.result.isError).toBe(true);
    expect(answer.text).toContain('The change was saved, but the database cannot be reached');
    expect((await call('GET', `/api/workflows/${workflow}/runs`)).body.runs).toHaveLength(1);
  }, 40_000);
});

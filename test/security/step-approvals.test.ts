import { afterAll, beforeAll, expect, test } from '@jest/globals';
import { z } from 'zod';
import { sql } from '#shared/db/pool.ts';
import { startToolServer, type ToolServer } from '#test/fakes/tool-server.ts';
import { echo, edge, eventually } from '#test/support/engine.ts';
import { useEngineApi } from '#test/api/engine-api.ts';
import { addCaller } from '#test/api/people/caller.ts';

// A step that needs approval is executed only under a decision about it in its own run, in every way that a run can start
// or continue. See decision-paths.test.ts for gates.

const { engine, call } = useEngineApi({
  env: { ENCRYPTION_KEY: 'a key of this test, long enough' },
});
let tools: ToolServer;
let runner: { headers: Record<string, string> };
beforeAll(async () => {
  tools = await startToolServer();
  const overrides = { approve_gates: false, publish_workflows: false };
  const { db, actor } = engine;
  runner = await addCaller({ db, workspaceId: actor.workspaceId }, { overrides });
});
afterAll(() => tools.close());

const pay = (approval: unknown, by = 'version 1') =>
  tools.node('pay', {
    params: { url: `${tools.url}/pay`, method: 'POST', body: { amount: '{amount}', by } },
    ...(approval === undefined ? {} : { approval }),
  });
const graphOf = (approval: unknown, by?: string) => ({
  nodes: [echo('terms', 'amount'), pay(approval, by), tools.node('notify')],
  edges: [edge('terms', 'pay'), edge('pay', 'notify')],
});
const paid = (): number => tools.calls('pay').length;
const send = (path: string, body: object, method = 'POST') =>
  call(method, path, body, runner.headers);

async function approveAs(runId: string): Promise<void> {
  await engine.until(runId, ['paused']);
  const { pending_gate: gate } = await engine.run(runId);
  await engine.approve(runId, { digest: gate?.tool_call?.digest });
}

/** Waits until every run has ended or waits, and nothing is queued. */
const settled = (): Promise<void> =>
  eventually(
    async () =>
      !(await engine.db.exists(sql.type(z.object({}))`
        SELECT FROM runs WHERE status IN ('pending', 'running')
        UNION ALL SELECT FROM outbox WHERE kind <> 'alert'
        UNION ALL SELECT FROM background_jobs WHERE status = 'running'`)),
    60_000,
  );

test('no way to start or continue a run executes a step without its own approval', async () => {
  const workflowId = await engine.define(graphOf('always'));
  const path = `/api/workflows/${workflowId}`;
  const version = { graph: graphOf('always', 'version 2') };
  expect((await call('PUT', path, version)).status).toBe(200);
  await send(`${path}/draft`, { graph: graphOf('always', 'draft') }, 'PUT');
  const runId = (await send(`${path}/runs`, { amount: 100 })).body.id as string;
  await approveAs(runId);
  await engine.ended(runId);
  const waiting = (await send(`${path}/runs`, { amount: 5 })).body.id as string;
  await engine.until(waiting, ['paused']);
  const before = paid();
  const allow = ['http_request:POST'];
  const rehearsing = { mode: 'recorded', allow };
  const others = [{ version: 1 }, { version: 2 }, { draft: true }, { input: { amount: 9 } }];
  const requests: [path: string, body: object][] = [
    ...others.map((body): [string, object] => [`/api/runs/${runId}/rerun`, body]),
    ...others.map((body): [string, object] => [
      `/api/runs/${runId}/rerun`,
      { ...rehearsing, ...body },
    ]),
    ...['terms', 'pay', 'notify'].flatMap((from_step) =>
      [{}, { state: { amount: 1_000_000 } }, ...others, rehearsing].map(
        (body): [string, object] => [`/api/runs/${runId}/fork`, { from_step, ...body }],
      ),
    ),
    [`${path}/experiments`, { candidate: { version: 1 }, runs: [runId, waiting], allow }],
    [`${path}/nodes/pay/test`, { state: { amount: 7 }, allow }],
    [`/api/runs/${waiting}/approve`, {}],
    [`/api/runs/${waiting}/resume`, {}],
    [`/api/runs/${runId}/resume`, {}],
  ];
  const statuses = new Map<string, number>();
  for (const [to, body] of requests) {
    const { status } = await send(to, body);
    statuses.set(`${status}`, (statuses.get(`${status}`) ?? 0) + 1);
  }
  await settled();
  expect(paid()).toBe(before);
  expect(Object.fromEntries(statuses)).toEqual({ 200: 1, 201: 29, 403: 1, 409: 2, 422: 1 });
}, 120_000);

test('a version or draft without the approval requires the permission to publish', async () => {
  const workflowId = await engine.define(graphOf(undefined));
  const path = `/api/workflows/${workflowId}`;
  await call('PUT', path, { graph: graphOf({ when: 'always', required: 2 }) });
  const first = await send(`${path}/runs`, { amount: 1 });
  const old = await send(`/api/runs/${first.body.id}/rerun`, { version: 1 });
  const runs = await Promise.all(
    [
      graphOf('always'),
      graphOf('args.body.amount > 100'),
      graphOf({ when: 'always', required: 2, timeout_seconds: 5, on_timeout: 'approve' }),
    ].map(async (graph) => {
      const other = await engine.define(graphOf({ when: 'always', required: 2 }));
      await send(`/api/workflows/${other}/draft`, { graph }, 'PUT');
      return send(`/api/workflows/${other}/runs?draft=true`, { amount: 1 });
    }),
  );
  expect([old, ...runs].map(({ status }) => status)).toEqual([403, 403, 403, 403]);
  expect(runs[0]!.body.detail).toContain("the approval of 'pay'");
});

test('a run that continues from the ledger does so under the approval of its own run', async () => {
  tools.answer('pay', { status: 400 });
  const runId = await engine.start(graphOf('always'), { amount: 6 });
  await approveAs(runId);
  expect(await engine.ended(runId)).toMatchObject({ status: 'failed' });
  const before = paid();
  tools.answer('pay', { status: 200 });
  await engine.db.query(sql.unsafe`UPDATE runs SET from_ledger = true WHERE id = ${runId}`);
  await engine.resume(runId);
  expect(await engine.ended(runId)).toMatchObject({ status: 'success' });
  expect(paid()).toBe(before + 1);
});

import { afterEach, describe, expect, test } from '@jest/globals';
import { z } from 'zod';
import { type Policies, unrestricted } from '#shared/contract/policies/policy.ts';
import { replacePolicies } from '#shared/db/policies/policies.ts';
import { sql } from '#shared/db/pool.ts';
import { rerunRun } from '#shared/operations/forks/forks.ts';
import { startToolServer } from '#test/fakes/tool-server.ts';
import { chain, echo, edge, eventually, mock, startEngine } from '#test/support/engine.ts';
import { useStage } from '#test/support/stage.ts';

const tools = useStage(startToolServer);
const engine = useStage(async () => {
  const started = await startEngine();
  await started.startWorker();
  return started;
});
afterEach(() => set([]));

const set = (limits: Policies['limits'], rest: Partial<Policies> = {}) =>
  replacePolicies(engine.db, engine.actor, { ...unrestricted, limits, ...rest });
const waiting = async (runId: string) => (await engine.run(runId)).waiting;
const waits = (runId: string) => eventually(async () => (await waiting(runId)).length > 0);
const rows = (table: 'limited_calls' | 'call_waits') =>
  engine.db.oneFirst(sql.type(z.object({ n: z.number() }))`
    SELECT count(*) AS n FROM ${sql.identifier([table])}`);
const graphOf = (name: string, rest: object = {}) => ({
  nodes: [tools.node(name, rest)],
  edges: [],
});
const called = (name: string, times: number) => eventually(() => tools.calls(name).length >= times);

test('a step without a free call waits without an attempt, and begins when another ends', async () => {
  await set([{ tools: ['http_request'], concurrency: 1 }]);
  const release = tools.hold('one');
  const workflowId = await engine.define(graphOf('one') as never);
  const first = await engine.trigger(workflowId);
  await called('one', 1);
  const second = await engine.trigger(workflowId);
  await waits(second);
  const held = await engine.run(second);
  expect(held).toMatchObject({
    status: 'running',
    steps: [],
    waiting: [
      {
        for: 'limit',
        node_id: 'one',
        step_key: 'one',
        limit: { name: 'http_request', key: null, concurrency: 1, per_minute: null },
      },
    ],
  });
  release();
  await engine.until(first, ['success']);
  const run = await engine.until(second, ['success']);
  expect(run.waiting).toEqual([]);
  expect(run.steps[0]).toMatchObject({ status: 'success', attempt: 1 });
  // It was queued while it waited.
  const waited =
    Date.parse(run.steps[0]?.started_at ?? '') - Date.parse(held.waiting[0]?.since ?? '');
  expect(run.steps[0]?.queued_ms).toBeGreaterThanOrEqual(waited);
  expect(tools.calls('one')).toHaveLength(2);
  // A call is free as soon as the record says that the step has ended.
  expect(await rows('limited_calls')).toBe(0);
  expect(await rows('call_waits')).toBe(0);
});

test('steps of many runs on two workers never have more calls in flight, and all begin', async () => {
  await set([{ tools: ['http_request'], concurrency: 3 }]);
  tools.answer('many', { delayMs: 20 });
  const workflowId = await engine.define({
    nodes: [{ id: 'map', kind: 'map', items: 'items', concurrency: 10 }, tools.node('many')],
    edges: [edge('map', 'many', 'true'), edge('many', 'map')],
  } as never);
  const items = Array.from({ length: 10 }, (_, n) => n);
  const runs = await Promise.all(
    Array.from({ length: 3 }, () => engine.trigger(workflowId, { items })),
  );
  for (const runId of runs) await engine.until(runId, ['success'], 60_000);
  expect(tools.calls('many')).toHaveLength(30);
  // By the ledger: the attempts that overlap at the start of each.
  const overlap = await engine.db.oneFirst(sql.type(z.object({ n: z.number() }))`
    SELECT max(n) AS n FROM (
      SELECT (SELECT count(*) FROM steps o WHERE o.node_id = 'many' AND o.started_at <= s.started_at
                AND o.finished_at > s.started_at) AS n
      FROM steps s WHERE s.node_id = 'many') AS starts`);
  expect(overlap).toBeLessThanOrEqual(3);
  expect(await rows('limited_calls')).toBe(0);
});

test('each value of the key has calls of its own, and is shown redacted', async () => {
  await set([{ tools: ['http_request'], concurrency: 1, key: '{args.body.customer}' }], {
    redaction: { detectors: ['email'], patterns: [] },
  });
  const release = tools.hold('keyed');
  const workflowId = await engine.define(
    graphOf('keyed', {
      params: { url: `${tools.url}/keyed`, method: 'POST', body: { customer: '{customer}' } },
    }) as never,
  );
  const start = (customer: string) => engine.trigger(workflowId, { customer });
  const ann = await start('ann@example.com');
  const bob = await start('bob@example.com');
  await called('keyed', 2);
  const again = await start('ann@example.com');
  await waits(again);
  expect((await waiting(again))[0]?.limit).toMatchObject({ key: '[REDACTED:email]' });
  release();
  for (const runId of [ann, bob, again]) await engine.until(runId, ['success']);
});

describe('a step that waits for a free call', () => {
  const holding = async (name: string) => {
    await set([{ tools: ['http_request'], concurrency: 1 }]);
    const release = tools.hold(name);
    const holder = await engine.start(graphOf(name) as never);
    await called(name, 1);
    return { release, holder };
  };

  test('ends when its run is cancelled, and waits again when that is resumed', async () => {
    const { release, holder } = await holding('cancelled');
    const runId = await engine.start(graphOf('cancelled') as never);
    await waits(runId);
    await engine.cancel(runId);
    expect(await rows('call_waits')).toBe(0);
    await engine.until(runId, ['failed']);
    await engine.carriedOut(runId);
    await engine.resume(runId);
    await waits(runId);
    release();
    await engine.until(holder, ['success']);
    await engine.until(runId, ['success']);
    expect(tools.calls('cancelled')).toHaveLength(2);
  });

  test('leaves a run paused at a gate as it is', async () => {
    const { release, holder } = await holding('paused');
    const runId = await engine.start({
      nodes: [{ id: 'gate', kind: 'human_gate' }, tools.node('paused')],
      edges: [],
    });
    await waits(runId);
    await engine.until(runId, ['paused']);
    const paused = (await engine.frames(runId)).filter(({ type }) => type === 'run_paused').length;
    expect(paused).toBe(1);
    release();
    await engine.until(holder, ['success']);
    await called('paused', 2);
    await eventually(async () => (await engine.run(runId)).status === 'paused');
    await engine.approve(runId);
    await engine.until(runId, ['success']);
  });

  test('begins without a limit when the policies no longer have one', async () => {
    const { release, holder } = await holding('lifted');
    const runId = await engine.start(graphOf('lifted') as never);
    await waits(runId);
    await set([]);
    await called('lifted', 2);
    expect(await rows('call_waits')).toBe(0);
    release();
    await engine.until(holder, ['success']);
    await engine.until(runId, ['success']);
  });

  test('is refused when a policy forbids it meanwhile', async () => {
    const { release, holder } = await holding('forbidden');
    const runId = await engine.start(graphOf('forbidden') as never);
    await waits(runId);
    const tool = { tool: 'http_request', allowed_workflow_ids: [] };
    await set([], { tools: [tool] });
    const run = await engine.until(runId, ['failed']);
    expect(run.error).toContain("Tool 'http_request' is not allowed in this workflow");
    expect(await rows('call_waits')).toBe(0);
    release();
    await engine.until(holder, ['success']);
  });

  test('does not begin in a run that fails, and not after that', async () => {
    const { release, holder } = await holding('failing');
    const runId = await engine.start({
      nodes: [tools.node('failing'), mock('broken', { output: 'b', fail_times: 1 })],
      edges: [],
    });
    await engine.until(runId, ['failed']);
    expect(await rows('call_waits')).toBe(0);
    release();
    await engine.until(holder, ['success']);
    expect(tools.calls('failing')).toHaveLength(1);
  });

  test('lets other branches of its run continue', async () => {
    const { release, holder } = await holding('beside');
    const runId = await engine.start({
      nodes: [tools.node('beside'), echo('a'), echo('b')],
      edges: [edge('a', 'b')],
    });
    await waits(runId);
    await eventually(async () =>
      (await engine.run(runId)).steps.some(
        ({ step_key, status }) => step_key === 'b' && status === 'success',
      ),
    );
    release();
    await engine.until(holder, ['success']);
    await engine.until(runId, ['success']);
  });
});

describe('models and agents', () => {
  test('turns of agents wait for a free call of their model, and calls for one of their tool', async () => {
    await set([
      { models: ['mock'], concurrency: 1 },
      { tools: ['http_*'], concurrency: 1 },
    ]);
    const release = tools.hold('used');
    const agent = mock(
      'agent',
      {
        turns: [
          {
            calls: [1, 2].map(() => ({
              tool: 'http_request',
              arguments: { url: `${tools.url}/used`, method: 'GET' },
            })),
          },
          { output: 'done' },
        ],
      } as never,
      { tools: ['http_request'] },
    );
    const runId = await engine.start({ nodes: [agent], edges: [] });
    await called('used', 1);
    await waits(runId);
    expect(await waiting(runId)).toMatchObject([{ limit: { name: 'http_request' } }]);
    expect(tools.calls('used')).toHaveLength(1);
    release();
    const run = await engine.until(runId, ['success']);
    expect(run.output).toEqual({ agent: 'done' });
    expect(tools.calls('used')).toHaveLength(2);
    expect(await rows('limited_calls')).toBe(0);
  });

  test('a call whose agent has failed leaves the queue, and is not made', async () => {
    await set([{ tools: ['http_request'], concurrency: 1 }]);
    const release = tools.hold('unwanted');
    const holder = await engine.start(graphOf('unwanted') as never);
    await called('unwanted', 1);
    const fails = { tool: 'source_report', arguments: { ok: true, source_id: 'src_none' } };
    const call = { tool: 'http_request', arguments: { url: `${tools.url}/unwanted` } };
    const agent = mock('agent', { turns: [{ calls: [call, fails] }] } as never, {
      tools: ['http_request', { name: 'source_report', on_error: 'fail' }],
    });
    const runId = await engine.start({
      nodes: [agent, { id: 'gate', kind: 'human_gate' }],
      edges: [edge('agent', 'gate', 'error')],
    });
    await engine.until(runId, ['paused']);
    await eventually(async () => (await rows('call_waits')) === 0);
    release();
    await engine.until(holder, ['success']);
    await engine.approve(runId);
    await engine.until(runId, ['success']);
    expect(tools.calls('unwanted')).toHaveLength(1);
  });

  test('calls per minute also count models that have answered', async () => {
    await set([{ models: ['mock'], per_minute: 1 }]);
    const first = await engine.start(chain(mock('a', { output: 'a' })));
    await engine.until(first, ['success']);
    const second = await engine.start(chain(mock('a', { output: 'a' })));
    await waits(second);
    await engine.db.query(sql.unsafe`
      UPDATE limited_calls SET taken_at = taken_at - interval '1 minute'`);
    await set([{ models: ['mock'], per_minute: 2 }]);
    await engine.until(second, ['success']);
  });

  test('what a rehearsal takes from the record is not limited', async () => {
    const workflowId = await engine.define(chain(mock('a', { output: 'a' })));
    const runId = await engine.trigger(workflowId);
    await engine.until(runId, ['success']);
    await set([{ models: ['mock'], per_minute: 1 }]);
    await engine.until(await engine.trigger(workflowId), ['success']);
    await waits(await engine.trigger(workflowId));
    const again = await rerunRun(engine.deps, {
      ...{ actor: engine.actor, runId, trigger: 'manual', mode: 'recorded' },
    });
    await engine.until(again.runId, ['success']);
  });
});

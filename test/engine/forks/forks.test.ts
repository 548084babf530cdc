import { afterAll, afterEach, beforeAll, beforeEach, describe, expect, test } from '@jest/globals';
import type { GraphInput } from '../../../shared/contract/graph.ts';
import type { Run } from '../../../shared/contract/run.ts';
import type { JsonObject } from '../../../shared/json.ts';
import { updateWorkflow } from '../../../shared/db/workflows/workflows.ts';
import { forkRun, type ForkRequest } from '../../../shared/operations/runs/forks.ts';
import { decideGate } from '../../../shared/operations/runs/runs.ts';
import { startToolServer, type ToolServer } from '../../fakes/tool-server.ts';
import { echo, edge, type Engine, mock, startEngine } from '../../support/engine.ts';
import { call, childrenOf } from '../../support/sub-workflows.ts';

let engine: Engine;
let tools: ToolServer;
beforeAll(async () => {
  engine = await startEngine();
});
afterAll(() => engine.close());
beforeEach(async () => {
  tools = await startToolServer();
});
afterEach(() => tools.close());

const ended = (runId: string) => engine.until(runId, ['success', 'failed']);
const start = async (graph: GraphInput, input: JsonObject = {}) =>
  engine.trigger(await engine.define(graph), input);
const act = (runId: string) => ({ actor: engine.actor, runId });

async function fork(runId: string, fromStep: string, rest: Partial<ForkRequest> = {}) {
  const forked = await forkRun(engine.deps, {
    ...act(runId),
    trigger: 'manual',
    fromStep,
    ...rest,
  });
  await forked.dispatched;
  return forked;
}

const chain = (...nodes: { id: string }[]): GraphInput => ({
  nodes: nodes as never,
  edges: nodes.slice(1).map((node, at) => edge(nodes[at]!.id, node.id)),
});

const reused = ({ steps }: Run) =>
  steps.filter((step) => step.reused_from !== undefined).map(({ step_key }) => step_key);
const executed = ({ steps }: Run) =>
  steps.filter((step) => step.reused_from === undefined).map(({ step_key }) => step_key);
/** Responses have a date. */
const undated = (value: unknown): unknown =>
  JSON.parse(JSON.stringify(value, (key, part: unknown) => (key === 'date' ? undefined : part)));
const callsTo = (...names: string[]) => names.map((name) => tools.calls(name).length);

describe('a fork', () => {
  test('reuses what was finished before its step, and executes the rest', async () => {
    const source = await ended(
      await start(
        chain(
          mock('ask', { output: 'Hello {who}', cost_usd: 0.5 }),
          tools.node('first'),
          tools.node('second'),
          echo('last', 'ask'),
        ),
        { who: 'Ada' },
      ),
    );
    const { runId, notReused } = await fork(source.id, 'second');
    const forked = await ended(runId);
    expect(notReused).toEqual([]);
    expect(forked).toMatchObject({
      ...{ status: 'success', forked_from: source.id, forked_from_step: 'second' },
      ...{ trigger: 'manual', cost_usd: 0, output: source.output },
      ...{ input: { who: 'Ada' }, workflow_version: 1, of_draft: false },
    });
    expect(undated(forked.state)).toEqual(undated(source.state));
    expect(reused(forked)).toEqual(['ask', 'first']);
    expect(executed(forked)).toEqual(['second', 'last']);
    expect(forked.steps[0]).toMatchObject({
      ...{ status: 'success', output: 'Hello Ada', reused_from: source.id, cost_usd: 0 },
      ...{ attempt: 1, duration_ms: 0 },
    });
    expect(callsTo('first', 'second')).toEqual([1, 2]);
    expect(
      (await engine.frames(runId)).map(({ type, ...frame }) => [
        type,
        (frame as { node_id?: string }).node_id,
      ]),
    ).toEqual([
      ...[
        ['step_started', 'second'],
        ['step_completed', 'second'],
      ],
      ...[
        ['step_started', 'last'],
        ['step_completed', 'last'],
        ['run_completed', undefined],
      ],
    ]);
    expect((await engine.run(source.id)).steps).toEqual(source.steps);
  });

  test('of a fork says which run executed each step', async () => {
    const source = await ended(
      await start(chain(echo('a', '1'), echo('b', 'a + 1'), echo('c', 'b + 1'))),
    );
    const first = await ended((await fork(source.id, 'b')).runId);
    const second = await ended((await fork(first.id, 'c')).runId);
    expect(second.steps.map((step) => step.reused_from)).toEqual([source.id, first.id, undefined]);
    expect(second).toMatchObject({ forked_from: first.id, output: { c: 3 } });
  });

  test('lays a state over that of its step, and its own forks keep it', async () => {
    const source = await ended(
      await start(
        chain(
          echo('tone', "'formal'"),
          { id: 'ok', kind: 'condition', expression: "tone == 'formal'" } as never,
          echo('answer', "tone + ' ' + note"),
          echo('last', "answer + '!'"),
        ),
        { note: 'n' },
      ),
    );
    const forked = await ended(
      (await fork(source.id, 'answer', { state: { tone: 'kind', note: 'm' } })).runId,
    );
    expect(forked).toMatchObject({
      output: { last: 'kind m!' },
      state: { tone: 'kind', note: 'm' },
    });
    const again = await ended((await fork(forked.id, 'last')).runId);
    expect(again).toMatchObject({
      output: { last: 'kind m!' },
      state: { tone: 'kind', note: 'm' },
    });
    expect(executed(again)).toEqual(['ok', 'last']);
    const earlier = await ended((await fork(forked.id, 'tone')).runId);
    expect(earlier.output).toEqual({ last: 'formal n!' });
  });

  test('keeps parallel branches that do not depend on its step', async () => {
    const source = await ended(
      await start({
        nodes: [
          tools.node('left'),
          tools.node('right'),
          { id: 'join', kind: 'merge' },
          echo('last', 'join.left.body.name'),
        ],
        edges: [edge('left', 'join'), edge('right', 'join'), edge('join', 'last')],
      }),
    );
    const forked = await ended((await fork(source.id, 'left')).runId);
    expect(forked).toMatchObject({ status: 'success', output: { last: 'left' } });
    expect(reused(forked)).toEqual(['right']);
    expect(callsTo('left', 'right')).toEqual([2, 1]);
  });

  test('begins at an iteration of a loop, an item of a map or a computed step', async () => {
    const source = await ended(
      await start(
        {
          nodes: [
            { id: 'loop', kind: 'loop', expression: 'loop.iterations < 3', max_iterations: 5 },
            tools.node('turn'),
            { id: 'map', kind: 'map', items: 'list' },
            tools.node('item'),
            { id: 'big', kind: 'condition', expression: 'list != null' },
            tools.node('last'),
          ],
          edges: [
            edge('loop', 'turn', 'true'),
            edge('turn', 'loop'),
            edge('loop', 'map'),
            edge('map', 'item', 'true'),
            edge('item', 'map'),
            edge('map', 'big'),
            edge('big', 'last', 'true'),
          ],
        },
        { list: [1, 2, 3] },
      ),
    );
    expect(source).toMatchObject({ status: 'success' });
    const at = async (key: string) => {
      const run = await ended((await fork(source.id, key)).runId);
      expect(run.status).toBe('success');
      expect(undated(run.state)).toEqual(undated(source.state));
      return reused(run);
    };
    expect(await at('turn#2')).toEqual(['turn#1']);
    expect(await at('item#2')).toEqual(expect.arrayContaining(['turn#3', 'item#1', 'item#3']));
    expect(await at('map')).toEqual(['turn#1', 'turn#2', 'turn#3']);
    expect(await at('big')).toHaveLength(6);
    expect(await at('loop')).toEqual([]);
  });

  test('keeps decisions, caught errors and children', async () => {
    tools.answer('flaky', { status: 500 });
    await engine.define({ nodes: [tools.node('inner')], edges: [] }, 'Inner');
    const runId = await start({
      nodes: [
        { id: 'gate', kind: 'human_gate', prompt: 'Go?' },
        tools.node('flaky'),
        tools.node('rescue'),
        call('child', 'Inner'),
        tools.node('last'),
      ],
      edges: [
        edge('gate', 'flaky'),
        edge('flaky', 'rescue', 'error'),
        edge('rescue', 'child'),
        edge('child', 'last'),
      ],
    });
    await engine.until(runId, ['paused']);
    await decideGate(engine.deps, {
      ...act(runId),
      approved: true,
      input: { note: 'fine' },
      reason: 'ok',
    });
    const source = await ended(runId);
    const forked = await ended((await fork(runId, 'last')).runId);
    expect(forked.status).toBe('success');
    expect(undated(forked.state)).toEqual(undated(source.state));
    expect(reused(forked)).toEqual(['gate', 'flaky', 'rescue', 'child']);
    const byKey = Object.fromEntries(forked.steps.map((step) => [step.step_key, step]));
    expect(byKey['gate']).toMatchObject({ decision: { approved: true, reason: 'ok' } });
    expect(byKey['flaky']).toMatchObject({ status: 'failed', caught: true });
    expect(byKey['child']!.child_run_id).toBeUndefined();
    expect(callsTo('flaky', 'rescue', 'inner', 'last')).toEqual([1, 1, 1, 2]);
    const asked = await engine.until((await fork(runId, 'gate')).runId, ['paused']);
    expect(asked.pending_gates).toMatchObject([{ step_key: 'gate' }]);
    const started = await ended((await fork(runId, 'child')).runId);
    expect(await childrenOf(engine, started.id)).toHaveLength(1);
  });

  test('of a failed run continues it with another version', async () => {
    tools.answer('call', { status: 500 });
    const broken = chain(
      tools.node('before'),
      tools.node('call'),
      echo('last', 'before.body.name'),
    );
    const id = await engine.define(broken);
    const source = await ended(await engine.trigger(id));
    expect(source.status).toBe('failed');
    const mended = chain(tools.node('before'), echo('call', "'mended'"), echo('last', 'call'));
    await updateWorkflow(engine.db, engine.actor, id, { graph: mended as never });
    const forked = await ended((await fork(source.id, 'call', { version: 2 })).runId);
    expect(forked).toMatchObject({
      status: 'success',
      workflow_version: 2,
      output: { last: 'mended' },
    });
    expect(reused(forked)).toEqual(['before']);
    expect(callsTo('before')).toEqual([1]);
  });
});

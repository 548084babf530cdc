import { describe, expect, test } from '@jest/globals';
import type { Run } from '#shared/contract/runs/run.ts';
import { replaceChecks, updateWorkflow } from '#shared/db/workflows/workflows.ts';
import { forkRun, type ForkRequest } from '#shared/operations/forks/forks.ts';
import { useToolServer } from '#test/fakes/tool-server.ts';
import { chain, echo, edge, eventually, mock, useEngine } from '#test/support/engine.ts';
import { soakTest } from '#test/support/soak.ts';
import { call, childrenOf } from '#test/support/sub-workflows.ts';
import { fetchHistory } from '#test/engine/histories.ts';

const engine = useEngine();
const tools = useToolServer();

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
    const source = await engine.ended(
      await engine.start(
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
    const forked = await engine.ended(runId);
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
    const source = await engine.ended(
      await engine.start(chain(echo('a', '1'), echo('b', 'a + 1'), echo('c', 'b + 1'))),
    );
    const first = await engine.ended((await fork(source.id, 'b')).runId);
    const second = await engine.ended((await fork(first.id, 'c')).runId);
    expect(second.steps.map((step) => step.reused_from)).toEqual([source.id, first.id, undefined]);
    expect(second).toMatchObject({ forked_from: first.id, output: { c: 3 } });
  });

  test('merges a state into that of its step, and its own forks keep it', async () => {
    const source = await engine.ended(
      await engine.start(
        chain(
          echo('tone', "'formal'"),
          { id: 'ok', kind: 'condition', expression: "tone == 'formal'" } as never,
          echo('answer', "tone + ' ' + note"),
          echo('last', "answer + '!'"),
        ),
        { note: 'n' },
      ),
    );
    const forked = await engine.ended(
      (await fork(source.id, 'answer', { state: { tone: 'kind', note: 'm' } })).runId,
    );
    expect(forked).toMatchObject({
      output: { last: 'kind m!' },
      state: { tone: 'kind', note: 'm' },
    });
    const again = await engine.ended((await fork(forked.id, 'last')).runId);
    expect(again).toMatchObject({
      output: { last: 'kind m!' },
      state: { tone: 'kind', note: 'm' },
    });
    expect(executed(again)).toEqual(['ok', 'last']);
    const earlier = await engine.ended((await fork(forked.id, 'tone')).runId);
    expect(earlier.output).toEqual({ last: 'formal n!' });
  });

  soakTest('leaves the thread to other runs between large outputs', async () => {
    const names = ['one', 'two', 'three', 'four'];
    const rows = Array.from({ length: 30_000 }, (_each, n) => ({ n, name: `row ${n}` }));
    for (const name of names) tools.answer(name, { body: rows });
    const source = await engine.ended(
      await engine.start(
        chain(...names.map((name) => tools.node(name)), echo('last', 'len(four.body)')),
      ),
    );
    const value = 'len(one.body) == 30000 and four.body[1].n == 1';
    await replaceChecks(engine.db, engine.actor, source.workflow_id, [
      { name: 'rows', type: 'expression', value },
    ]);
    const forked = await engine.ended((await fork(source.id, 'last')).runId);
    expect(forked.evals).toMatchObject({ passed: 1, total: 1 });
    expect(reused(forked)).toEqual(names);
    expect(forked).toMatchObject({ status: 'success', output: { last: rows.length } });
    expect(undated(forked.state)).toEqual(undated(source.state));
    const { events } = await fetchHistory(engine, forked.id);
    // A timer after each: a workflow task parses one.
    expect(events?.filter((event) => event.timerStartedEventAttributes != null)).toHaveLength(4);
  });

  test('keeps parallel branches that do not depend on its step', async () => {
    const source = await engine.ended(
      await engine.start({
        nodes: [
          tools.node('left'),
          tools.node('right'),
          { id: 'join', kind: 'merge' },
          echo('last', 'join.left.body.name'),
        ],
        edges: [edge('left', 'join'), edge('right', 'join'), edge('join', 'last')],
      }),
    );
    const forked = await engine.ended((await fork(source.id, 'left')).runId);
    expect(forked).toMatchObject({ status: 'success', output: { last: 'left' } });
    expect(reused(forked)).toEqual(['right']);
    expect(callsTo('left', 'right')).toEqual([2, 1]);
  });

  soakTest('begins at an iteration of a loop, an item of a map or a computed step', async () => {
    const source = await engine.ended(
      await engine.start(
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
      const run = await engine.ended((await fork(source.id, key)).runId);
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

  test('asks gates again, and then reuses caught errors and children', async () => {
    tools.answer('flaky', { status: 500 });
    await engine.define(chain(tools.node('inner')), 'Inner');
    const runId = await engine.start({
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
    await engine.approve(runId, { input: { note: 'fine' }, reason: 'ok' });
    const source = await engine.ended(runId);
    const { runId: forkId, notReused } = await fork(runId, 'last');
    expect(notReused).toMatchObject([
      { step_key: 'gate', reason: expect.stringContaining('asked again') },
    ]);
    const waiting = await engine.until(forkId, ['paused']);
    expect(waiting.steps.map(({ step_key }) => step_key)).toEqual(['gate']);
    await engine.approve(forkId, { input: { note: 'fine' } });
    const forked = await engine.ended(forkId);
    expect(forked.status).toBe('success');
    expect(undated(forked.state)).toEqual(undated(source.state));
    expect(reused(forked)).toEqual(['flaky', 'rescue', 'child']);
    const byKey = Object.fromEntries(forked.steps.map((step) => [step.step_key, step]));
    expect(byKey['gate']).toMatchObject({ decision: { approved: true, reason: null } });
    expect(byKey['flaky']).toMatchObject({ status: 'failed', caught: true });
    expect(byKey['child']!.child_run_id).toBeUndefined();
    expect(callsTo('flaky', 'rescue', 'inner', 'last')).toEqual([1, 1, 1, 2]);
    const asked = await engine.until((await fork(runId, 'gate')).runId, ['paused']);
    expect(asked.pending_gates).toMatchObject([{ step_key: 'gate' }]);
    const again = (await fork(runId, 'child')).runId;
    await engine.until(again, ['paused']);
    await engine.approve(again);
    const started = await engine.ended(again);
    expect(await childrenOf(engine, started.id)).toHaveLength(1);
  });

  test('keeps a decision behind which nothing is executed', async () => {
    const runId = await engine.start({
      nodes: [
        { id: 'gate', kind: 'human_gate', prompt: 'Go?' },
        { id: 'big', kind: 'condition', expression: 'true' },
        tools.node('left'),
      ],
      edges: [edge('gate', 'big')],
    });
    await engine.until(runId, ['paused']);
    await engine.approve(runId);
    const source = await engine.ended(runId);
    const forked = await engine.ended((await fork(source.id, 'left')).runId);
    expect(forked.steps[0]).toMatchObject({
      ...{ step_key: 'gate', reused_from: runId, decision: { approved: true, by_kind: 'member' } },
    });
    expect(callsTo('left')).toEqual([2]);
  });

  test('starts no item of a map that an error kept from starting, since no one is asked again', async () => {
    const releaseOne = tools.hold('one');
    const releaseBeside = tools.hold('beside');
    tools.answer('two', { status: 400 });
    const runId = await engine.start(
      {
        nodes: [
          { id: 'gate', kind: 'human_gate', prompt: 'Send them?' },
          { id: 'each', kind: 'map', items: 'names', concurrency: 2 },
          tools.node('send', { params: { url: `${tools.url}/{each.item}`, method: 'POST' } }),
          echo('failed'),
          tools.node('left'),
          tools.node('beside'),
          echo('after'),
        ],
        edges: [
          ...[edge('gate', 'beside', 'true'), edge('beside', 'after')],
          ...[edge('gate', 'each', 'true'), edge('each', 'send', 'true'), edge('send', 'each')],
          edge('each', 'failed', 'error'),
        ],
      },
      { names: ['one', 'two', 'three'] },
    );
    await engine.until(runId, ['paused']);
    await engine.approve(runId);
    const has = async (node: string, status: string) =>
      (await engine.run(runId)).steps.some(
        (step) => step.node_id === node && step.status === status,
      );
    await eventually(async () => await has('send', 'failed'));
    // A step is in the record before the workflow knows of it. It has handled the failure when a later one has led to more.
    releaseBeside();
    await eventually(async () => await has('after', 'success'));
    releaseOne();
    await engine.ended(runId);
    expect(callsTo('one', 'two', 'three', 'left')).toEqual([1, 1, 0, 1]);
    const forked = await engine.ended((await fork(runId, 'left')).runId);
    expect(executed(forked).toSorted()).toEqual(['each', 'left']);
    expect(callsTo('one', 'two', 'three', 'left')).toEqual([1, 1, 0, 2]);
  });

  soakTest('shows its state at the gate, and pays only after an approval', async () => {
    const graph = chain(
      { id: 'gate', kind: 'human_gate', prompt: 'Pay {amount}?' } as never,
      tools.node('pay', {
        params: { url: `${tools.url}/pay`, method: 'POST', body: '{amount}' },
      }),
      tools.node('notify'),
    );
    const runId = await engine.start(graph, { amount: 100 });
    await engine.until(runId, ['paused']);
    await engine.approve(runId);
    await engine.ended(runId);
    const same = (await fork(runId, 'notify')).runId;
    await engine.until(same, ['paused']);
    await engine.approve(same);
    expect(reused(await engine.ended(same))).toEqual(['pay']);
    expect(callsTo('pay', 'notify')).toEqual([1, 2]);
    const { runId: more, notReused } = await fork(runId, 'notify', {
      state: { amount: 1_000_000 },
    });
    expect(notReused).toMatchObject([
      { step_key: 'pay', reason: 'its input has changed' },
      { step_key: 'gate' },
    ]);
    const asked = await engine.until(more, ['paused']);
    expect(asked.pending_gates).toMatchObject([{ prompt: 'Pay 1000000?' }]);
    await engine.decide(more, { approved: false });
    expect(await engine.ended(more)).toMatchObject({ status: 'failed' });
    expect(callsTo('pay', 'notify')).toEqual([1, 2]);
    const first = await engine.until((await fork(runId, 'pay', { state: { amount: 5 } })).runId, [
      'paused',
    ]);
    expect(first.pending_gates).toMatchObject([{ prompt: 'Pay 5?' }]);
  });

  soakTest('asks only the latest gate of a loop, and each in items of a map', async () => {
    const runId = await engine.start(
      {
        nodes: [
          { id: 'loop', kind: 'loop', expression: 'loop.iterations < 3', max_iterations: 5 },
          { id: 'ok', kind: 'human_gate', prompt: 'Go?' },
          tools.node('turn'),
          { id: 'map', kind: 'map', items: 'list' },
          { id: 'each', kind: 'human_gate', prompt: '{map.item}?' },
          tools.node('item'),
        ],
        edges: [
          edge('loop', 'ok', 'true'),
          edge('ok', 'turn'),
          edge('turn', 'loop'),
          edge('loop', 'map'),
          edge('map', 'each', 'true'),
          edge('each', 'item'),
          edge('item', 'map'),
        ],
      },
      { list: ['a', 'b'] },
    );
    const approveAll = async (id: string): Promise<string[]> => {
      const keys: string[] = [];
      for (;;) {
        const run = await engine.until(id, ['paused', 'success', 'failed']);
        const [gate] = run.pending_gates;
        if (run.status !== 'paused' || gate === undefined) return keys;
        keys.push(gate.step_key);
        await engine.approve(id, { stepKey: gate.step_key });
      }
    };
    expect(await approveAll(runId)).toHaveLength(5);
    const forked = (await fork(runId, 'item#2')).runId;
    // The gate of the other item leads to nothing that is executed.
    expect(await approveAll(forked)).toEqual(['ok#3', 'each#1', 'each#2']);
    expect(callsTo('turn', 'item')).toEqual([3, 3]);
  });

  soakTest('reuses approved calls with their turns, and asks for later ones', async () => {
    const asks = (path: string) => ({
      tool: 'http_request',
      arguments: { url: `${tools.url}/${path}` },
    });
    const agent = {
      ...{ id: 'ag', kind: 'agent', model: 'mock', prompt: 'Pay' },
      tools: [{ name: 'http_request', approval: 'always' }],
      mock: { turns: [{ calls: [asks('one')] }, { calls: [asks('two')] }, { output: 'paid' }] },
    };
    const gate = { id: 'gate', kind: 'human_gate', prompt: 'Go?' } as never;
    const runId = await engine.start(chain(gate, agent, tools.node('notify')));
    const approveNext = async (id: string): Promise<string> => {
      const { pending_gates: gates } = await engine.until(id, ['paused']);
      const { step_key: stepKey, tool_call: asked } = gates[0]!;
      const digest = asked === undefined ? {} : { digest: asked.digest };
      await engine.approve(id, { stepKey, ...digest });
      await engine.carriedOut(id);
      return stepKey;
    };
    for (const key of ['gate', 'ag/1.1', 'ag/2.1']) expect(await approveNext(runId)).toBe(key);
    await engine.ended(runId);
    const whole = (await fork(runId, 'notify')).runId;
    expect(await approveNext(whole)).toBe('gate');
    const again = await engine.ended(whole);
    expect(again.status).toBe('success');
    expect(executed(again)).toEqual(['gate', 'ag', 'notify']);
    expect(callsTo('one', 'two', 'notify')).toEqual([1, 1, 2]);
    const later = (await fork(runId, 'ag/2')).runId;
    for (const key of ['gate', 'ag/2.1']) expect(await approveNext(later)).toBe(key);
    expect((await engine.ended(later)).status).toBe('success');
    expect(callsTo('one', 'two', 'notify')).toEqual([1, 2, 3]);
  });

  soakTest('continues an agent behind an approved call', async () => {
    const asks = { tool: 'http_request', arguments: { url: `${tools.url}/pay` } };
    const agent = {
      ...{ id: 'ag', kind: 'agent', model: 'mock', prompt: 'Pay' },
      tools: [{ name: 'http_request', approval: 'always' }],
      mock: { turns: [{ calls: [asks] }, { output: 'paid' }] },
    };
    const runId = await engine.start(chain(agent));
    const { pending_gates: gates } = await engine.until(runId, ['paused']);
    const { digest } = gates[0]!.tool_call!;
    await engine.approve(runId, { digest });
    await engine.ended(runId);
    const forked = await engine.ended((await fork(runId, 'ag/2')).runId);
    expect(forked).toMatchObject({ status: 'success', output: { ag: 'paid' } });
    expect(reused(forked)).toEqual(['ag/1', 'ag/1.1']);
    expect(callsTo('pay')).toEqual([1]);
  });

  test('starts a run again if a gate in it was decided', async () => {
    const inner = chain({ id: 'ok', kind: 'human_gate', prompt: 'Go?' } as never, echo('yes', '1'));
    await engine.define(inner, 'Asks');
    const runId = await engine.start(chain(call('child', 'Asks'), tools.node('pay')));
    const approveChild = async (parent: string): Promise<void> => {
      await eventually(async () => (await childrenOf(engine, parent))[0]?.status === 'paused');
      const [child] = await childrenOf(engine, parent);
      await engine.approve(child!.id);
    };
    await approveChild(runId);
    await engine.ended(runId);
    const { runId: forked, notReused } = await fork(runId, 'pay');
    expect(notReused).toMatchObject([
      { step_key: 'child', reason: expect.stringContaining('started again') },
    ]);
    expect(callsTo('pay')).toEqual([1]);
    await approveChild(forked);
    expect((await engine.ended(forked)).status).toBe('success');
    expect(callsTo('pay')).toEqual([2]);
  });

  test('of a failed run continues it with another version', async () => {
    tools.answer('call', { status: 500 });
    const broken = chain(
      tools.node('before'),
      tools.node('call'),
      echo('last', 'before.body.name'),
    );
    const id = await engine.define(broken);
    const source = await engine.ended(await engine.trigger(id));
    expect(source.status).toBe('failed');
    const mended = chain(tools.node('before'), echo('call', "'mended'"), echo('last', 'call'));
    await updateWorkflow(engine.db, engine.actor, id, { graph: mended as never });
    const forked = await engine.ended((await fork(source.id, 'call', { version: 2 })).runId);
    expect(forked).toMatchObject({
      status: 'success',
      workflow_version: 2,
      output: { last: 'mended' },
    });
    expect(reused(forked)).toEqual(['before']);
    expect(callsTo('before')).toEqual([1]);
  });
});

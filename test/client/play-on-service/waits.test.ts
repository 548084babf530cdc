import { describe, expect, test } from '@jest/globals';
import { play } from '#client/testing.ts';
import { createCallbackTokens } from '#shared/crypto/callback-tokens.ts';
import { sendEvent } from '#shared/operations/events/events.ts';
import { acceptCallback } from '#shared/operations/waits/callbacks.ts';
import type { GraphInput } from '#shared/contract/workflows/graph.ts';
import type { Json, JsonObject } from '#shared/json.ts';
import { chain, echo, edge } from '#test/support/engine.ts';
import { useStage } from '#test/support/stage.ts';
import { request, startPlayStage } from './stage.ts';

const stage = useStage(startPlayStage);

const wait = (id: string, rest: JsonObject) => ({ id, kind: 'wait', ...rest }) as never;

describe('a wait', () => {
  const send = (name: string, data: Json, givenId: string) => {
    const { engine } = stage;
    return sendEvent(engine.deps, {
      ...{ workspaceId: engine.actor.workspaceId, name, data, givenId, source: 'api' },
      by: { id: engine.actor.id, name: engine.actor.name },
    });
  };
  const paid = { event: { name: 'invoice.paid', match: 'event.data.invoice == invoice' } };
  /** Of an event, only what its sender gave. */
  const data = echo('data', '[w.name, w.data]');

  test('for a time ends after it', async () => {
    await stage.both({
      graph: chain(wait('w', { seconds: '{pause}' }), echo('b', 'w')),
      input: { pause: 0.1 },
    });
    await stage.both({
      graph: chain(wait('w', { until: '{day}' })),
      ...{ input: { day: 'tomorrow' }, ends: 'failed' },
    });
  });

  test('for an event ends with the first that matches', async () => {
    const events: { name: string; data: JsonObject }[] = [
      { name: 'invoice.paid', data: { invoice: 'A-2' } },
      { name: 'invoice.sent', data: { invoice: 'A-1' } },
      { name: 'invoice.paid', data: { invoice: 'A-1', amount: 3 } },
    ];
    const graph = chain(wait('w', paid), data);
    const input = { invoice: 'A-1' };
    const runId = await stage.engine.start(graph, input);
    await stage.waiting(runId);
    for (const [at, { name, data: given }] of events.entries()) {
      await send(name, given, `match-${at}`);
    }
    const run = await stage.engine.until(runId, ['success']);
    const played = await play(graph, { input, events });
    expect([played.status, played.output]).toEqual([run.status, run.output]);
    const keysOf = (state: JsonObject | null) => Object.keys(state!['w'] as JsonObject).sort();
    expect(keysOf(played.state)).toEqual(keysOf(run.state));
  });

  test('in each item of a map ends with the first of several events', async () => {
    const any: JsonObject[] = [
      { name: 'item.all' },
      { name: 'item.one', match: 'event.data.at == m.item' },
    ];
    const graph = {
      nodes: [
        { id: 'm', kind: 'map', items: '[1, 2, 3]', concurrency: 3 },
        ...[wait('w', { any }), echo('b', 'w.data')],
      ],
      edges: [edge('m', 'w', 'true'), edge('w', 'b'), edge('b', 'm')],
    } as GraphInput;
    const runId = await stage.engine.start(graph);
    await stage.waiting(runId, 3);
    await send('item.one', { at: 2 }, 'item-1');
    await stage.waiting(runId, 2);
    await send('item.all', { last: true }, 'item-2');
    const run = await stage.engine.until(runId, ['success']);
    const events = [
      { name: 'item.one', data: { at: 2 } },
      { name: 'item.all', data: { last: true }, after_seconds: 1 },
    ];
    const played = await play(graph, { events });
    expect([played.status, played.output]).toEqual([run.status, run.output]);
    expect(run.output).toEqual({ m: [{ last: true }, { at: 2 }, { last: true }] });
  });

  test('in a loop takes one event after another', async () => {
    const graph = {
      nodes: [
        { id: 'l', kind: 'loop', expression: 'l.iterations < 2', max_iterations: 5 },
        ...[wait('w', { event: { name: 'ticked' } }), echo('b', 'w.data')],
      ],
      edges: [edge('l', 'w', 'true'), edge('w', 'b'), edge('b', 'l')],
    } as GraphInput;
    const runId = await stage.engine.start(graph);
    await stage.waiting(runId);
    const events = [1, 2].map((at) => ({ name: 'ticked', data: { at } }));
    for (const { name, data: given } of events) await send(name, given, `tick-${given.at}`);
    const run = await stage.engine.until(runId, ['success']);
    const played = await play(graph, { events });
    const outputs = ({ steps }: { steps: readonly { node_id: string; output: Json }[] }) =>
      steps.flatMap(({ node_id, output }) => (node_id === 'b' ? [output] : []));
    expect(outputs(played)).toEqual(outputs(run));
    expect(outputs(run)).toEqual([{ at: 1 }, { at: 2 }]);
  });

  test('that no event ends stays open', async () => {
    const graph = chain(wait('w', paid), data);
    const { run, played } = await stage.both({
      graph,
      input: { invoice: 'A-9' },
      act: (runId) => stage.waiting(runId),
      ends: 'running',
    });
    const shown = ({ node_id, step_key, events }: (typeof played.waits)[0]) => ({
      ...{ node_id, step_key, for: 'event', events },
    });
    expect(played.waits.map(shown)).toEqual(run.waiting.map((each) => shown(each as never)));
  });

  test.each(['fail', 'continue'] as const)('whose time runs out does %s', async (on_timeout) => {
    await stage.both({
      graph: {
        nodes: [
          wait('w', { ...paid, timeout_seconds: 0.1, on_timeout }),
          ...[echo('came', '1'), echo('late', '[w, 2]')],
        ],
        edges: [
          edge('w', 'came', 'true'),
          edge('w', 'late', on_timeout === 'fail' ? 'error' : 'false'),
        ],
      } as GraphInput,
      input: { invoice: 'A-8' },
    });
  });

  test('for a callback ends with its body', async () => {
    const url = stage.tool('partner');
    const params = { url, method: 'POST', body: { to: '{callbacks.w}' } };
    await stage.both({
      graph: chain(
        request('ask', url, { params }),
        wait('w', { callback: true }),
        echo('b', 'w.amount'),
      ),
      act: async (runId) => {
        await stage.waiting(runId);
        const { engine } = stage;
        const { to } = JSON.parse(stage.seen('partner').at(-1)!.body) as { to: string };
        const token = to.split('/').at(-1)!;
        const step = createCallbackTokens(engine.deps.config)!.stepOf(token)!;
        await acceptCallback(engine.db, step, { amount: 3 });
      },
      options: { callbacks: { w: { amount: 3 } } },
    });
  });
});

import { describe, expect, test } from '@jest/globals';
import { play } from '#client/testing.ts';
import { updateWorkflow } from '#shared/db/workflows/workflows.ts';
import type { GraphInput } from '#shared/contract/workflows/graph.ts';
import type { JsonObject } from '#shared/json.ts';
import { chain, echo, edge } from '#test/support/engine.ts';
import { useStage } from '#test/support/stage.ts';
import { refusals, request, startPlayStage } from './stage.ts';

const stage = useStage(startPlayStage);

describe('a step that fails', () => {
  const answer =
    (failing: number, status = 503) =>
    (attempt: number): { status: number; body: JsonObject } =>
      attempt > failing ? { status: 200, body: { attempt } } : { status, body: { no: attempt } };
  const retry = { max_attempts: 3, initial_interval_seconds: 0.02, backoff: 2 };

  test('is tried again until it succeeds', async () => {
    const { run } = await stage.both({
      graph: chain(request('a', stage.tool('twice', answer(2)), { retry }), echo('b', 'a.body')),
    });
    expect(run.steps[0]!.attempt).toBe(3);
  });

  test('fails the run after its last attempt', async () => {
    await stage.both({
      graph: chain(request('a', stage.tool('always', answer(9)), { retry }), echo('b')),
      ends: 'failed',
    });
  });

  test('is not tried again after an error that stays', async () => {
    const { run } = await stage.both({
      graph: chain(request('a', stage.tool('gone', answer(9, 404)), { retry })),
      ends: 'failed',
    });
    expect(run.steps[0]!.attempt).toBe(1);
  });

  test('leads to its error edges, which see the error', async () => {
    await stage.both({
      graph: {
        nodes: [
          request('a', stage.tool('caught', answer(9)), { retry }),
          ...[echo('good', '1'), echo('bad', 'a.error'), echo('after', '[good, bad]')],
        ],
        edges: [
          ...[edge('a', 'good'), edge('a', 'bad', 'error')],
          ...[edge('good', 'after'), edge('bad', 'after')],
        ],
      } as GraphInput,
    });
  });

  test('because an expression or a template cannot be evaluated says the same', async () => {
    await stage.both({ graph: chain(echo('a', '1 / nothing')), ends: 'failed' });
    await stage.both({ graph: chain(echo('a', 'x.y.z')), input: { x: 'text' } });
    const url = stage.tool('rendered');
    const params = { url, method: 'POST', body: { total: '{order.nothing}' } };
    await stage.both({
      graph: chain(request('a', url, { params })),
      input: { order: { total: 0 } },
      ends: 'failed',
    });
    const items = { id: 'l', kind: 'loop', expression: 'order.total < "x"', max_iterations: 2 };
    await stage.both({
      graph: {
        nodes: [items, echo('b')],
        edges: [edge('l', 'b', 'true'), edge('b', 'l')],
      } as never,
      input: { order: { total: 0 } },
      ends: 'failed',
    });
  });
});

describe('the items of a map', () => {
  const map = (rest: JsonObject, body: never, errorEdge = false) =>
    ({
      nodes: [{ id: 'm', kind: 'map', items: '[1, 2, 3, 4]', ...rest }, body, echo('late', 'm')],
      edges: [
        edge('m', 'b', 'true'),
        edge('b', 'm'),
        edge('m', 'late', errorEdge ? 'error' : 'false'),
      ],
    }) as GraphInput;
  const inverse = echo('b', '12 / (m.item - 3)') as never;

  test('give their outputs in their order', async () => {
    const { run } = await stage.both({
      graph: map({ concurrency: 2 }, echo('b', 'm.item * m.index') as never),
    });
    expect(run.state).toMatchObject({ m: [0, 2, 6, 12] });
  });

  test('are collected with their errors', async () => {
    await stage.both({ graph: map({ concurrency: 2, on_item_error: 'collect' }, inverse) });
  });

  test('fail the map one after another', async () => {
    await stage.both({ graph: map({ concurrency: 1 }, inverse, true) });
    await stage.both({ graph: map({ concurrency: 1 }, inverse), ends: 'failed' });
  });

  test('are no list: the map fails, with the same text', async () => {
    const input = { items: { a: 1 } };
    await stage.both({ graph: map({ items: 'items' }, inverse, true), input });
    await stage.both({ graph: map({ items: 'missing' }, inverse), ends: 'failed' });
  });
});

describe('a sub-workflow', () => {
  const child = chain(echo('double', 'n * 2')) as GraphInput;
  const call = (name: string, rest: JsonObject = {}) =>
    ({ id: 'call', kind: 'workflow', workflow: name, input: { n: '{n}' }, ...rest }) as never;

  test('gives its output to the step that calls it', async () => {
    await stage.engine.define(child, 'Doubles');
    await stage.both({
      graph: chain(call('Doubles'), echo('after', 'call.double')),
      input: { n: 4 },
      options: { workflows: { Doubles: child } },
    });
  });

  test('that fails fails the step, and can be caught', async () => {
    const broken = chain(echo('broken', 'n / 0')) as GraphInput;
    await stage.engine.define(broken, 'Breaks');
    const options = { workflows: { Breaks: broken } };
    const graph = chain(call('Breaks'), echo('after', 'call'));
    await stage.both({ graph, input: { n: 4 }, options, ends: 'failed' });
    const caught = { ...graph, edges: [edge('call', 'after', 'error')] } as GraphInput;
    await stage.both({ graph: caught, input: { n: 4 }, options });
  });

  test('refuses an input that is not valid, with the same text', async () => {
    const { engine } = stage;
    const id = await engine.define(child, 'Typed child');
    const input_schema = { type: 'object', properties: { n: { type: 'integer' } } };
    await updateWorkflow(engine.db, engine.actor, id, { input_schema });
    await stage.both({
      graph: chain(call('Typed child')),
      input: { n: 'four' },
      options: { workflows: { 'Typed child': { graph: child, input_schema } } },
      ends: 'failed',
    });
  });

  test('that would start itself is refused', async () => {
    const endless = chain({ id: 'again', kind: 'workflow', workflow: 'Endless' }) as GraphInput;
    const id = await stage.engine.define(endless, 'Endless');
    const [service, played] = await refusals(
      stage.engine.trigger(id),
      play(endless, { workflows: { Endless: endless } }),
    );
    expect(service).toContain("'Endless' → 'Endless'");
    expect(played).toBe(`workflows['Endless']: ${service}`);
  });

  test('ends at the same depth', async () => {
    const names = Array.from({ length: 8 }, (_, at) => `Depth ${at + 1}`);
    const workflows = Object.fromEntries(
      names.map((name, at) => [
        name,
        chain(at === names.length - 1 ? echo('end') : call(names[at + 1]!)) as GraphInput,
      ]),
    );
    for (const [name, graph] of Object.entries(workflows)) await stage.engine.define(graph, name);
    const input = { n: 1 };
    const graph = chain(call(names[1]!));
    const { ['Depth 1']: _first, ...others } = workflows;
    await stage.both({ graph, input, options: { workflows: others } });
    const { played } = await stage.both({
      graph: chain(call(names[0]!)),
      ...{ input, options: { workflows }, ends: 'failed' },
    });
    expect(played.error).toContain('up to a depth of 8');
  });
});

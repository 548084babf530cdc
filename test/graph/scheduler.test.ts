import { afterAll, beforeEach, describe, expect, jest, test } from '@jest/globals';
import { MAX_STEPS_IN_PLACE } from '#shared/graph/schedule/rounds.ts';
import { compileGraph } from '#shared/graph/compile.ts';
import { createScheduler, SchedulerError } from '#shared/graph/schedule/scheduler.ts';
import { JsonText } from '#shared/values/json-text.ts';
import type { Json } from '#shared/json.ts';
import { soakDescribe } from '#test/support/soak.ts';
import { control, draw, failedNodes, finish, ready, resultOf, start } from './drawing.ts';
import { growth } from '#test/support/growth.ts';

// What runs do in the end is in test/graph/generated: joins, skips, branches, loops, retries, errors and snapshots.

describe('joins', () => {
  // a -> b -> d
  // a -> e -> d
  const diamond = draw(`
    a -> b -> d
    a -> e -> d
  `);

  test('a node starts as soon as all its inputs are settled', () => {
    const scheduler = start(diamond);
    expect(ready(scheduler)).toEqual(['a']);
    scheduler.complete('a', 1);
    expect(ready(scheduler)).toEqual(['b', 'e']);
    scheduler.complete('e', 2);
    expect(ready(scheduler)).toEqual([]);
    expect(scheduler.done).toBe(false);
    scheduler.complete('b', 3);
    expect(ready(scheduler)).toEqual(['d']);
    scheduler.complete('d', 4);
    expect(scheduler.done).toBe(true);
    expect(resultOf(scheduler)).toEqual({ output: { d: 4 }, state: { a: 1, b: 3, e: 2, d: 4 } });
  });

  test('branches do not wait for each other', () => {
    // a -> b        x -> y
    const scheduler = start(draw('a -> b\nx -> y'));
    expect(ready(scheduler)).toEqual(['a', 'x']);
    scheduler.complete('a', null);
    expect(ready(scheduler)).toEqual(['b']);
  });

  test('takeReady returns at most the given number, in topological order', () => {
    // s -> a, b, d
    const scheduler = start(draw('s -> a\ns -> b\ns -> d'));
    scheduler.complete('s', null);
    expect(scheduler.takeReady(2).map((node) => node.node_id)).toEqual(['a', 'b']);
    expect(scheduler.takeReady(0)).toEqual([]);
    expect(scheduler.takeReady(2)).toEqual([
      { step_key: 'd', node_id: 'd', kind: 'agent', iteration: [] },
    ]);
  });
});

describe('gates', () => {
  // g -true-> a,  g -false-> b,  g -> d
  const branching = draw('g -true-> a\ng -false-> b\ng -> d');

  test.each([
    [true, [['a', 'd']]],
    [false, [['b', 'd']]],
  ])('a decision of %s follows its edges', (approved, waves) => {
    const scheduler = start(branching);
    expect(scheduler.takeReady()).toEqual([
      { step_key: 'g', node_id: 'g', kind: 'human_gate', iteration: [] },
    ]);
    expect(scheduler.decide('g', { approved, input: { note: 'hm', g: 'not this' } })).toBe(
      'continued',
    );
    expect(scheduler.state()).toEqual({ g: { approved }, note: 'hm' });
    expect(finish(scheduler)).toEqual(waves);
  });
});

describe('loops', () => {
  test('finish all nodes of an iteration before the next', () => {
    // l -true-> a -> l,  l -true-> b
    const scheduler = start(draw('l -true-> a -> l\nl -true-> b', { l: { max_iterations: 2 } }));
    expect(ready(scheduler)).toEqual(['a#1', 'b#1']);
    scheduler.complete('a#1', null);
    expect(ready(scheduler)).toEqual([]);
    scheduler.complete('b#1', null);
    expect(ready(scheduler)).toEqual(['a#2', 'b#2']);
  });

  test('can start a graph and can lead only to themselves', () => {
    // l1 -true-> l1 -> l2 -true-> a -> l2
    const graph = draw('l1 -true-> l1 -> l2 -true-> a -> l2', {
      l1: { max_iterations: 7 },
      l2: { max_iterations: 1 },
    });
    const scheduler = start(graph);
    expect(finish(scheduler)).toEqual([['a#1']]);
    expect(scheduler.state()['l1']).toEqual({ iterations: 7, exhausted: true });
  });

  test('without work fail instead of blocking the process', () => {
    // l1 -true-> l2 -true-> l3 -true-> l3 -> l2 -> l1
    const many = { max_iterations: 10_000 };
    const graph = draw('l1 -true-> l2 -true-> l3 -true-> l3 -> l2 -> l1', {
      l1: many,
      l2: many,
      l3: many,
    });
    const scheduler = start(graph);
    expect(failedNodes(scheduler, graph)).toHaveLength(1);
    expect(scheduler.takeControlSteps().at(-1)?.error).toContain(`${MAX_STEPS_IN_PLACE} steps`);
  });
});

describe('failures', () => {
  test('expensive patterns fail nodes once their total exceeds the limit', () => {
    const names = Array.from({ length: 200 }, (_, at) => `c${at}`);
    const expression = "matches(text, '[ab]*a[ab]{300}c')";
    const graph = draw(
      names.join('\n'),
      Object.fromEntries(names.map((id) => [id, { expression }])),
    );
    const scheduler = start(graph, { text: 'ab'.repeat(1000) });
    const [first, ...others] = failedNodes(scheduler, graph);
    expect(others.length).toBeGreaterThan(50);
    scheduler.takeControlSteps();
    scheduler.retry(first!);
    expect(failedNodes(scheduler, graph)).toEqual(others);
  });

  // s -> c0, c1, c2, ...; each of them reads a long text
  const readers = Array.from({ length: 100 }, (_, at) => `c${at}`);
  const reading = (expression: string) =>
    draw(
      readers.map((id) => `s -> ${id}`).join('\n'),
      Object.fromEntries(readers.map((id) => [id, { expression }])),
    );

  test.each([
    ['finds', "contains(text, 'nowhere to be found')"],
    ['changes case', "lower(text) == 'a'"],
    ['compares', 'text == other'],
    ['orders', 'text < other'],
    ['looks for what repeats itself', 'piece in text'],
  ])(
    'an expression that %s counts as work, and its error suggests an alternative',
    (_, expression) => {
      const text = 'a'.repeat(1_000_000);
      const piece = `${'a'.repeat(250_000)}b${'a'.repeat(250_000)}`;
      const graph = reading(expression);
      const scheduler = start(graph, { text, other: `${text.slice(1)}b`, piece });
      scheduler.complete('s', null);
      expect(failedNodes(scheduler, graph).length).toBeGreaterThan(10);
      expect(scheduler.takeControlSteps().at(-1)?.error).toContain(
        'exceeds the limit of work, alone or with the expressions before it: use shorter texts, or a json_transform step',
      );
    },
  );

  test('workDone grows over completions', () => {
    const scheduler = start(draw('a -> c -true-> b', { c: { expression: 'len(text) > 1' } }), {
      text: 'x'.repeat(200_000),
    });
    const before = scheduler.workDone;
    scheduler.complete('a', null);
    const after = scheduler.workDone;
    expect(after - before).toBeGreaterThanOrEqual(10_000);
    expect(ready(scheduler)).toEqual(['b']);
    scheduler.complete('b', null);
    expect(scheduler.workDone).toBeGreaterThanOrEqual(after);
  });

  test('a condition with a failing expression reports the reason and is evaluated again on retry', () => {
    // g -true-> a -> c -true-> b
    const graph = draw('g -true-> c -true-> b\ng -> a', { c: { expression: 'score + 1 > 3' } });
    const scheduler = start(graph);
    ready(scheduler);
    scheduler.decide('g', { approved: true });
    const [failed] = scheduler.takeControlSteps();
    expect(failed).toMatchObject({ step_key: 'c', status: 'failed' });
    expect(failed?.error).toBe(
      'Expression "score + 1 > 3", position 6: cannot compute null + number',
    );
    scheduler.retry('c');
    expect(control(scheduler)).toEqual(['c failed']);
    expect(failedNodes(scheduler, graph)).toEqual(['c']);
  });

  test('a loop that fails between iterations continues there on retry', () => {
    // l -true-> a -> l
    const graph = draw('l -true-> a -> l', { l: { expression: 'a == null or a < 2' } });
    const scheduler = start(graph);
    scheduler.complete('a#1', 'text');
    expect(failedNodes(scheduler, graph)).toEqual(['l']);
    const resumed = createScheduler(
      compileGraph(graph),
      {},
      {
        ...scheduler.snapshot(),
        state: [['a', 1, null]],
      },
    );
    resumed.takeControlSteps();
    resumed.retry('l');
    expect(control(resumed)).toEqual(['l running']);
    resumed.complete('a#2', 2);
    expect(control(resumed)).toEqual(['l success {"iterations":2,"exhausted":false}']);
  });

  test.each([
    ['an unknown step', 'nobody'],
    ['a step that is not ready', 'b'],
    ['a round that is not on', 'a#1'],
    ['a settled step', 's'],
    ['a gate that is completed', 'g'],
  ])('%s is refused and changes nothing', (_, stepKey) => {
    // s -> a -> b,  g
    const scheduler = start(draw('s -> a -> b\ng'));
    scheduler.complete('s', 1);
    const before = scheduler.snapshot();
    expect(() => scheduler.complete(stepKey, 2)).toThrow(SchedulerError);
    expect(() => scheduler.retry(stepKey)).toThrow(SchedulerError);
    expect(scheduler.snapshot()).toEqual(before);
  });
});

describe('state', () => {
  test('keeps keys named like prototypes as data', () => {
    const hostile = JSON.parse('{"__proto__": {"polluted": true}, "constructor": 1}') as {
      [key: string]: Json;
    };
    const scheduler = start(draw('g -> m'), hostile);
    scheduler.decide('g', { approved: true, input: hostile });
    const { state } = resultOf(scheduler);
    expect(({} as { polluted?: boolean }).polluted).toBeUndefined();
    expect(Object.getPrototypeOf(state)).toBe(Object.prototype);
    expect(Object.hasOwn(state, '__proto__')).toBe(true);
    const restored = createScheduler(
      compileGraph(draw('g -> m')),
      {},
      JSON.parse(JSON.stringify(scheduler.snapshot())),
    );
    expect(JSON.stringify(resultOf(restored))).toBe(JSON.stringify(resultOf(scheduler)));
  });
});

describe('control steps', () => {
  test('are taken once, in order, with returned ones first', () => {
    // c1 -> c2 -> a -> c3
    const scheduler = start(draw('c1 -> c2 -> a -> c3'));
    const steps = scheduler.takeControlSteps();
    expect(steps.map((step) => step.step_key)).toEqual(['c1', 'c2']);
    expect(scheduler.takeControlSteps()).toEqual([]);
    scheduler.complete('a', null);
    scheduler.returnControlSteps(steps);
    expect(scheduler.takeControlSteps().map((step) => step.step_key)).toEqual(['c1', 'c2', 'c3']);
  });

  test('have a kind, and the label or else the ID', () => {
    const scheduler = start(draw('c1 -> c2', { c1: { label: 'Is it urgent?' } }));
    expect(scheduler.takeControlSteps().map(({ label, kind }) => [label, kind])).toEqual([
      ['Is it urgent?', 'condition'],
      ['c2', 'condition'],
    ]);
  });
});

describe('snapshots', () => {
  test('of another graph are refused', () => {
    const { snapshot } = start(draw('a -> b'));
    expect(() => createScheduler(compileGraph(draw('a')), {}, snapshot())).toThrow(
      'does not belong',
    );
  });
});

describe('an output that is a JSON text', () => {
  const text = (value: Json) => new JsonText(JSON.stringify(value));
  const parse = jest.spyOn(JSON, 'parse');
  /** What was parsed since the last call. */
  const parsed = () => parse.mock.calls.splice(0).map(([json]) => json);
  beforeEach(() => void parsed());
  afterAll(() => parse.mockRestore());

  test('is parsed when it is read, and once', () => {
    const scheduler = start(draw('a -> b -> e'));
    ready(scheduler);
    scheduler.complete('a', text({ n: 1 }));
    ready(scheduler);
    scheduler.complete('b', text([2]));
    expect(scheduler.endState()).toEqual({ state: '{"a":{"n":1},"b":[2]}' });
    expect(parsed()).toEqual([]);
    expect([scheduler.state()['a'], scheduler.state()['a']]).toEqual([{ n: 1 }, { n: 1 }]);
    expect(parsed()).toEqual(['{"n":1}']);
    ready(scheduler);
    scheduler.complete('e', 3);
    expect(scheduler.endState()).toEqual({ state: '{"a":{"n":1},"b":[2],"e":3}' });
    expect(scheduler.output()).toEqual({ e: 3 });
    expect(parsed()).toEqual([]);
  });

  test('is named at the end of the run if a step has stored it, unless another value has replaced it', () => {
    const scheduler = start(
      draw('a -> b -> e', { a: { output_key: 'k' }, e: { output_key: 'k' } }),
    );
    ready(scheduler);
    scheduler.complete('a', new JsonText('"stored"', 'a'));
    expect(scheduler.endState()).toEqual({ state: '{"k":null}', outputs: { k: 'a' } });
    ready(scheduler);
    scheduler.complete('b', new JsonText('2', 'b'));
    expect(scheduler.state()).toEqual({ k: 'stored', b: 2 });
    ready(scheduler);
    scheduler.complete('e', 'last');
    expect(scheduler.endState()).toEqual({ state: '{"k":"last","b":null}', outputs: { b: 'b' } });
  });

  test('is read by merges, conditions and snapshots', () => {
    const graph = draw('a -> m\nb -> m\nm -> c -true-> d', {
      c: { expression: 'len(m.a) == 2 and b == 1' },
    });
    const scheduler = start(graph);
    ready(scheduler);
    scheduler.complete('a', text([1, 2]));
    scheduler.complete('b', text(1));
    expect(parsed()).toEqual(['[1,2]', '1']);
    const restored = createScheduler(compileGraph(graph), {}, scheduler.snapshot());
    for (const each of [scheduler, restored]) {
      finish(each);
      expect(resultOf(each)).toMatchObject({ output: { d: 'did d' }, state: { a: [1, 2], b: 1 } });
    }
    expect(parsed()).not.toContain('[1,2]');
  });

  test('is parsed in the items of a map only if they read it', () => {
    const scheduler = start(draw('a -> p\nb -> p\np -true-> t -> p', { p: { items: 'a' } }));
    ready(scheduler);
    scheduler.complete('b', text('not read'));
    scheduler.complete('a', text([1, 2]));
    expect(ready(scheduler)).toEqual(['t#1', 't#2']);
    expect(scheduler.state('t#2')).toHaveProperty('p.item', 2);
    expect(parsed()).toEqual(['[1,2]']);
    expect(scheduler.state('t#1')['b']).toBe('not read');
    expect(parsed()).toEqual(['"not read"']);
  });

  test('is replaced by a later output of the same key, in the same position', () => {
    const scheduler = start(
      draw('a -> b -> e', {
        a: { output_key: 'k' },
        b: { output_key: 'j' },
        e: { output_key: 'k' },
      }),
    );
    ready(scheduler);
    scheduler.complete('a', text('first'));
    ready(scheduler);
    scheduler.complete('b', 'between');
    ready(scheduler);
    scheduler.complete('e', 'last');
    expect(scheduler.endState()).toEqual({ state: '{"k":"last","j":"between"}' });
    expect(parsed()).toEqual([]);
  });
});

soakDescribe('performance', () => {
  const names = (count: number, letter: string) =>
    Array.from({ length: count }, (_, at) => `${letter}${at}`);

  /** Runs the graph of a drawing, which is compiled before. */
  const running = (drawing: string) => {
    const compiled = compileGraph(draw(drawing));
    return () => {
      const scheduler = createScheduler(compiled, {});
      for (let next = scheduler.takeReady(1); next.length > 0; next = scheduler.takeReady(1)) {
        scheduler.complete(next[0]!.step_key, null);
      }
      expect(scheduler.done).toBe(true);
    };
  };

  test.each<[string, (nodes: number) => string]>([
    ['a chain', (nodes) => names(nodes, 'n').join(' -> ')],
    [
      'a fan-out and fan-in',
      (nodes) =>
        names(nodes, 'n')
          .map((id) => `s -> ${id} -> e`)
          .join('\n'),
    ],
    ['conditions in a row', (nodes) => names(nodes, 'c').join(' -> ')],
  ])('runs %s in linear time', (_, drawing) => {
    expect(growth((nodes) => running(drawing(nodes)), 1_000)).toBeLessThan(3);
  });

  test('runs nested loops in at most quadratic time: each is inside those before it', () => {
    const nested = (loops: number) => {
      const branches = names(loops, 'l').map((id) => `${id} -true->`);
      return running(`${branches.join(' ')} a`);
    };
    expect(growth(nested, 300)).toBeLessThan(20);
  });
});

describe('error edges', () => {
  const error = { message: 'down', kind: 'node', attempts: 2 } as const;

  test('without one is kept, and can be retried', () => {
    const scheduler = start(draw('a -> b'));
    expect(() => scheduler.catchFailure('a', error)).toThrow(SchedulerError);
    scheduler.fail('a');
    expect(scheduler.catchFailure('a', error)).toBe(false);
    scheduler.retry('a');
    expect(ready(scheduler)).toEqual(['a']);
  });

  test('an edge back to the loop starts the next iteration', () => {
    // l -true-> a -error-> l: it repeats until a succeeds, which breaks
    const scheduler = start(draw('l -true-> a -error-> l\nl -> b'));
    scheduler.fail('a#1');
    scheduler.catchFailure('a#1', error);
    expect(ready(scheduler)).toEqual(['a#2']);
    scheduler.complete('a#2', 'ok');
    expect(ready(scheduler)).toEqual(['b']);
    expect(scheduler.state()['a']).toBe('ok');
  });
});

import { describe, expect, test } from '@jest/globals';
import type { Json } from '#shared/json.ts';
import { checkGraph } from '#shared/graph/graph-check.ts';
import { control, draw, finish, ready, start } from './drawing.ts';

const error = { message: 'down', kind: 'node', attempts: 1 } as const;
const ofMap = (graph: ReturnType<typeof draw>, items: Json) => start(graph, { items });

describe('the items of a map', () => {
  test('begin up to its concurrency, earlier ones first, and end in any order', () => {
    // p -true-> a -> b -> p -> z
    const graph = draw('p -true-> a -> b -> p -> z', { p: { concurrency: 2 } });
    const scheduler = ofMap(graph, ['x', 'y', 'w']);
    expect(ready(scheduler)).toEqual(['a#1', 'a#2']);
    expect(scheduler.state('a#2')).toEqual({ items: ['x', 'y', 'w'], p: { item: 'y', index: 1 } });
    scheduler.complete('a#2', 2);
    expect(ready(scheduler)).toEqual(['b#2']);
    expect(scheduler.state('b#2')).toMatchObject({ a: 2 });
    scheduler.complete('b#2', 'second');
    scheduler.complete('a#1', 1);
    // The first item continues before the third begins.
    expect(ready(scheduler)).toEqual(['b#1', 'a#3']);
    expect(finish(scheduler)).toEqual([]);
    for (const key of ['b#1', 'a#3']) scheduler.complete(key, key);
    expect(finish(scheduler)).toEqual([['b#3'], ['z']]);
    expect(scheduler.state()['p']).toEqual(['b#1', 'second', 'did b#3']);
  });
});

describe('a failed item', () => {
  // p -true-> a -> b -> p,  p -true-> d -> b
  const both = (rest: Record<string, Json>) =>
    draw('p -true-> a -> b -> p\np -true-> d -> b', { p: { concurrency: 1, ...rest } });

  test('ends when everything in flight has ended, and nothing else in it begins', () => {
    const scheduler = ofMap(both({ on_item_error: 'collect' }), [1, 2]);
    expect(ready(scheduler)).toEqual(['a#1', 'd#1']);
    scheduler.fail('a#1');
    expect(scheduler.catchFailure('a#1', error)).toBe(true);
    expect(ready(scheduler)).toEqual([]);
    expect(scheduler.done).toBe(false);
    scheduler.complete('d#1', 'late');
    expect(finish(scheduler)).toEqual([['a#2', 'd#2'], ['b#2']]);
    expect(scheduler.output()).toEqual({ p: [{ error }, 'did b#2'] });
  });

  test('whose step was not taken also begins nothing', () => {
    const scheduler = ofMap(both({ on_item_error: 'collect' }), [1]);
    expect(scheduler.takeReady(1).map(({ step_key }) => step_key)).toEqual(['a#1']);
    scheduler.fail('a#1');
    scheduler.catchFailure('a#1', error);
    expect([ready(scheduler), scheduler.done]).toEqual([[], true]);
  });

  test('fails the run if nothing catches it, and a retry continues it', () => {
    const scheduler = ofMap(both({}), [1, 2]);
    ready(scheduler);
    scheduler.fail('a#1');
    expect(scheduler.catchFailure('a#1', error)).toBe(false);
    scheduler.complete('d#1', 1);
    scheduler.retry('a#1');
    expect(finish(scheduler)).toEqual([['a#1'], ['b#1'], ['a#2', 'd#2'], ['b#2']]);
    expect(scheduler.done).toBe(true);
  });

  test('of an inner map fails the item of the outer one that collects', () => {
    // p -true-> p2 -true-> a -> p2 -> p
    const graph = draw('p -true-> p2 -true-> a -> p2 -> p', {
      p: { on_item_error: 'collect' },
      p2: { items: '[1]' },
    });
    const scheduler = ofMap(graph, ['x']);
    expect(ready(scheduler)).toEqual(['a#1.1']);
    scheduler.fail('a#1.1');
    expect(scheduler.catchFailure('a#1.1', error)).toBe(true);
    expect(scheduler.output()).toEqual({
      p: [{ error: { message: 'Item 1 failed: down', kind: 'child', attempts: 1 } }],
    });
    expect(control(scheduler)).toEqual([
      ...['p running', 'p2#1 running', 'a#1.1 failed', 'p2#1 failed'],
      expect.stringContaining('p success') as unknown as string,
    ]);
  });
});

describe('validation of a map', () => {
  const context = { tools: new Set<string>(), customTools: new Map() };
  const issues = (text: string, extra = {}) => {
    const { errors, warnings } = checkGraph(draw(text, extra), {
      ...context,
      inputKeys: ['items'],
    });
    return [...errors, ...warnings].map(({ message }) => message);
  };

  test.each<[string, string, object, string[]]>([
    ['whole', 'p -true-> a -> p -> b', { a: { prompt: '{p.item}' }, b: { prompt: '{p}' } }, []],
    [
      'without a body',
      'p -> b',
      {},
      ["Map 'p' has no body: draw a 'true' edge to the node that each item starts with"],
    ],
    [
      'without a way back',
      'p -true-> a',
      {},
      [
        "Nothing in the body of map 'p' leads back to it: draw an edge from its last node to the map",
      ],
    ],
    [
      'left from its body',
      'p -true-> a -> p -> b\na -> b',
      {},
      ["The edge from 'a' to 'b' leaves the body of map 'p'; leave it through the map"],
    ],
    [
      'whose body is read after it',
      'p -true-> a -> p -> b',
      { b: { prompt: '{a}' } },
      ["Node 'b' reads 'a', which is set by 'a', but not before it"],
    ],
    [
      'with the keys of a node beside it',
      's -> p -true-> a -> p\ns -> b',
      { a: { output_key: 'k' }, b: { output_key: 'k' } },
      [],
    ],
  ])('%s', (_, text, extra, expected) => {
    expect(issues(text, extra)).toEqual(expected);
  });
});

import { setImmediate as turn } from 'node:timers/promises';
import { describe, expect, test } from '@jest/globals';
import { createBatches } from '#api/load/batcher.ts';

describe('batches', () => {
  const gathered = (limit: number) => {
    const batches: string[][] = [];
    const { add } = createBatches<string, string>({ limit, turns: 3 }, async (items) => {
      batches.push([...items]);
      if (items.includes('bad')) throw new Error('refused');
      return items.map((item) => `${item}!`);
    });
    return { batches, add };
  };

  test('items of neighboring turns of the event loop share one, up to the limit', async () => {
    const { batches, add } = gathered(3);
    const adding = [add('key', 'a')];
    await turn();
    adding.push(add('key', 'b'), add('other', 'x'));
    await turn();
    adding.push(add('key', 'c'), add('key', 'd'));
    expect(await Promise.all(adding)).toEqual(['a!', 'b!', 'x!', 'c!', 'd!']);
    expect(batches).toEqual([['a', 'b', 'c'], ['x'], ['d']]);
  });

  test('an error rejects the items of its batch alone', async () => {
    const { add } = gathered(2);
    const adding = ['a', 'bad', 'c'].map((item) => add('key', item));
    const outcomes = await Promise.allSettled(adding);
    expect(outcomes.map(({ status }) => status)).toEqual(['rejected', 'rejected', 'fulfilled']);
  });
});

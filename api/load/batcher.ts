import { setImmediate as turn } from 'node:timers/promises';

/**
 * Batches work that costs little more for many items than for one. For each key, one batch is in progress at a time,
 * and items that arrive in the meantime form the next one. So their work starts after they arrived, and a busier key
 * costs less per item.
 */
export interface Batches<Item, Result> {
  /** The result of the work for this item; rejects with the error of its batch. */
  add(key: string, item: Item): Promise<Result>;
}

interface Waiter<Item, Result> {
  item: Item;
  resolve: (result: Result) => void;
  reject: (error: unknown) => void;
}

/**
 * `work` returns a result for each of its items (at most `limit`), in order. A batch starts after `turns` turns of the
 * event loop; 0: immediately. Turns take microseconds in an idle process; in a busy one, they gather the next requests
 * of clients that got their responses together.
 */
export function createBatches<Item, Result>(
  { limit, turns }: { limit: number; turns: number },
  work: (items: readonly Item[]) => Promise<readonly Result[]>,
): Batches<Item, Result> {
  const lines = new Map<string, Waiter<Item, Result>[]>();

  const runBatch = async (batch: readonly Waiter<Item, Result>[]): Promise<void> => {
    try {
      const results = await work(batch.map(({ item }) => item));
      for (const [index, { resolve }] of batch.entries()) resolve(results[index]!);
    } catch (error) {
      for (const { reject } of batch) reject(error);
    }
  };

  const empty = async (key: string, line: Waiter<Item, Result>[]): Promise<void> => {
    while (line.length > 0) {
      for (let passed = 0; passed < turns; passed += 1) await turn();
      await runBatch(line.splice(0, limit));
    }
    lines.delete(key);
  };

  return {
    add: (key, item) =>
      new Promise((resolve, reject) => {
        const waiter = { item, resolve, reject };
        const line = lines.get(key);
        if (line !== undefined) {
          line.push(waiter);
          return;
        }
        const begun = [waiter];
        lines.set(key, begun);
        void empty(key, begun);
      }),
  };
}

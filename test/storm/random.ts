import { createHash } from 'node:crypto';

/** A random source that gives the same values for the same seed and name, independent of other sources. */
export interface Random {
  /** From 0 (inclusive) to 1 (exclusive). */
  next(): number;
  /** An integer, both bounds included. */
  int(from: number, to: number): number;
  /** True with this probability. */
  chance(probability: number): boolean;
  pick<T>(items: readonly T[]): T;
  /** A weighted choice. */
  weighted<T>(items: readonly (readonly [weight: number, item: T])[]): T;
  /** An independent source for a part of the work. */
  fork(name: string): Random;
}

/** mulberry32 over a hash of the seed and the name: small, fast, and random enough for tests. */
export function createRandom(seed: string): Random {
  let state = createHash('sha256').update(seed).digest().readUInt32LE(0);
  const next = (): number => {
    state = (state + 0x6d2b79f5) >>> 0;
    let mixed = state;
    mixed = Math.imul(mixed ^ (mixed >>> 15), mixed | 1);
    mixed ^= mixed + Math.imul(mixed ^ (mixed >>> 7), mixed | 61);
    return ((mixed ^ (mixed >>> 14)) >>> 0) / 2 ** 32;
  };
  const pick = <T>(items: readonly T[]): T => {
    const item = items[Math.floor(next() * items.length)];
    if (item === undefined) throw new Error('Nothing to pick from');
    return item;
  };
  return {
    next,
    pick,
    int: (from, to) => from + Math.floor(next() * (to - from + 1)),
    chance: (probability) => next() < probability,
    weighted: (items) => {
      const total = items.reduce((sum, [weight]) => sum + weight, 0);
      let left = next() * total;
      for (const [weight, item] of items) {
        left -= weight;
        if (left < 0) return item;
      }
      return pick(items)[1];
    },
    fork: (name) => createRandom(`${seed}/${name}`),
  };
}

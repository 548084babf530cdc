import { createBatches } from './batcher.ts';

/**
 * Reads that many callers request at the same moment. One of a kind is in progress at a time, and all callers meanwhile
 * share the next: what they get was read after their call, so a change that a caller already knows is never missed.
 */
export interface CoalescedReads<T> {
  /** The result of `read`, or of another read of the same `key` that starts no earlier than this call. */
  get(key: string, read: () => Promise<T>): Promise<T>;
}

export function createCoalescedReads<T>(): CoalescedReads<T> {
  const batches = createBatches<() => Promise<T>, T>(
    { limit: Infinity, turns: 0 },
    async (reads) => {
      // They read the same, so one read serves all.
      const value = await reads[0]!();
      return reads.map(() => value);
    },
  );
  return { get: (key, read) => batches.add(key, read) };
}

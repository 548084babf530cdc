import { createBatches } from './batcher.ts';

/**
 * Reads that many callers request at the same moment. One read of a kind is in progress at a time, and all callers that
 * come in the meantime share the next one. Their result is read after their call, so they never miss a change that they
 * already know.
 */
export interface CoalescedReads<T> {
  /** The result of `read`, or of another read of the same `key` that starts no earlier than this call. */
  get(key: string, read: () => Promise<T>): Promise<T>;
}

export function createCoalescedReads<T>(): CoalescedReads<T> {
  const batches = createBatches<() => Promise<T>, T>(
    { limit: Infinity, turns: 0 },
    async (reads) => {
      // They read the same thing, so one read serves all.
      const value = await reads[0]!();
      return reads.map(() => value);
    },
  );
  return { get: (key, read) => batches.add(key, read) };
}

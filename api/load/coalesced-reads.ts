import { createBatches } from './batcher.ts';

/**
 * Reads that many ask for at the same moment. One of a kind is under way at a time, and all who ask meanwhile get the
 * next: what they are told was read after they asked, so a change that somebody has been told of is never missed.
 */
export interface SharedReads<T> {
  /** What `read` comes to, or another's read of the same `key` that begins no earlier than this call. */
  get(key: string, read: () => Promise<T>): Promise<T>;
}

export function createSharedReads<T>(): SharedReads<T> {
  const batches = createBatches<() => Promise<T>, T>(Infinity, async (reads) => {
    // They read the same, so one of them reads for all.
    const value = await reads[0]!();
    return reads.map(() => value);
  });
  return { get: (key, read) => batches.add(key, read) };
}

import { describe, expect, test } from '@jest/globals';
import { createCoalescedReads } from '#api/load/coalesced-reads.ts';

/** Reads of a value that end only when the test ends them. */
function source() {
  const ends: (() => void)[] = [];
  let value = 0;
  const read = async (): Promise<number> => {
    const seen = value;
    await new Promise<void>((resolve) => ends.push(resolve));
    if (seen < 0) throw new Error('unreadable');
    return seen;
  };
  const write = (to: number): void => {
    value = to;
  };
  /** Ends the read with this index, which must have started. */
  const end = async (at: number): Promise<void> => {
    ends[at]!();
    await new Promise((resolve) => setImmediate(resolve));
  };
  return { read, write, end, begun: () => ends.length };
}

describe('a coalesced read', () => {
  test('starts after its requests and serves all waiting callers', async () => {
    const { read, write, end, begun } = source();
    const reads = createCoalescedReads<number>();
    const first = reads.get('a', read);
    write(1);
    const waiting = [reads.get('a', read), reads.get('a', read)];
    expect(begun()).toBe(1);
    await end(0);
    expect(begun()).toBe(2);
    write(2);
    const late = reads.get('a', read);
    await end(1);
    await end(2);
    expect(await Promise.all([first, ...waiting, late])).toEqual([0, 1, 1, 2]);
    expect(begun()).toBe(3);
  });

  test('is independent of reads of other keys', async () => {
    const { read, write, end } = source();
    const reads = createCoalescedReads<number>();
    const first = reads.get('a', read);
    write(1);
    const other = reads.get('b', read);
    await end(1);
    expect(await other).toBe(1);
    await end(0);
    expect(await first).toBe(0);
  });

  test('is unaffected by an earlier failure, and starts again later', async () => {
    const { read, write, end } = source();
    const reads = createCoalescedReads<number>();
    write(-1);
    const failed = reads.get('a', read);
    const caught = expect(failed).rejects.toThrow('unreadable');
    write(1);
    const next = reads.get('a', read);
    await end(0);
    await caught;
    await end(1);
    expect(await next).toBe(1);
    write(2);
    const after = reads.get('a', read);
    await end(2);
    expect(await after).toBe(2);
  });
});

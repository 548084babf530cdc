/**
 * The calls to Temporal in flight for committed changes. A response need not wait for them: they are in the outbox, and
 * run later if this process dies. But if Temporal is slower than the callers, the callers must wait; otherwise the
 * number of calls in flight would grow without limit.
 */
export interface InFlight {
  /** Resolves immediately while there is room, otherwise when `dispatched` does. `dispatched` never rejects. */
  add(dispatched: Promise<unknown>): Promise<void>;
  /** Resolves when nothing is in flight. */
  settled(): Promise<void>;
}

export function createInFlight(room: number): InFlight {
  const pending = new Set<Promise<unknown>>();
  return {
    add: async (dispatched) => {
      pending.add(dispatched);
      const done = dispatched.finally(() => pending.delete(dispatched));
      if (pending.size > room) await done;
    },
    settled: async () => {
      await Promise.all(pending);
    },
  };
}

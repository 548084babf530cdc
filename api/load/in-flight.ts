/**
 * The calls to Temporal in flight for committed changes. A response need not wait for them: the outbox holds them, and
 * they run later if this process dies. But when Temporal is slower than the callers, the callers must wait, or the
 * calls in flight would grow without bound.
 */
export interface Untold {
  /** Resolves at once while there is room, else when `dispatched` does. `dispatched` never rejects. */
  add(told: Promise<unknown>): Promise<void>;
  /** Resolves when nothing is in flight. */
  told(): Promise<void>;
}

export function createUntold(room: number): Untold {
  const underWay = new Set<Promise<unknown>>();
  return {
    add: async (told) => {
      underWay.add(told);
      const done = told.finally(() => underWay.delete(told));
      if (underWay.size > room) await done;
    },
    told: async () => {
      await Promise.all(underWay);
    },
  };
}

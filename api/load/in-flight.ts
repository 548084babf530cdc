/**
 * What this process has committed and is telling Temporal. An answer need not wait for that: it is promised in the
 * database and carried out later if this process dies. But when Temporal is slower than the callers, they have to
 * wait for it, or what is under way would grow without bound.
 */
export interface Untold {
  /** Resolves at once while there is room, else when `told` has. `told` never rejects. */
  add(told: Promise<unknown>): Promise<void>;
  /** Resolves when nothing is under way. */
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

/** A run that waits for a slot of its key. */
export interface WaitingChild {
  run_id: string;
  /** The runs above it, which wait for it. */
  above: readonly string[];
  /** The runs that hold the slots of its key. */
  holders: readonly string[];
}

/**
 * The runs that never get a slot, because every holder of one waits for such a run. What has no run above it keeps no
 * holder waiting, so it is not asked about.
 */
export function deadlocked(waiting: readonly WaitingChild[]): ReadonlySet<string> {
  let stuck = waiting;
  for (;;) {
    const kept = new Set(stuck.flatMap(({ above }) => above));
    const left = stuck.filter(
      ({ holders }) => holders.length > 0 && holders.every((run) => kept.has(run)),
    );
    if (left.length === stuck.length) return new Set(left.map(({ run_id }) => run_id));
    stuck = left;
  }
}

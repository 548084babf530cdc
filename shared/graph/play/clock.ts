type Act = () => void | Promise<void>;

/** A virtual clock: time passes when nothing else is left to do. */
export interface Clock {
  /** In ms since 1970. */
  readonly now: number;
  /** Now as ISO 8601. */
  readonly text: string;
  /** Acts once the clock shows this time; acts of the same time come in the order in which they were planned. */
  at: (ms: number, act: Act) => void;
  /** Acts until nothing is planned, one act at a time. */
  run: () => Promise<void>;
}

export function createClock(start: number): Clock {
  const planned: { ms: number; act: Act }[] = [];
  let now = start;
  return {
    get now() {
      return now;
    },
    get text() {
      return new Date(now).toISOString();
    },
    at: (ms, act) => {
      const time = Math.max(now, ms);
      let [low, high] = [0, planned.length];
      while (low < high) {
        const middle = (low + high) >> 1;
        if (planned[middle]!.ms <= time) low = middle + 1;
        else high = middle;
      }
      planned.splice(low, 0, { ms: time, act });
    },
    run: async () => {
      for (let next = planned.shift(); next !== undefined; next = planned.shift()) {
        now = next.ms;
        await next.act();
      }
    },
  };
}

import type { WaitPlace } from '#shared/graph/waits/wait-call.ts';

/** An execution that has not read its row after this time does not hold up others any longer. */
const PATIENCE_MS = 250;

/** The steps that this process has just woken, and whose rows no execution has read yet. */
export interface Woken {
  places(): readonly WaitPlace[];
  add(places: readonly WaitPlace[]): void;
  /** Call when an execution has read the row of a step, also of one that another process has woken. */
  read(place: WaitPlace): void;
  /** Keeps only these. */
  keep(places: readonly WaitPlace[]): void;
  /** Resolves to true when one is read, and to false after this time, in ms. */
  nextRead(ms: number): Promise<boolean>;
}

export function createWoken(): Woken {
  let open = new Map<string, { place: WaitPlace; since: number }>();
  let notify: (() => void) | undefined;
  const keyOf = ({ run_id, step_key }: WaitPlace): string => `${run_id} ${step_key}`;
  return {
    places: () => {
      const first = performance.now() - PATIENCE_MS;
      for (const [key, { since }] of open) if (since < first) open.delete(key);
      return [...open.values()].map(({ place }) => place);
    },
    add: (places) => {
      const since = performance.now();
      for (const place of places) open.set(keyOf(place), { place, since });
    },
    read: (place) => {
      if (open.delete(keyOf(place))) notify?.();
    },
    keep: (places) => {
      const keys = new Set(places.map(keyOf));
      open = new Map([...open].filter(([key]) => keys.has(key)));
    },
    nextRead: (ms) =>
      new Promise((resolve) => {
        const timer = setTimeout(end, ms, false);
        function end(read: boolean): void {
          clearTimeout(timer);
          notify = undefined;
          resolve(read);
        }
        notify = () => end(true);
      }),
  };
}

import { openEventFile } from './events.ts';

/**
 * - `acknowledged`: 2xx; the effect must exist, exactly once.
 * - `refused`: any other response; there must be no effect.
 * - `unknown`: no response; there can be an effect, at most once.
 */
export type Outcome = 'acknowledged' | 'refused' | 'unknown';

/** One request that was to change something. */
export interface Act {
  id: string;
  kind: string;
  /** The times of the request and of its end, in ms since 1970. */
  at: number;
  until: number;
  outcome: Outcome;
  status: number | null;
  /** The text of a refusal, or the reason for a missing response. */
  detail?: string;
  requestId?: string;
  /** Its subject, by kind: `runId`, `workflowId`, `nodeId`, `key`, `eventId`, ... */
  about: Record<string, string | number | boolean | null>;
}

/** All acts, in the order in which they ended. */
export interface Acts {
  all: Act[];
  add(act: Act): Act;
  /** Acknowledged acts per kind. */
  counts(): Record<string, number>;
}

export function createActs(folder: string): Acts {
  const file = openEventFile(folder, 'acts.ndjson');
  const all: Act[] = [];
  return {
    all,
    add: (act) => {
      all.push(act);
      file.write(act);
      return act;
    },
    counts: () => {
      const counts: Record<string, number> = {};
      for (const { kind, outcome } of all) {
        if (outcome === 'acknowledged') counts[kind] = (counts[kind] ?? 0) + 1;
      }
      return counts;
    },
  };
}

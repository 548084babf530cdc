import { openEventFile } from './events.ts';

/**
 * - `acknowledged`: 2xx; what was asked has to be so, once.
 * - `refused`: any other answer; nothing may have come of it.
 * - `unknown`: no answer; it may have been done, once at most.
 */
export type Outcome = 'acknowledged' | 'refused' | 'unknown';

/** One request that was to change something. */
export interface Act {
  id: string;
  kind: string;
  /** When it was sent and when it was over, in ms since 1970. */
  at: number;
  until: number;
  outcome: Outcome;
  status: number | null;
  /** The text of a refusal, or why there was no answer. */
  detail?: string;
  requestId?: string;
  /** What it was about, by kind: `runId`, `workflowId`, `nodeId`, `key`, `eventId`, ... */
  about: Record<string, string | number | boolean | null>;
}

/** All acts, in the order of their ends. */
export interface Acts {
  all: Act[];
  add(act: Act): Act;
  /** Acknowledged ones by kind. */
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

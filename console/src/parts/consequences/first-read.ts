import type { CheckedRun } from '#client/index.ts';

/** The lists of a gate, and what a decision about them has to be sent with. */
export type Shown = NonNullable<CheckedRun['shown']>;

/** How many gates are remembered. */
const MOST = 50;

const read = new Map<string, Shown>();

/**
 * What a gate showed when this tab read it first in this round, to mark what has changed since. It is kept while other
 * gates are open, because a decision can be refused after the page has moved on.
 */
export function firstRead(round: string, now: Shown): Shown {
  const first = read.get(round);
  if (first !== undefined) return first;
  const [oldest] = read.keys();
  if (read.size >= MOST && oldest !== undefined) read.delete(oldest);
  read.set(round, now);
  return now;
}

/** After a decision, what the gate shows then is what was read. */
export const forgetRead = (round: string): void => void read.delete(round);

/**
 * The work that a computation over a tenant's data may still do, in units of at most 0.1 µs on a machine of 2020: one
 * instruction of a pattern on one character. Counted, not timed, so that workflow code comes to the same end on every
 * replay. Computations that share a budget share the object.
 */
export interface WorkBudget {
  /** Units left; below zero when a computation was refused for lack of them. */
  work: number;
  /** Only searches count, as in executions that began before everything did. */
  searchesOnly?: boolean;
}

/** What one computation may do where it cannot hold anybody up: a search takes two seconds for it at worst. */
export const MAX_WORK = 20_000_000;
/** What may be done in between on a thread that others wait for: 20 ms at worst. */
export const SMALL_WORK = 200_000;

/** Characters that a plain text function (find, compare, change case) gets through in the time of one unit. */
const CHARACTERS_PER_UNIT = 20;

/** Takes units; false when there were not enough. */
export function takeWork(budget: WorkBudget, units: number): boolean {
  budget.work -= units;
  return budget.work >= 0;
}

/** Takes what walking through texts of this length costs; always true where only searches count. */
export function takeTextWork(budget: WorkBudget, length: number): boolean {
  return budget.searchesOnly === true || takeWork(budget, Math.ceil(length / CHARACTERS_PER_UNIT));
}

/**
 * The remaining work of a computation over a tenant's data. One unit is one instruction of a pattern on one character:
 * at most 0.1 µs on a machine from 2020. It is counted, not timed, so that a replay of workflow code gives the same
 * result. Computations that share a budget share the object.
 */
export interface WorkBudget {
  /** Remaining units; negative after a computation was refused. */
  work: number;
}

/** For one computation on a separate thread: a search takes at most two seconds. */
export const MAX_WORK = 20_000_000;
/** For one computation on a thread that serves others: at most 20 ms. */
export const SMALL_WORK = 200_000;

/** Characters that a plain text function (find, compare, change case) processes per unit. */
const CHARACTERS_PER_UNIT = 20;

/** Takes units from the budget; false if there were not enough. */
export function takeWork(budget: WorkBudget, units: number): boolean {
  budget.work -= units;
  return budget.work >= 0;
}

/** Takes the cost of processing texts of this length from the budget; false if there were not enough units. */
export function takeTextWork(budget: WorkBudget, length: number): boolean {
  return takeWork(budget, Math.ceil(length / CHARACTERS_PER_UNIT));
}

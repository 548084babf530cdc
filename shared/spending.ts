/**
 * Whether a step may begin under the cap of its run and the budgets it is counted in. Steps that are at work count
 * before they have cost anything, so that steps in parallel are held to the same bounds as steps one after the other.
 * All amounts are whole micro-dollars.
 */

/** What one attempt at a step may cost. `most` null: nobody can say beforehand. */
export interface StepCost {
  least: number;
  most: number | null;
}

export const FREE: StepCost = { least: 0, most: 0 };
/** Costs something, and nobody can say how much. */
export const UNKNOWN_COST: StepCost = { least: 1, most: null };

/** One budget that a run is counted in. */
export interface BudgetRoom {
  budgetId: string;
  name: string;
  limit: number;
  /** What each run holds; null: nothing is held, and only what ended runs have cost counts. */
  estimate: number | null;
  /** What the run has cost since its hold was placed. */
  used: number;
  /** Spent and held, without what steps at work may still cost beyond the estimates of their runs. */
  committed: number;
  /** What steps of other runs that are at work may still cost beyond the estimates of those runs. */
  pending: number;
  /** A step of unknown cost is at work for another run, beyond the estimate of that run. */
  pendingUnknown: boolean;
}

export interface RunRoom {
  cost: number;
  cap: number | null;
  /** The other steps of the run that are at work. */
  inFlight: { micros: number; unknown: boolean };
  /** In the order of their refusals; empty when the run is exempt from them. */
  budgets: readonly BudgetRoom[];
}

/** Null: the run's own cap. */
export type Stop = { budget: BudgetRoom | null; committed: number; limit: number };
export type Admittance = 'begin' | 'wait' | Stop;

/**
 * - Stopped is what money that is really spent or held leaves no room for. A run within its estimate never is.
 * - A step waits while only what other steps at work may cost stands in its way: each of them ends, and nothing waits
 *   for a step that waits.
 * - Where a step begins beyond what its run holds, less than the limit is committed with everything at work counted, and
 *   no step of unknown cost is at work. So a limit is passed by less than what the one step costs that passes it.
 */
export function admit(run: RunRoom, step: StepCost): Admittance {
  const { cost, cap, inFlight, budgets } = run;
  if (cap !== null && cost >= cap) return { budget: null, committed: cost, limit: cap };
  for (const budget of budgets) {
    const mayBeStopped = budget.estimate === null || outgrows(budget, step);
    if (mayBeStopped && budget.committed >= budget.limit) {
      return { budget, committed: budget.committed, limit: budget.limit };
    }
  }
  if (step.most === 0) return 'begin';
  if (cap !== null && (inFlight.unknown || cost + inFlight.micros >= cap)) return 'wait';
  return budgets.every((budget) => hasRoom(budget, inFlight, step)) ? 'begin' : 'wait';
}

/** Whether all that the run may cost with the step stays within what it holds, so that the budgets' rows do not matter. */
export const isCovered = ({ inFlight, budgets }: RunRoom, { most }: StepCost): boolean =>
  budgets.every(
    ({ estimate, used }) =>
      estimate === null ||
      (most !== null && !inFlight.unknown && used + inFlight.micros + most <= estimate),
  );

/** Whether the step takes the run past its estimate whatever it costs. */
const outgrows = ({ estimate, used }: BudgetRoom, step: StepCost): boolean =>
  estimate !== null && used + step.least > estimate;

function hasRoom(budget: BudgetRoom, inFlight: RunRoom['inFlight'], step: StepCost): boolean {
  const { estimate, used } = budget;
  if (estimate === null) return true;
  if (inFlight.unknown) return false;
  const own = used + inFlight.micros;
  if (step.most !== null && own + step.most <= estimate) return true;
  // On its own a step always begins while its run may still end within its estimate.
  if (inFlight.micros === 0 && !outgrows(budget, step)) return true;
  if (budget.pendingUnknown) return false;
  const ownPending = Math.max(0, own - Math.max(estimate, used));
  return budget.committed + ownPending + budget.pending < budget.limit;
}

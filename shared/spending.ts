/**
 * Whether a step can start under the caps of its run and its budgets. Steps in progress count before they have cost
 * anything, so that parallel steps have the same limits as sequential ones. All amounts are whole micro-dollars.
 */

/** The possible cost of one attempt at a step. `most` null: unknown. */
export interface StepCost {
  least: number;
  most: number | null;
  /** `most` is what the node has cost before, and no bound. */
  estimated?: boolean;
}

export const FREE: StepCost = { least: 0, most: 0 };
/** Costs something; the amount is unknown. */
export const UNKNOWN_COST: StepCost = { least: 1, most: null };

/** One budget of a run. */
export interface BudgetRoom {
  budgetId: string;
  name: string;
  limit: number;
  /** The hold of each run; null: nothing is held, and only the cost of ended runs counts. */
  estimate: number | null;
  /** The run's cost since its hold was placed. */
  used: number;
  /** Spent and held, without the possible cost of steps in progress beyond the estimates of their runs. */
  committed: number;
  /** The possible cost of other runs' steps in progress, beyond the estimates of those runs. */
  pending: number;
  /** A step of unknown cost is in progress in another run, beyond the estimate of that run. */
  pendingUnknown: boolean;
}

/** A cap: of the run, or of a run above it, which counts the runs below it. */
interface CapRoom {
  cost: number;
  cap: number;
  /** The other steps in progress that count. */
  inFlight: Pending;
}

interface Pending {
  micros: number;
  unknown: boolean;
}

export interface RunRoom {
  /** For a rehearsal of an experiment with a budget, which is never exceeded; counts all its rehearsals. */
  experiment: CapRoom | null;
  /** The outermost first. */
  caps: readonly CapRoom[];
  /** The other steps of the run in progress. */
  inFlight: Pending;
  /** In the order of their refusals; empty when the run is exempt from them. */
  budgets: readonly BudgetRoom[];
}

/** Null: a cap. With `experiment`, that of an experiment, which cannot cover a step that may cost so much. */
export type Stop = {
  budget: BudgetRoom | null;
  committed: number;
  limit: number;
  experiment?: Pick<StepCost, 'most'>;
};
export type Admittance = 'begin' | 'wait' | Stop;

/**
 * - A step is stopped when spent and held money leaves no room for it. A run within its estimate is never stopped.
 * - A step waits while only the possible cost of other steps in progress blocks it: each of them ends, and no step
 *   waits for a waiting step.
 * - When a step starts beyond the hold of its run, less than the limit is committed, including all steps in progress,
 *   and no step of unknown cost is in progress. So a limit is exceeded by less than the cost of the one step that
 *   exceeds it.
 * - The budget of an experiment is not exceeded at all: a step starts only if everything that it may cost fits, so a step
 *   of unknown cost is stopped.
 */
export function admit(run: RunRoom, step: StepCost): Admittance {
  const { caps, inFlight, budgets, experiment } = run;
  const full = caps.find(({ cost, cap }) => cost >= cap);
  if (full !== undefined) return { budget: null, committed: full.cost, limit: full.cap };
  for (const budget of budgets) {
    const mayBeStopped = budget.estimate === null || outgrows(budget, step);
    if (mayBeStopped && budget.committed >= budget.limit) {
      return { budget, committed: budget.committed, limit: budget.limit };
    }
  }
  if (step.most === 0) return 'begin';
  const exact = experiment === null ? 'begin' : admitExactly(experiment, step);
  if (exact !== 'begin') return exact;
  if (caps.some(mayFill)) return 'wait';
  return budgets.every((budget) => hasRoom(budget, inFlight, step)) ? 'begin' : 'wait';
}

/** Whether everything that the step may cost fits, beside the steps in progress. */
function admitExactly({ cost, cap, inFlight }: CapRoom, step: StepCost): Admittance {
  const most = step.estimated === true ? null : step.most;
  if (most === null || cost + most > cap) {
    return { budget: null, committed: cost, limit: cap, experiment: { most } };
  }
  return cost + inFlight.micros + most > cap ? 'wait' : 'begin';
}

/** Whether the steps in progress could use up the rest. */
const mayFill = ({ cost, cap, inFlight }: CapRoom): boolean =>
  inFlight.unknown || cost + inFlight.micros >= cap;

/** Whether the run's possible cost with the step stays within its holds, so that the budgets' rows do not matter. */
export const isCovered = ({ inFlight, budgets }: RunRoom, { most }: StepCost): boolean =>
  budgets.every(
    ({ estimate, used }) =>
      estimate === null ||
      (most !== null && !inFlight.unknown && used + inFlight.micros + most <= estimate),
  );

/** Whether even the least cost of the step exceeds the run's estimate. */
const outgrows = ({ estimate, used }: BudgetRoom, step: StepCost): boolean =>
  estimate !== null && used + step.least > estimate;

function hasRoom(budget: BudgetRoom, inFlight: RunRoom['inFlight'], step: StepCost): boolean {
  const { estimate, used } = budget;
  if (estimate === null) return true;
  if (inFlight.unknown) return false;
  const own = used + inFlight.micros;
  if (step.most !== null && own + step.most <= estimate) return true;
  // A single step can always start while its run may still end within its estimate.
  if (inFlight.micros === 0 && !outgrows(budget, step)) return true;
  if (budget.pendingUnknown) return false;
  const ownPending = Math.max(0, own - Math.max(estimate, used));
  return budget.committed + ownPending + budget.pending < budget.limit;
}

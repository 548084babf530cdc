/**
 * Whether a step can start under the caps of its run and its budgets. Steps in progress count before they have cost
 * anything, so that parallel steps have the same limits as sequential ones. All amounts are whole micro-dollars.
 */

/** The possible cost of one attempt at a step. `most` null: unknown. */
export interface StepCost {
  least: number;
  most: number | null;
  /** `most` is what the node cost before; it is not an upper bound. */
  estimated?: boolean;
}

export const FREE: StepCost = { least: 0, most: 0 };
/** It costs something, but the amount is unknown. */
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
  /** The amount that the run holds, without the possible cost of its steps in progress beyond the estimate. */
  held: number;
  /** The amount spent and held, without the possible cost of steps in progress beyond the estimates of their runs. */
  committed: number;
  /** The possible cost of other runs' steps in progress, beyond the estimates of those runs. */
  pending: number;
  /** Whether a step of unknown cost is in progress in another run, beyond that run's estimate. */
  pendingUnknown: boolean;
  /**
   * How much of the hold that the run shares with runs above, below and beside it their requests in progress may
   * release.
   */
  releasable: number;
  /** Whether it can be exceeded by less than one step. Otherwise no step with a known maximum exceeds it. */
  oneStep: boolean;
}

/** A cap of the run, or of a run above it, which also counts the runs below it. */
interface CapRoom {
  cost: number;
  cap: number;
  /** The other steps in progress that count. */
  inFlight: Pending;
  oneStep: boolean;
}

interface Pending {
  micros: number;
  unknown: boolean;
}

export interface RunRoom {
  /** For a rehearsal of an experiment with a budget; counts all its rehearsals. */
  experiment: Omit<CapRoom, 'oneStep'> | null;
  /** Outermost first. */
  caps: readonly CapRoom[];
  /** The other steps of the run in progress. */
  inFlight: Pending;
  /** In the order of refusals; empty when the run is exempt from them. */
  budgets: readonly BudgetRoom[];
}

/** Null: a cap. With `experiment`: the budget of an experiment. */
export interface Stop {
  budget: BudgetRoom | null;
  committed: number;
  limit: number;
  experiment: boolean;
  /** The possible cost of the step; null: unknown. */
  most: number | null;
}
export type Admittance = 'begin' | 'wait' | Stop;

/**
 * Decides whether a step can start:
 *
 * - A step starts if its possible cost fits each limit, in addition to what is spent and held and to the possible cost
 *   of the steps in progress. So steps with a known maximum never exceed a limit.
 * - A step is stopped when spent and held amounts leave no room for it. A run can always use its own hold.
 * - A step waits while only the possible cost of other steps in progress blocks it, including those of runs that share
 *   a hold with its run. Each of them ends, and no step waits for a waiting step.
 * - A step without a known maximum starts if something is left and no other step that needs room is in progress. Only
 *   such a step can exceed the limit. An experiment refuses it.
 * - A limit with `oneStep` is exceeded by less than one step: a step starts while the committed amount, including all
 *   steps in progress, is below the limit.
 */
export function admit(run: RunRoom, step: StepCost): Admittance {
  const { caps, inFlight, budgets, experiment } = run;
  const verdicts = [
    ...caps.map((cap) => admitUnderCap(cap, step)),
    ...budgets.map((budget) => admitUnderBudget(budget, inFlight, step)),
    ...(experiment === null ? [] : [admitToExperiment(experiment, step)]),
  ];
  const stop = verdicts.find((verdict) => typeof verdict === 'object');
  return stop ?? (verdicts.includes('wait') ? 'wait' : 'begin');
}

/**
 * The cost that is reserved for a step while it runs. Under a limit without overrun, an earlier cost is not an upper
 * bound.
 */
export const countedCost = ({ caps, budgets }: RunRoom, step: StepCost): StepCost =>
  step.estimated === true &&
  (caps.some(({ oneStep }) => !oneStep) ||
    budgets.some(({ estimate, oneStep }) => estimate !== null && !oneStep))
    ? { least: step.least, most: null }
    : step;

/** The maximum cost of the step; null: unknown. */
const boundOf = ({ most, estimated }: StepCost): number | null =>
  estimated === true ? null : most;

function admitUnderCap({ cost, cap, inFlight, oneStep }: CapRoom, step: StepCost): Admittance {
  const most = boundOf(step);
  const stop: Stop = { budget: null, committed: cost, limit: cap, experiment: false, most };
  if (!oneStep && most !== null) return fitting({ cost, cap, inFlight }, most) ?? stop;
  if (cost >= cap) return stop;
  if (step.most === 0) return 'begin';
  // The steps in progress could use up the rest.
  return inFlight.unknown || cost + inFlight.micros >= cap ? 'wait' : 'begin';
}

function admitToExperiment(room: Omit<CapRoom, 'oneStep'>, step: StepCost): Admittance {
  const most = boundOf(step);
  if (most === 0) return 'begin';
  const stop: Stop = {
    budget: null,
    committed: room.cost,
    limit: room.cap,
    experiment: true,
    most,
  };
  return most === null ? stop : (fitting(room, most) ?? stop);
}

/** Whether this amount fits in addition to the steps in progress; undefined when it does not fit even without them. */
function fitting(
  { cost, cap, inFlight }: Omit<CapRoom, 'oneStep'>,
  most: number,
): 'begin' | 'wait' | undefined {
  if (cost + most > cap) return undefined;
  if (most === 0) return 'begin';
  return inFlight.unknown || cost + inFlight.micros + most > cap ? 'wait' : 'begin';
}

function admitUnderBudget(budget: BudgetRoom, inFlight: Pending, step: StepCost): Admittance {
  const { estimate, used, held, committed, limit, releasable } = budget;
  const most = boundOf(step);
  const stop: Stop = { budget, committed, limit, experiment: false, most };
  if (estimate === null) return committed >= limit ? stop : 'begin';
  if (budget.oneStep || most === null) return admitLoosely(budget, inFlight, step) ?? stop;
  const grown = committed - held + Math.max(held, used + most);
  if (used + most > estimate && grown - releasable > limit) return stop;
  if (most === 0) return 'begin';
  if (inFlight.unknown) return 'wait';
  const own = used + inFlight.micros + most;
  if (own <= estimate) return 'begin';
  if (budget.pendingUnknown) return 'wait';
  return committed - held + Math.max(held, own) + budget.pending > limit ? 'wait' : 'begin';
}

/** Undefined when the budget has no room. */
function admitLoosely(
  budget: BudgetRoom,
  inFlight: Pending,
  step: StepCost,
): 'begin' | 'wait' | undefined {
  if (outgrows(budget, step) && budget.committed - budget.releasable >= budget.limit) {
    return undefined;
  }
  return step.most === 0 || hasRoom(budget, inFlight, step) ? 'begin' : 'wait';
}

/**
 * Whether the run's possible cost, including the step, stays within its holds, so that the budgets' rows do not matter.
 */
export const isCovered = ({ inFlight, budgets }: RunRoom, { most }: StepCost): boolean =>
  budgets.every(
    ({ estimate, used }) =>
      estimate === null ||
      (most !== null && !inFlight.unknown && used + inFlight.micros + most <= estimate),
  );

/** Whether even the minimum cost of the step exceeds the run's estimate. */
const outgrows = ({ estimate, used }: BudgetRoom, step: StepCost): boolean =>
  estimate !== null && used + step.least > estimate;

function hasRoom(budget: BudgetRoom, inFlight: Pending, step: StepCost): boolean {
  const { estimate, used } = budget;
  if (estimate === null) return true;
  if (inFlight.unknown) return false;
  const own = used + inFlight.micros;
  if (step.most !== null && own + step.most <= estimate) return true;
  // A single step can always start as long as its run may still end within its estimate.
  if (inFlight.micros === 0 && !outgrows(budget, step)) return true;
  if (budget.pendingUnknown) return false;
  const ownPending = Math.max(0, own - Math.max(estimate, used));
  return budget.committed + ownPending + budget.pending < budget.limit;
}

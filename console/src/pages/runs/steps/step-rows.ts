import type { Step } from '../../../../../client/index.ts';
import { isNodeStep, unfolded } from './agent-steps.ts';

export type StepOrder = 'run' | 'name' | 'state' | 'duration' | 'cost';

export interface StepChoice {
  /** Matches the name, key, model or error, ignoring case. Empty matches all. */
  text: string;
  state: Step['status'] | undefined;
  order: StepOrder;
  descending: boolean;
}

/**
 * The matching steps, in the requested order. Equal ones keep the order of the run. The turns and calls of agents are
 * below the agent that is selected, and found by a filter.
 */
export function chosenSteps(
  all: readonly Step[],
  { text, state, order, descending }: StepChoice,
  chosen?: string,
): Step[] {
  const wanted = text.trim().toLowerCase();
  const filtered = wanted !== '' || state !== undefined;
  const inOrder = order === 'run' && !descending;
  const steps = filtered ? all : inOrder ? unfolded(all, chosen) : all.filter(isNodeStep);
  const found = steps.filter(
    (step) =>
      (state === undefined || step.status === state) && (wanted === '' || says(step, wanted)),
  );
  if (order !== 'run') {
    const compare = orders[order];
    return found.toSorted((a, b) => (descending ? compare(b, a) : compare(a, b)));
  }
  return descending ? found.toReversed() : found;
}

const says = (step: Step, wanted: string): boolean =>
  [step.label, step.step_key, step.model, step.error].some(
    (text) => text?.toLowerCase().includes(wanted) === true,
  );

const orders: Record<Exclude<StepOrder, 'run'>, (a: Step, b: Step) => number> = {
  name: (a, b) => a.label.localeCompare(b.label),
  state: (a, b) => a.status.localeCompare(b.status),
  duration: (a, b) => (a.duration_ms ?? Infinity) - (b.duration_ms ?? Infinity) || 0,
  cost: (a, b) => a.cost_usd - b.cost_usd,
};

import type { Step } from '../../../../../client/index.ts';

export type StepOrder = 'run' | 'name' | 'state' | 'duration' | 'cost';

export interface StepChoice {
  /** Matches the name, key, model or error, ignoring case. Empty matches all. */
  text: string;
  state: Step['status'] | undefined;
  order: StepOrder;
  descending: boolean;
}

/** The matching steps, in the requested order. Equal ones keep the order of the run. */
export function chosenSteps(
  steps: readonly Step[],
  { text, state, order, descending }: StepChoice,
): Step[] {
  const wanted = text.trim().toLowerCase();
  const found = steps.filter(
    (step) =>
      (state === undefined || step.status === state) && (wanted === '' || says(step, wanted)),
  );
  if (order !== 'run') {
    const compare = orders[order];
    return found.sort((a, b) => (descending ? compare(b, a) : compare(a, b)));
  }
  return descending ? found.reverse() : found;
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

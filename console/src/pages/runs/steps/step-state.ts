import type { Run, Step } from '#client/index.ts';
import { isNodeStep } from './agent-steps.ts';

export type ShownState = Step['status'] | 'rejected';

/**
 * The displayed state of a step. A rejected gate has the status `success` when the graph has a branch for it; the
 * display shows the rejection.
 */
export const shownState = (step: Pick<Step, 'status' | 'decision'>): ShownState =>
  step.decision?.approved === false && step.status !== 'paused' ? 'rejected' : step.status;

/** The labels of the human gates that were rejected, each once, in the order of the run. */
export const rejectedGates = ({ steps }: Pick<Run, 'steps'>): string[] => [
  ...new Set(
    steps
      .filter(isNodeStep)
      .filter((step) => shownState(step) === 'rejected')
      .map(({ label }) => label),
  ),
];

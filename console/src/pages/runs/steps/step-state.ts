import type { Run, Step } from '../../../../../client/index.ts';

export type ShownState = Step['status'] | 'rejected';

/**
 * What a step shows as. A gate that was rejected is done, so its status is `success` when the graph has a way for
 * that; whoever looks at the run wants to see the rejection.
 */
export const shownState = (step: Pick<Step, 'status' | 'decision'>): ShownState =>
  step.decision?.approved === false && step.status !== 'paused' ? 'rejected' : step.status;

/** The labels of the gates that were rejected, each once, in the order of the run. */
export const rejectedGates = ({ steps }: Pick<Run, 'steps'>): string[] => [
  ...new Set(steps.filter((step) => shownState(step) === 'rejected').map(({ label }) => label)),
];

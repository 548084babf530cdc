import type { Step } from '../../../../../client/index.ts';

/** Whether the step is one of a node, and no turn or call of an agent. */
export const isNodeStep = (step: Pick<Step, 'parent_step_key'>): boolean =>
  step.parent_step_key === undefined;

/** The key of the node's step that a step belongs to: for a turn or a call, its agent's. */
export const nodeKeyOf = (step: Pick<Step, 'step_key' | 'parent_step_key'>): string =>
  step.parent_step_key ?? step.step_key;

/** The name in lists: `Turn 2` for a turn, which has the label of its agent. */
export const listedName = ({ label, turn, tool_call: call }: Step): string =>
  turn === undefined || call !== undefined ? label : `Turn ${turn}`;

/** The levels below the step of a node: 1 for turns, 2 for calls. */
export const depthOf = ({ parent_step_key, tool_call: call }: Step): number => {
  if (parent_step_key === undefined) return 0;
  return call === undefined ? 1 : 2;
};

/**
 * The steps of nodes. Below an agent are its turns and calls, if the selected step is the agent's or one of them: a run
 * with many turns stays readable.
 */
export function unfolded(steps: readonly Step[], chosen: string | undefined): Step[] {
  const selected = steps.find(({ step_key }) => step_key === chosen);
  const open = selected && nodeKeyOf(selected);
  if (open === undefined) return steps.filter(isNodeStep);
  const parts = steps
    .filter(({ parent_step_key }) => parent_step_key === open)
    .sort((a, b) => (a.turn ?? 0) - (b.turn ?? 0) || indexOf(a) - indexOf(b));
  return steps
    .filter(isNodeStep)
    .flatMap((step) => (step.step_key === open ? [step, ...parts] : [step]));
}

/** The turn is before its calls, which start in any order. */
const indexOf = ({ tool_call: call }: Step): number => call?.index ?? 0;

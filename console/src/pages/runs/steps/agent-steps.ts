import type { Run, Step } from '#client/index.ts';
import { stepNames } from '#console/src/messages/en/runs/steps.ts';

/** Whether the step belongs to a node, instead of being a turn or call of an agent. */
export const isNodeStep = (step: Pick<Step, 'parent_step_key'>): boolean =>
  step.parent_step_key === undefined;

/** The key of the node's step that a step belongs to: for a turn or call, its agent's. */
export const nodeKeyOf = (step: Pick<Step, 'step_key' | 'parent_step_key'>): string =>
  step.parent_step_key ?? step.step_key;

/** The name in lists: `Turn 2` for a turn, whose label is its agent's. */
export const listedName = ({ label, turn, tool_call: call }: Step): string =>
  turn === undefined || call !== undefined ? label : stepNames.turn(turn);

/** The run with the status `paused` for agents that do nothing but wait for the approval of a call. */
export function withWaitingAgents(run: Run): Run {
  const parts = run.steps.filter((step) => !isNodeStep(step));
  const having = (status: Step['status']): Set<string> =>
    new Set(parts.filter((step) => step.status === status).map(nodeKeyOf));
  const waiting = having('paused');
  if (waiting.size === 0) return run;
  const busy = having('running');
  const steps = run.steps.map((step) =>
    step.status === 'running' && waiting.has(step.step_key) && !busy.has(step.step_key)
      ? { ...step, status: 'paused' as const }
      : step,
  );
  return { ...run, steps };
}

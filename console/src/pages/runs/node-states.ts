import { repeats } from '#shared/graph/kinds.ts';
import type { Run, Step } from '#client/index.ts';
import { stepNames } from '#console/src/messages/en/runs/steps.ts';
import { isNodeStep } from './steps/agent-steps.ts';
import type { DrawnEdge, Drawing } from '#console/src/graph/drawn.ts';

/** The states of the nodes in a run's graph. */
export interface NodeStates {
  /** The steps of a node, in order of their iterations; empty if the node was not reached. */
  stepsOf: (nodeId: string) => readonly Step[];
  /** The step of its last iteration. */
  latestOf: (nodeId: string) => Step | undefined;
  /** Number of started iterations of a loop; undefined for other nodes and for a loop that was not reached. */
  iterationsOf: (nodeId: string) => number | undefined;
  /** Whether the run followed the edge; undefined while undecided. */
  taken: (edge: Pick<DrawnEdge, 'source' | 'target' | 'conditionValue'>) => boolean | undefined;
}

const none: readonly Step[] = [];

/** The steps of each node, in order of their iterations, without the turns and calls of agents. */
export function stepsByNode(steps: readonly Step[]): Pick<NodeStates, 'stepsOf' | 'latestOf'> {
  const byNode = new Map<string, Step[]>();
  for (const step of steps.filter(isNodeStep)) {
    const known = byNode.get(step.node_id);
    if (known === undefined) byNode.set(step.node_id, [step]);
    else known.push(step);
  }
  for (const known of byNode.values()) known.sort((a, b) => byIteration(a.iteration, b.iteration));
  const stepsOf = (nodeId: string): readonly Step[] => byNode.get(nodeId) ?? none;
  return { stepsOf, latestOf: (nodeId) => stepsOf(nodeId).at(-1) };
}

/** Derives the states of all nodes from the steps of a run. */
export function nodeStates(
  run: Pick<Run, 'status' | 'steps'>,
  { nodes, edges }: Drawing,
): NodeStates {
  const { stepsOf, latestOf } = stepsByNode(run.steps);
  const loops = new Set(nodes.filter(repeats).map(({ id }) => id));
  const intoBody = edges.filter((edge) => loops.has(edge.source) && edge.conditionValue === 'true');

  // Every first node of an iteration has a step in each iteration, even if it is skipped.
  const iterations = new Map<string, number>();
  for (const { source, target } of intoBody) {
    const loop = latestOf(source);
    const first = latestOf(target);
    if (loop === undefined) continue;
    const within = first !== undefined && isWithin(first.iteration, loop.iteration);
    const iteration = within ? (first.iteration[loop.iteration.length] ?? 0) : 0;
    iterations.set(source, Math.max(iterations.get(source) ?? 0, iteration));
  }

  const over = run.status === 'success' || run.status === 'failed';
  const taken: NodeStates['taken'] = ({ source, target, conditionValue }) => {
    const step = latestOf(source);
    if (latestOf(target)?.status === 'skipped' || step?.status === 'skipped') return false;
    const intoIterations = loops.has(source) && conditionValue === 'true';
    if (intoIterations && (iterations.get(source) ?? 0) > 0) return true;
    if (step?.caught === true) return conditionValue === 'error';
    if (step?.status !== 'success') return over ? false : undefined;
    if (loops.has(source)) return !intoIterations;
    if (conditionValue === 'error') return false;
    return conditionValue === undefined || resultOf(step) === (conditionValue === 'true');
  };
  return { stepsOf, latestOf, iterationsOf: (nodeId) => iterations.get(nodeId), taken };
}

/** The result of a condition or a gate. */
function resultOf({ kind, output }: Step): boolean | undefined {
  if (typeof output !== 'object' || output === null) return undefined;
  const { result, approved } = output as { result?: unknown; approved?: unknown };
  const value = kind === 'human_gate' ? approved : result;
  return typeof value === 'boolean' ? value : undefined;
}

const isWithin = (inner: readonly number[], outer: readonly number[]): boolean =>
  outer.every((iteration, depth) => inner[depth] === iteration);

export function byIteration(a: readonly number[], b: readonly number[]): number {
  const depth = a.findIndex((iteration, index) => iteration !== b[index]);
  if (depth === -1) return a.length - b.length;
  return (a[depth] ?? 0) - (b[depth] ?? 0);
}

/** `iteration 3`, in nested loops `iteration 3.2`; undefined outside of loops. */
export function iterationText({ iteration }: Pick<Step, 'iteration'>): string | undefined {
  return iteration.length === 0 ? undefined : stepNames.iteration(iteration.join('.'));
}

/** `#3` for the third iteration, for narrow places; undefined outside of loops. */
export function iterationMark({ iteration }: Pick<Step, 'iteration'>): string | undefined {
  return iteration.length === 0 ? undefined : `#${iteration.join('.')}`;
}

/** The name of a step, for screen readers and sentences. */
export function stepName(step: Pick<Step, 'label' | 'iteration'>): string {
  const iteration = iterationText(step);
  return iteration === undefined ? step.label : stepNames.withIteration(step.label, iteration);
}

import { turnKey } from '#shared/agents/turn-record.ts';
import type { Step } from '#client/index.ts';
import { isNodeStep } from '#console/src/pages/runs/steps/agent-steps.ts';
import { stepKeyIn } from '#shared/graph/schedule/step-key.ts';
import type { Items, Tally } from '#console/src/pages/runs/items.ts';

type Attempt = Step['attempts'][number];

/** One row of the trace, with the rows inside it. Ids are stable while the run continues. */
export type TraceNode = { id: string; children: TraceNode[] } & (
  | {
      type: 'step';
      step: Step;
      /** For a loop or map: what it has repeated. */
      tally: Tally | undefined;
      /** Whether an error path of the graph continues from this failed step. */
      caught: boolean;
    }
  | { type: 'iteration'; loop: Step; iteration: number; failed: boolean }
  | { type: 'attempt'; step: Step; attempt: Attempt }
  | { type: 'child'; step: Step; runId: string }
);

/**
 * The steps of a run as a tree, in the order of their starts: iterations within their loop or map, turns and calls
 * within their agent, attempts and the child run within their step. If a body has one node, its iterations need no
 * separate level. The failed items of a map come first.
 */
export function traceTree(steps: readonly Step[], items: Items): TraceNode[] {
  const { loopOf, bodySize } = items.enclosing;
  const roots: TraceNode[] = [];
  const known = new Map<string, TraceNode>(
    steps.map((step) => [step.step_key, stepNode(step, items)] as const),
  );
  const iterationIn = (loop: TraceNode & { type: 'step' }, iteration: number): TraceNode => {
    const id = `${loop.id}\n${iteration}`;
    const before = known.get(id);
    if (before !== undefined) return before;
    const made: TraceNode = {
      type: 'iteration',
      id,
      loop: loop.step,
      iteration,
      failed: false,
      children: [],
    };
    known.set(id, made);
    loop.children.push(made);
    return made;
  };
  const parentOf = (step: Step): TraceNode | undefined => {
    const { parent_step_key: agent, turn, tool_call: call, iteration, node_id: nodeId } = step;
    if (agent !== undefined) {
      const ofCall = call === undefined ? undefined : known.get(turnKey(agent, turn ?? 0));
      return ofCall ?? known.get(agent);
    }
    const loopId = loopOf(nodeId);
    const last = iteration.at(-1);
    if (loopId === undefined || last === undefined) return undefined;
    const loop = known.get(stepKeyIn(loopId, iteration.slice(0, -1)));
    if (loop?.type !== 'step') return undefined;
    return bodySize(loopId) === 1 ? loop : iterationIn(loop, last);
  };
  for (const step of steps) {
    const node = known.get(step.step_key);
    if (node !== undefined) (parentOf(step)?.children ?? roots).push(node);
  }
  for (const node of known.values()) node.children.sort(byPlace);
  for (const root of roots) placeFailures(root, items);
  return roots;
}

/** Marks the iterations in which something failed, and moves the failed items of maps up. True if something failed. */
function placeFailures(node: TraceNode, items: Items): boolean {
  const failed = new Set(node.children.filter((each) => placeFailures(each, items)));
  if (node.type === 'iteration') node.failed = failed.size > 0;
  if (node.type === 'step' && node.step.kind === 'map' && failed.size > 0) {
    node.children.sort((a, b) => Number(failed.has(b)) - Number(failed.has(a)));
  }
  return failed.size > 0 || (node.type === 'step' && items.isFailure(node.step));
}

function stepNode(step: Step, { isFailure, ofStep }: Items): TraceNode {
  const { step_key: id, attempts, child_run_id: runId } = step;
  const tries = attempts.length < 2 ? [] : attempts;
  return {
    type: 'step',
    id,
    step,
    tally: ofStep(id),
    caught: step.caught === true && !isFailure(step),
    children: [
      ...tries.map((attempt): TraceNode => {
        return {
          type: 'attempt',
          id: `${id}\nattempt ${attempt.attempt}`,
          step,
          attempt,
          children: [],
        };
      }),
      ...(runId === undefined
        ? []
        : [{ type: 'child', id: `${id}\n${runId}`, step, runId, children: [] } as TraceNode]),
    ],
  };
}

/** Iterations, turns and the calls of a turn have numbers; everything else keeps the order of its start. */
function byPlace(a: TraceNode, b: TraceNode): number {
  return placeOf(a) - placeOf(b);
}

function placeOf(node: TraceNode): number {
  if (node.type === 'iteration') return node.iteration;
  if (node.type !== 'step') return 0;
  const { turn, tool_call: call } = node.step;
  return call?.index ?? turn ?? 0;
}

/** What a row shows about the steps of nodes inside it. */
export interface Sums {
  cost: number;
  tokens: number;
  status: Step['status'];
  from: number;
  /** Undefined while one of them is open. */
  to: number | undefined;
}

const byWeight: readonly Step['status'][] = ['failed', 'running', 'paused', 'cancelled', 'success'];

/** The sums of an iteration, without what is already part of another step: turns, calls and inner iterations. */
export function sumsOf(node: TraceNode): Sums {
  const { children } = node;
  const steps = children.flatMap((each) => (each.type === 'step' ? [each.step] : []));
  const inner = children.flatMap((each) => (each.type === 'step' ? iterationsOf(each) : []));
  const stands = (status: Step['status']): boolean =>
    steps.some((step) => step.status === status && step.caught !== true);
  const ends = steps.map(({ finished_at: at }) => (at === null ? undefined : Date.parse(at)));
  return {
    cost: sum(steps.map(({ cost_usd: cost }) => cost)) + sum(inner.map(({ cost }) => cost)),
    tokens: sum(steps.map(tokensOf)) + sum(inner.map(({ tokens }) => tokens)),
    status:
      node.type === 'iteration' && node.failed ? 'failed' : (byWeight.find(stands) ?? 'skipped'),
    from: Math.min(...steps.map(({ started_at: at }) => Date.parse(at))),
    to: ends.every((end) => end !== undefined) ? Math.max(...ends) : undefined,
  };
}

/** The iterations of an inner loop. If its body has one node, there are none, so the steps of that node are used. */
function iterationsOf(loop: TraceNode & { type: 'step' }): Sums[] {
  const groups = loop.children.filter(({ type }) => type === 'iteration');
  if (groups.length > 0) return groups.map(sumsOf);
  const bare = loop.children.filter((each) => each.type === 'step' && isNodeStep(each.step));
  return bare.length === 0 ? [] : [sumsOf({ ...loop, children: bare })];
}

const sum = (numbers: readonly number[]): number => numbers.reduce((all, each) => all + each, 0);

/** Tokens in and out. */
export const tokensOf = ({ usage }: Pick<Step, 'usage'>): number =>
  usage === undefined ? 0 : usage.input_tokens + usage.output_tokens;

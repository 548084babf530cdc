import { repeats } from '#shared/graph/kinds.ts';
import { stepKeyIn } from '#shared/graph/schedule/step-key.ts';
import type { Run, Step } from '#client/index.ts';
import type { Drawing } from '#console/src/graph/drawn.ts';
import { tallies } from '#console/src/messages/en/runs/steps.ts';
import { countText } from '#console/src/parts/text/numbers.ts';
import { byIteration } from './node-states.ts';
import { isNodeStep } from './steps/agent-steps.ts';
import { type Enclosing, enclosingOf, nothingEncloses } from './trace/enclosing.ts';

/** The items of a map or the iterations of a loop, as far as the run has started them. */
export interface Tally {
  of: 'item' | 'iteration';
  total: number;
  /** In how many of them a step failed that no error path caught. */
  failed: number;
  /** The key of the first step that failed in one of them. */
  firstFailed: string | undefined;
}

export interface Items {
  enclosing: Enclosing;
  /** Whether the step has failed, and no error path of the graph continues from there. */
  isFailure: (step: Pick<Step, 'node_id' | 'status' | 'caught'>) => boolean;
  /** For a loop or map: all it has repeated. For a node in its body: the node's own steps. Undefined for other nodes. */
  ofNode: (nodeId: string) => Tally | undefined;
  /** For the step of a loop or map: what this step has repeated. */
  ofStep: (stepKey: string) => Tally | undefined;
}

type RunItems = Pick<Run, 'steps'> & { step_counts?: Run['step_counts'] };

/** Counts what loops and maps have repeated. Without the graph, nothing is known about it. */
export function itemsOf({ steps, step_counts: counts }: RunItems, drawing?: Drawing): Items {
  const enclosing = drawing === undefined ? nothingEncloses : enclosingOf(drawing);
  const isFailure = failureTest(drawing);
  const bySteps = createTallies(enclosing, drawing);
  const inOrder = steps
    .filter(isNodeStep)
    .toSorted((a, b) => byIteration(a.iteration, b.iteration));
  for (const step of inOrder) bySteps.add(step, isFailure(step));
  if (counts != null) {
    for (const { node_id: nodeId, total, by_status, caught } of counts) {
      const handled = isFailure({ node_id: nodeId, status: 'failed', caught: true }) ? 0 : caught;
      bySteps.extend(nodeId, total, (by_status.failed ?? 0) - handled);
    }
  }
  return { enclosing, isFailure, ...bySteps };
}

/** A map that collects errors marks its failed steps as caught, too; only an error edge leads on from a step. */
function failureTest(drawing: Drawing | undefined): Items['isFailure'] {
  const caught = new Set(
    drawing?.edges.flatMap(({ source, conditionValue }) =>
      conditionValue === 'error' ? [source] : [],
    ),
  );
  return (step) =>
    step.status === 'failed' &&
    (step.caught !== true || (drawing !== undefined && !caught.has(step.node_id)));
}

interface Count extends Tally {
  failedItems: Set<string>;
}

function createTallies(enclosing: Enclosing, drawing: Drawing | undefined) {
  const { loopOf } = enclosing;
  const maps = new Set(drawing?.nodes.flatMap(({ id, kind }) => (kind === 'map' ? [id] : [])));
  const heads = new Set(drawing?.nodes.filter(repeats).map(({ id }) => id));
  const nodes = new Map<string, Count>();
  const instances = new Map<string, Count>();
  const unitOf = (loop: string): Tally['of'] => (maps.has(loop) ? 'item' : 'iteration');

  const add = (step: Step, failed: boolean): void => {
    const { node_id: nodeId, iteration } = step;
    const own = loopOf(nodeId);
    if (own !== undefined && !heads.has(nodeId)) {
      const count = countIn(nodes, nodeId, unitOf(own));
      count.total += 1;
      if (failed) fail(count, iteration.join('.'), step);
    }
    for (let at = iteration.length, loop = own; at > 0 && loop !== undefined; at -= 1) {
      const count = countIn(instances, stepKeyIn(loop, iteration.slice(0, at - 1)), unitOf(loop));
      count.total = Math.max(count.total, iteration[at - 1] ?? 0);
      if (failed) fail(count, String(iteration[at - 1]), step);
      loop = loopOf(loop);
    }
  };
  /** Adds what the record of the run does not contain. */
  const extend = (nodeId: string, total: number, failed: number): void => {
    const loop = loopOf(nodeId);
    if (loop === undefined) return;
    if (!heads.has(nodeId)) raise(countIn(nodes, nodeId, unitOf(loop)), total, failed);
    // In an inner loop, it is unknown which iteration of the outer one a step belongs to.
    if (loopOf(loop) === undefined) raise(countIn(instances, loop, unitOf(loop)), total, failed);
  };
  const ofHead = (nodeId: string): Tally => {
    const all = [...instances].flatMap(([key, count]) =>
      key === nodeId || key.startsWith(`${nodeId}#`) ? [count] : [],
    );
    return {
      of: unitOf(nodeId),
      total: all.reduce((sum, { total }) => sum + total, 0),
      failed: all.reduce((sum, { failed }) => sum + failed, 0),
      firstFailed: all.find(({ firstFailed }) => firstFailed !== undefined)?.firstFailed,
    };
  };
  return {
    add,
    extend,
    ofNode: (nodeId: string) => (heads.has(nodeId) ? ofHead(nodeId) : nodes.get(nodeId)),
    ofStep: (stepKey: string): Tally | undefined => instances.get(stepKey),
  };
}

function countIn(known: Map<string, Count>, key: string, of: Tally['of']): Count {
  const before = known.get(key);
  if (before !== undefined) return before;
  const made = { of, total: 0, failed: 0, firstFailed: undefined, failedItems: new Set<string>() };
  known.set(key, made);
  return made;
}

function fail(count: Count, item: string, { step_key: key, kind }: Step): void {
  count.failedItems.add(item);
  count.failed = count.failedItems.size;
  // A map fails because of a step in it, which says more.
  if (!repeats({ kind })) count.firstFailed ??= key;
}

/** Several nodes of a body can fail in the same item, so a map has at least as many failed items as its worst node. */
function raise(count: Count, total: number, failed: number): void {
  count.total = Math.max(count.total, total);
  count.failed = Math.max(count.failed, failed);
}

/** `item 2 of 3`, in nested ones `item 4.2`; undefined outside of maps and loops. */
export function placeInItems(
  { node_id: nodeId, iteration }: Pick<Step, 'node_id' | 'iteration'>,
  { enclosing, ofStep }: Items,
): string | undefined {
  const loop = enclosing.loopOf(nodeId);
  const around = loop && ofStep(stepKeyIn(loop, iteration.slice(0, -1)));
  if (!around || iteration.length === 0) return undefined;
  const item = iteration.join('.');
  return iteration.length > 1
    ? tallies.nested[around.of](item)
    : tallies.place[around.of](item, countText(around.total));
}

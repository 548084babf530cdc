import type { Json, JsonObject } from '#shared/json.ts';
import type { CaughtError } from '#shared/graph/caught-error.ts';
import { type CompiledEdge, outputKey } from '#shared/graph/compile.ts';
import { evaluateExpression, ExpressionError } from '#shared/graph/expression/expression.ts';
import { enter, note, scopeOf, stateOf, write, type RunState } from './run-state.ts';

/** Ends a node with success and follows its edges. `result` selects conditional ones. */
export function settle(run: RunState, node: number, output: Json, result?: boolean): void {
  enter(run, node, 'settled');
  run.ran[node] = true;
  for (const edge of run.out[node]!) {
    const taken =
      edge.when !== 'error' &&
      (edge.when === undefined || result === undefined || (edge.when === 'true') === result);
    settleEdge(run, edge, taken, output);
  }
  leave(run, node);
}

/** Ends a loop or map with success, and follows its edges to the nodes after its body. */
export function settleAfterBody(run: RunState, node: number, output: Json): void {
  enter(run, node, 'settled');
  run.ran[node] = true;
  for (const edge of run.out[node]!) {
    if (entersOwnBody(run, edge)) continue;
    settleEdge(run, edge, edge.when !== 'true' && edge.when !== 'error', output);
  }
  leave(run, node);
}

export function settleEdge(run: RunState, edge: CompiledEdge, taken: boolean, output: Json): void {
  if (edge.back) {
    followBack(run, edge, taken, output);
    return;
  }
  if (taken) {
    run.reached[edge.to] = true;
    if (run.graph.nodes[edge.to]!.kind === 'merge') {
      const inbox = run.inboxes.get(edge.to) ?? new Map<number, Json>();
      run.inboxes.set(edge.to, inbox.set(edge.from, output));
    }
  }
  run.waiting[edge.to]! -= 1;
  if (run.waiting[edge.to] === 0) run.shared.queue.push({ run, node: edge.to, what: 'arrive' });
}

function followBack(run: RunState, { from, to }: CompiledEdge, taken: boolean, output: Json): void {
  if (!taken) return;
  if (run.item?.map === to) run.item.ends.set(from, output);
  const loop = run.loops.get(to);
  if (loop !== undefined) loop.again = true;
}

/** Records that a body node is settled. The last one ends the iteration or item. */
export function leave(run: RunState, node: number): void {
  const loop = run.graph.regions[node]!;
  if (run.item?.map === loop) {
    run.item.open -= 1;
    if (run.item.open === 0) run.shared.queue.push({ run, node: loop, what: 'item' });
    return;
  }
  const round = run.loops.get(loop);
  if (round === undefined) return;
  round.open -= 1;
  if (round.open === 0) run.shared.queue.push({ run, node: loop, what: 'round' });
}

export function entersOwnBody(run: RunState, edge: CompiledEdge): boolean {
  return run.graph.regions[edge.to] === edge.from || edge.to === edge.from;
}

const hasErrorEdge = (run: RunState, node: number): boolean =>
  run.out[node]!.some((edge) => edge.when === 'error');

const collects = (run: RunState, map: number): boolean => {
  const node = run.graph.nodes[map]!;
  return node.kind === 'map' && node.on_item_error === 'collect';
};

/** Whether the run continues if the node fails: it has error edges, or it is in an item whose failure is caught. */
export const isCaught = (run: RunState, node: number): boolean =>
  hasErrorEdge(run, node) || isItemCaught(run);

/** Whether the scope is that of an item whose failure is caught. */
export const isItemCaught = ({ item }: RunState): boolean =>
  item !== undefined && (collects(item.parent, item.map) || isCaught(item.parent, item.map));

/** Ends a failed node whose error is caught: follows its error edges instead of the others, or ends its item. */
export function settleError(run: RunState, node: number, error: CaughtError): void {
  note(run, node, 'failed', { error: error.message, caught: error });
  const output = { error };
  enter(run, node, 'settled');
  if (hasErrorEdge(run, node) && !isStopped(run)) {
    write(run, node, run.graph.nodes[node]!.id, output);
    for (const edge of run.out[node]!) {
      if (!entersOwnBody(run, edge)) settleEdge(run, edge, edge.when === 'error', output);
    }
    leave(run, node);
    return;
  }
  stop(run, error);
  endIfDrained(run);
}

/** Stops an item: nothing else in it begins. Steps in flight end without changing anything. */
function stop(run: RunState, error: CaughtError): void {
  const { item } = run;
  if (item === undefined || item.error !== undefined) return;
  item.error = error;
  for (const node of scopeOf(run, item.map)) {
    if (run.phases[node] === 'ready') enter(run, node, 'waiting');
    if (run.phases[node] !== 'running') continue;
    enter(run, node, 'settled');
    note(run, node, 'failed', { error: error.message, caught: error });
  }
  for (const { active } of run.maps.values()) {
    for (const inner of active.values()) stop(inner, error);
  }
}

/** Ends the outermost stopped item around a scope, once nothing in it is in flight. */
export function endIfDrained(run: RunState): void {
  let stopped: RunState | undefined;
  for (let scope: RunState | undefined = run; scope !== undefined; scope = scope.item?.parent) {
    if (scope.item?.error !== undefined) stopped = scope;
  }
  if (stopped === undefined || stopped.busy > 0) return;
  run.shared.queue.push({ run: stopped, node: stopped.item!.map, what: 'item' });
}

export const isStopped = ({ item }: RunState): boolean => item?.error !== undefined;

export function failInPlace(run: RunState, node: number, message: string): void {
  raise(run, node, { message, kind: 'node', attempts: 1 });
}

/** Fails a computed node. */
export function raise(run: RunState, node: number, error: CaughtError): void {
  if (isCaught(run, node)) {
    settleError(run, node, error);
    return;
  }
  enter(run, node, 'failed');
  note(run, node, 'failed', { error: error.message });
}

/** The value of a node's expression; undefined when it could not be evaluated and the node has failed. */
export function evaluate(run: RunState, node: number, expression: string): Json | undefined {
  try {
    return evaluateExpression(expression, stateOf(run), run.shared.budget);
  } catch (error) {
    if (!(error instanceof ExpressionError)) throw error;
    failInPlace(run, node, error.message);
    return undefined;
  }
}

/**
 * A loop that is only followed by its own body is a last node, although it has edges. The end of a body is not, because
 * the loop follows it. A node with only error edges is, if it has run.
 */
function isLast(run: RunState, node: number): boolean {
  return run.out[node]!.every(
    (edge) => edge.when === 'error' || edge.to === node || run.graph.regions[edge.to] === node,
  );
}

/** The outputs of the last nodes that ran, by output key. */
export function outputOf(run: RunState): JsonObject {
  const keys = run.graph.nodes.flatMap((node, position) =>
    run.ran[position] && isLast(run, position) ? [outputKey(node)] : [],
  );
  return Object.fromEntries(keys.map((key) => [key, run.values[key]!]));
}

import type { Json, JsonObject } from '../../json.ts';
import type { LoopNode } from '../../contract/graph.ts';
import type { CompiledEdge } from '../compile.ts';
import { ExpressionError, evaluateExpression, truthy } from '../expression/expression.ts';
import type { CaughtError } from '../caught-error.ts';
import { enter, note, resetNode, write, writeOutput, type RunState } from './run-state.ts';

/**
 * Maximum number of consecutive control steps without an agent, tool or gate between them. Otherwise loops with empty
 * bodies would block the process, since iterations of nested loops multiply.
 */
export const MAX_STEPS_IN_PLACE = 10_000;

/** Sorts after every iteration of a loop. */
const AFTER_ALL_ROUNDS = Number.MAX_SAFE_INTEGER;

/** Makes the nodes without incoming edges ready. Call `advance` next. */
export function begin(run: RunState): void {
  run.graph.nodes.forEach((_, node) => {
    if (run.fanIn[node] === 0 && run.graph.regions[node] === -1) run.queue.push(node);
  });
}

/** Processes control nodes until only agents, tools and gates can continue the run. */
export function advance(run: RunState): void {
  for (let next = 0; next < run.queue.length; next += 1) {
    const event = run.queue[next]!;
    if (event >= 0) arrive(run, event);
    else endRound(run, ~event);
  }
  run.queue.length = 0;
}

/** Ends a node with success and follows its edges; `result` selects among conditional ones. */
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

/** Ends a failed node and follows its error edges instead of the others. */
export function settleError(run: RunState, node: number, error: CaughtError): void {
  const output = { error };
  write(run, node, run.graph.nodes[node]!.id, output);
  note(run, node, 'failed', { error: error.message, caught: error });
  enter(run, node, 'settled');
  for (const edge of run.out[node]!) settleEdge(run, edge, edge.when === 'error', output);
  leave(run, node);
}

export const hasErrorEdge = (run: RunState, node: number): boolean =>
  run.out[node]!.some((edge) => edge.when === 'error');

/** Evaluates a failed condition or loop again; a loop continues at the iteration before which it failed. */
export function evaluateAgain(run: RunState, node: number): void {
  if (run.graph.nodes[node]!.kind === 'loop') {
    enter(run, node, 'running');
    note(run, node, 'running');
    continueLoop(run, node);
  } else {
    decideCondition(run, node);
  }
}

function arrive(run: RunState, node: number): void {
  if (!run.reached[node]) {
    skip(run, node);
    return;
  }
  const kind = run.graph.nodes[node]!.kind;
  switch (kind) {
    case 'agent':
    case 'tool':
    case 'human_gate':
      enter(run, node, 'ready');
      return;
    case 'merge':
      join(run, node);
      return;
    case 'condition':
      decideCondition(run, node);
      return;
    case 'loop':
      beginLoop(run, node);
      return;
    default:
      kind satisfies never;
  }
}

function settleEdge(run: RunState, edge: CompiledEdge, taken: boolean, output: Json): void {
  if (edge.back) {
    const loop = run.loops.get(edge.to);
    if (taken && loop !== undefined) loop.again = true;
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
  if (run.waiting[edge.to] === 0) run.queue.push(edge.to);
}

function leave(run: RunState, node: number): void {
  const loop = run.graph.regions[node]!;
  const round = run.loops.get(loop);
  if (round === undefined) return;
  round.open -= 1;
  if (round.open === 0) run.queue.push(~loop);
}

function skip(run: RunState, node: number): void {
  enter(run, node, 'skipped');
  note(run, node, 'skipped');
  for (const inner of bodyOf(run, node)) note(run, inner, 'skipped');
  for (const edge of run.out[node]!) {
    if (!entersOwnBody(run, edge)) settleEdge(run, edge, false, null);
  }
  leave(run, node);
}

/** All nodes of a loop's body, including nested bodies, in topological order. Empty for other nodes. */
function bodyOf(run: RunState, node: number): number[] {
  const body: number[] = [];
  const open = [node];
  for (let next = open.pop(); next !== undefined; next = open.pop()) {
    for (const member of run.members[next]!) {
      body.push(member);
      open.push(member);
    }
  }
  return body.sort((a, b) => a - b);
}

function entersOwnBody(run: RunState, edge: CompiledEdge): boolean {
  return run.graph.regions[edge.to] === edge.from || edge.to === edge.from;
}

function join(run: RunState, node: number): void {
  const inbox = [...(run.inboxes.get(node) ?? [])].sort(([a], [b]) => a - b);
  // fromEntries defines properties and does not assign them, so `__proto__` is an ordinary name.
  const output: JsonObject = Object.fromEntries(
    inbox.map(([parent, given]) => [run.graph.nodes[parent]!.id, given]),
  );
  run.inboxes.delete(node);
  writeOutput(run, node, output);
  note(run, node, 'success', { output });
  settle(run, node, output);
}

/** The boolean result of a node's expression; undefined when it could not be evaluated and the node has failed. */
function holds(run: RunState, node: number): boolean | undefined {
  const graphNode = run.graph.nodes[node]!;
  if (graphNode.kind !== 'condition' && graphNode.kind !== 'loop') return undefined;
  try {
    return truthy(evaluateExpression(graphNode.expression, run.values, run.budget));
  } catch (error) {
    if (!(error instanceof ExpressionError)) throw error;
    failInPlace(run, node, error.message);
    return undefined;
  }
}

function failInPlace(run: RunState, node: number, error: string): void {
  enter(run, node, 'failed');
  note(run, node, 'failed', { error });
}

function decideCondition(run: RunState, node: number): void {
  const result = holds(run, node);
  if (result === undefined) return;
  const output = { result };
  writeOutput(run, node, output);
  note(run, node, 'success', { output });
  settle(run, node, output, result);
}

function beginLoop(run: RunState, node: number): void {
  run.loops.set(node, { round: 0, open: 0, again: false });
  enter(run, node, 'running');
  writeOutput(run, node, { iterations: 0, exhausted: false }, [0, -1]);
  note(run, node, 'running');
  continueLoop(run, node);
}

function continueLoop(run: RunState, node: number): void {
  const more = holds(run, node);
  if (more === undefined) return;
  const { max_iterations } = run.graph.nodes[node] as LoopNode;
  if (!more || run.loops.get(node)!.round >= max_iterations) {
    endLoop(run, node, more);
  } else if (run.inPlace >= MAX_STEPS_IN_PLACE) {
    failInPlace(
      run,
      node,
      `The loop went round for ${MAX_STEPS_IN_PLACE} steps without an agent, tool or gate at work`,
    );
  } else {
    beginRound(run, node);
  }
}

function beginRound(run: RunState, node: number): void {
  const loop = run.loops.get(node)!;
  const members = run.members[node]!;
  loop.round += 1;
  loop.open = members.length;
  loop.again = false;
  run.inPlace += 1;
  for (const member of members) resetNode(run, member);
  const output = { iterations: loop.round, exhausted: false };
  writeOutput(run, node, output, [loop.round, -1]);
  for (const edge of run.out[node]!) {
    if (edge.when === 'true' && entersOwnBody(run, edge)) settleEdge(run, edge, true, output);
  }
  if (members.length === 0) run.queue.push(~node);
}

// An iteration that followed no back edge ends the loop, like a break.
function endRound(run: RunState, node: number): void {
  if (run.loops.get(node)!.again) continueLoop(run, node);
  else endLoop(run, node, false);
}

function endLoop(run: RunState, node: number, exhausted: boolean): void {
  const output = { iterations: run.loops.get(node)!.round, exhausted };
  run.loops.delete(node);
  writeOutput(run, node, output, [AFTER_ALL_ROUNDS, -1]);
  note(run, node, 'success', { output });
  enter(run, node, 'settled');
  run.ran[node] = true;
  for (const edge of run.out[node]!) {
    if (entersOwnBody(run, edge)) continue;
    settleEdge(run, edge, edge.when !== 'true' && edge.when !== 'error', output);
  }
  leave(run, node);
}

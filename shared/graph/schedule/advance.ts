import type { JsonObject } from '#shared/json.ts';
import type { ConditionNode } from '#shared/contract/workflows/graph.ts';
import { truthy } from '#shared/graph/expression/expression.ts';
import { beginItems, beginMap, endItem } from './map-items.ts';
import { beginLoop, continueLoop, endRound } from './rounds.ts';
import { enter, note, stateOf, stepKeyOf, write, writeOutput, type RunState } from './run-state.ts';
import { entersOwnBody, evaluate, isStopped, leave, settle, settleEdge } from './settle.ts';

/** Makes the nodes without incoming edges ready. Call `advance` next. */
export function begin(run: RunState): void {
  run.graph.nodes.forEach((_, node) => {
    if (run.fanIn[node] === 0 && run.graph.regions[node] === -1) {
      run.shared.queue.push({ run, node, what: 'arrive' });
    }
  });
}

/** Processes control nodes until only agents, tools and gates can continue the run. */
export function advance({ shared: { queue } }: RunState): void {
  for (let next = 0; next < queue.length; next += 1) {
    const { run, node, what } = queue[next]!;
    if (what === 'item') endItem(run);
    else if (isStopped(run)) continue;
    else if (what === 'arrive') arrive(run, node);
    else endRound(run, node);
  }
  queue.length = 0;
}

/** Continues the maps that were held back at the limit of control steps. */
export function releaseHeld({ shared }: RunState): void {
  for (const { run, node } of shared.held.splice(0)) if (!isStopped(run)) beginItems(run, node);
}

/** Evaluates a failed condition, loop or map again. A loop continues at the iteration before which it failed. */
export function evaluateAgain(run: RunState, node: number): void {
  const { kind } = run.graph.nodes[node]!;
  if (kind === 'loop') {
    enter(run, node, 'running');
    note(run, node, 'running');
    continueLoop(run, node);
  } else if (kind === 'map') {
    beginMap(run, node);
  } else {
    decideCondition(run, node);
  }
}

function arrive(run: RunState, node: number): void {
  if (!run.reached[node]) {
    skip(run, node);
    return;
  }
  if (isHeldBack(run, node)) return;
  const kind = run.graph.nodes[node]!.kind;
  switch (kind) {
    case 'agent':
    case 'tool':
    case 'code':
    case 'workflow':
    case 'human_gate':
    case 'wait':
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
    case 'map':
      beginMap(run, node);
      return;
    default:
      kind satisfies never;
  }
}

/** Merges what a fork has for this step into the state. Returns whether the step must not begin. */
function isHeldBack(run: RunState, node: number): boolean {
  const { arrivals } = run.shared;
  const arrive = arrivals.size === 0 ? undefined : arrivals.get(stepKeyOf(run, node));
  if (arrive === undefined) return false;
  const { laid = {}, stops = false } = arrive(stateOf(run));
  for (const key of Object.keys(laid)) write(run, node, key, laid[key]!);
  if (stops) enter(run, node, 'taken');
  return stops;
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

/** All nodes in the body of a loop or map, including nested bodies, in topological order. Empty for other nodes. */
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

function join(run: RunState, node: number): void {
  const inbox = [...(run.inboxes.get(node) ?? [])].sort(([a], [b]) => a - b);
  // `fromEntries` defines properties instead of assigning them, so `__proto__` is an ordinary name.
  const output: JsonObject = Object.fromEntries(
    inbox.map(([parent, given]) => [run.graph.nodes[parent]!.id, given]),
  );
  run.inboxes.delete(node);
  writeOutput(run, node, output);
  note(run, node, 'success', { output });
  settle(run, node, output);
}

function decideCondition(run: RunState, node: number): void {
  const { expression } = run.graph.nodes[node] as ConditionNode;
  const value = evaluate(run, node, expression);
  if (value === undefined) return;
  const result = truthy(value);
  const output = { result };
  writeOutput(run, node, output);
  note(run, node, 'success', { output });
  settle(run, node, output, result);
}

import type { GateAnswer } from '#shared/graph/gates/gate-decision.ts';
import { type AwaitedNode, isAwaited, isWait, isWaiting } from '#shared/graph/kinds.ts';
import type { Json, JsonObject } from '#shared/json.ts';
import type { GraphNode } from '#shared/contract/workflows/graph.ts';
import type { CaughtError } from '#shared/graph/caught-error.ts';
import { advance, begin, evaluateAgain, releaseHeld } from './advance.ts';
import { endIfDrained, isCaught, isStopped, outputOf, settle, settleError } from './settle.ts';
import type { CompiledGraph } from '#shared/graph/compile.ts';
import { JsonText } from '#shared/values/json-text.ts';
import {
  createRunState,
  enter,
  iterationOf,
  refill,
  stateOf,
  type EndState,
  endState,
  stepKeyOf,
  workDone,
  write,
  writeOutput,
  type Arrivals,
  type ControlStep,
  type Phase,
  type RunState,
} from './run-state.ts';
import { nodeIdOf } from './step-key.ts';
import {
  restoreRunState,
  takeSituation,
  takeSnapshot,
  type SchedulerSnapshot,
  type Situation,
} from './snapshot.ts';

export { laidAt } from './run-state.ts';
export type { Arrival, Arrivals, ControlStep } from './run-state.ts';
export type { SchedulerSnapshot, Situation } from './snapshot.ts';

export interface ReadyNode {
  step_key: string;
  node_id: string;
  kind: AwaitedNode['kind'];
  iteration: number[];
}

/** A call that does not fit the step's phase. The run does not change. */
export class SchedulerError extends Error {
  override readonly name = 'SchedulerError';
}

/**
 * One run of one graph: returns the next steps and receives their results. It executes nothing and reads no clock. The
 * same calls in the same order give the same results, and the final state, output and steps do not depend on the order
 * in which nodes finish. An event costs only what it affects; a run is linear in its nodes and edges per iteration.
 */
export interface Scheduler {
  /**
   * Up to `limit` agents, tools, workflows, gates and waits that became ready and were not taken yet, in topological order.
   * Each is returned once, unless it is retried or the run is restored. With `only`, just those it accepts: the others
   * stay ready, and do not begin if an error stops them first.
   */
  takeReady(limit?: number, only?: (stepKey: string) => boolean): ReadyNode[];
  /**
   * Steps computed in place since the last call, oldest first. A loop is reported as `running` and, when it ends, as
   * `success`.
   */
  takeControlSteps(): ControlStep[];
  /** The number of control steps that were not taken yet. */
  readonly controlSteps: number;
  /** Returns undelivered steps to the queue, before newer ones. */
  returnControlSteps(steps: readonly ControlStep[]): void;
  /**
   * Records that an agent, a tool, a child run or a wait has finished. The output of a wait whose time ran out is null.
   * Throws SchedulerError unless the step is ready or taken.
   */
  complete(stepKey: string, output: Json | JsonText): void;
  /**
   * Records the decision at a gate. `rejected`: it was not approved and has no 'false' edge, so it stays open as
   * failed. Throws SchedulerError unless the step is a gate that is ready or taken.
   */
  decide(stepKey: string, answer: Pick<GateAnswer, 'approved' | 'input'>): 'continued' | 'rejected';
  /** Records that a step has failed permanently. Throws SchedulerError unless it is ready or taken. */
  fail(stepKey: string): void;
  /**
   * Follows the error edges of a failed step, or ends the item of the map around it. Returns false and changes nothing
   * when neither catches its error. Throws SchedulerError unless it has failed.
   */
  catchFailure(stepKey: string, error: CaughtError): boolean;
  /** Makes a taken step ready again, because it was approved. Throws SchedulerError unless it is taken. */
  release(stepKey: string): void;
  /** Whether the run continues if the step fails. */
  catches(stepKey: string): boolean;
  /** Makes a failed step ready again, or evaluates it again. Throws SchedulerError unless it has failed. */
  retry(stepKey: string): void;
  /** The node of a step, in any iteration. Throws SchedulerError when there is none. */
  node(stepKey: string): GraphNode;
  /**
   * The live state: the input, overwritten by outputs; for a step in an item of a map, also by outputs in that item. Do
   * not change or keep it.
   */
  state(stepKey?: string): JsonObject;
  /** Whether maps have more items that begin at the next `takeReady`: call it again, even if it returned nothing. */
  readonly held: boolean;
  /** Whether no node is ready, taken or failed, and no map is held. */
  readonly done: boolean;
  /** The outputs of the last nodes that ran, by output key. */
  output(): JsonObject;
  /** The whole state, for the record of the run. */
  endState(): EndState;
  /** The run as JSON, including control steps that were not taken yet. */
  snapshot(): SchedulerSnapshot;
  /**
   * What is needed to see what follows these steps: the scopes around them, with these keys of the state. Throws
   * SchedulerError when there is no such step.
   */
  situation(stepKeys: readonly string[], keys: ReadonlySet<string>): Situation;
  /** The units of work (see WorkBudget) that expressions have used so far, for callers that must yield in between. */
  readonly workDone: number;
}

export interface SchedulerOptions {
  /** Handlers for when the run reaches certain steps. */
  arrivals?: Arrivals;
}

/**
 * Starts a run of a compiled graph, or restores one from a snapshot (its state then replaces `input`). Throws Error
 * when the snapshot belongs to another graph.
 */
export function createScheduler(
  graph: CompiledGraph,
  input: JsonObject,
  snapshot?: SchedulerSnapshot,
  { arrivals }: SchedulerOptions = {},
): Scheduler {
  const run =
    snapshot === undefined ? createRunState(graph, input) : restoreRunState(graph, snapshot);
  if (arrivals !== undefined) run.shared.arrivals = arrivals;
  if (snapshot === undefined) begin(run);
  advance(run);
  return {
    takeReady: (limit = Infinity, only) => takeReady(run, limit, only),
    takeControlSteps: () => run.shared.control.splice(0),
    returnControlSteps: (steps) => {
      run.shared.control = [...steps, ...run.shared.control];
    },
    complete: (stepKey, output) => complete(run, stepKey, output),
    decide: (stepKey, answer) => decide(run, stepKey, answer),
    fail: (stepKey) => {
      const step = open(run, stepKey);
      enter(step.run, step.node, 'failed');
    },
    catchFailure: (stepKey, error) => catchFailure(run, stepKey, error),
    release: (stepKey) => release(run, stepKey),
    catches: (stepKey) => {
      const step = placeOf(run, stepKey);
      return isCaught(step.run, step.node);
    },
    retry: (stepKey) => retry(run, stepKey),
    node: (stepKey) => run.graph.nodes[positionOf(run, stepKey)]!,
    state: (stepKey) => (stepKey === undefined ? run.values : stateOf(placeOf(run, stepKey).run)),
    get controlSteps() {
      return run.shared.control.length;
    },
    get held() {
      return run.shared.held.length > 0;
    },
    get done() {
      const { counts, held } = run.shared;
      return counts.ready + counts.taken + counts.failed + held.length === 0;
    },
    output: () => outputOf(run),
    endState: () => endState(run),
    snapshot: () => takeSnapshot(run),
    situation: (stepKeys, keys) => ({
      ...takeSituation(run, scopesAround(run, stepKeys), keys),
      asking: [...stepKeys],
    }),
    get workDone() {
      return workDone(run.shared);
    },
  };
}

function takeReady(
  root: RunState,
  limit: number,
  only: (stepKey: string) => boolean = () => true,
): ReadyNode[] {
  const taken: ReadyNode[] = [];
  const { ready } = root.shared;
  const left: ReturnType<typeof ready.pop>[] = [];
  if (limit > 0) continueHeld(root);
  while (taken.length < limit) {
    const next = ready.pop();
    if (next === undefined) break;
    const { run, node } = next;
    // A step that was finished or failed before it was taken is still in the queue.
    if (run.phases[node] !== 'ready') continue;
    const stepKey = stepKeyOf(run, node);
    if (!only(stepKey)) {
      left.push(next);
      continue;
    }
    enter(run, node, 'taken');
    const { id, kind } = readyNode(run, node);
    taken.push({
      step_key: stepKey,
      node_id: id,
      kind,
      iteration: iterationOf(run, node),
    });
  }
  for (const entry of left) if (entry !== undefined) ready.push(entry);
  return taken;
}

/** When nothing else is ready, continues the maps that reached the limit of control steps. */
function continueHeld(run: RunState): void {
  const { held, counts } = run.shared;
  if (held.length === 0 || counts.ready > 0) return;
  refill(run);
  releaseHeld(run);
  advance(run);
}

/** Computed nodes never become ready. */
function readyNode(run: RunState, position: number): AwaitedNode {
  const node = run.graph.nodes[position]!;
  if (isAwaited(node)) return node;
  throw new SchedulerError(`Node ${node.id} is computed: nobody takes it`);
}

function complete(root: RunState, stepKey: string, output: Json | JsonText): void {
  const { run, node } = open(root, stepKey);
  const completed = run.graph.nodes[node]!;
  if (isWaiting(completed)) throw new SchedulerError(`Step ${stepKey} is a gate: decide it`);
  refill(root);
  if (isStopped(run)) {
    end(run, node);
  } else {
    writeOutput(run, node, output);
    const came = isWait(completed) ? !isNull(output) : undefined;
    settle(run, node, passedOn(run, node, output), came);
  }
  advance(root);
}

const isNull = (output: Json | JsonText): boolean =>
  output === null || (output instanceof JsonText && output.text === 'null');

/**
 * The output that a node passes along its edges. Only a merge and the end of an item read it; for all others it is in
 * the state.
 */
function passedOn(run: RunState, node: number, output: Json | JsonText): Json {
  if (!(output instanceof JsonText)) return output;
  const isRead = run.out[node]!.some(
    (edge) => edge.back || run.graph.nodes[edge.to]!.kind === 'merge',
  );
  return isRead ? output.value : null;
}

/** Ends a step in an item that was stopped. It changes nothing. */
function end(run: RunState, node: number): void {
  enter(run, node, 'settled');
  endIfDrained(run);
}

function decide(
  root: RunState,
  stepKey: string,
  answer: Pick<GateAnswer, 'approved' | 'input'>,
): 'continued' | 'rejected' {
  const { run, node } = open(root, stepKey);
  if (!isWaiting(run.graph.nodes[node]!)) {
    throw new SchedulerError(`Step ${stepKey} is no gate`);
  }
  const { approved, input = {} } = answer;
  if (!approved && !run.out[node]!.some((edge) => edge.when === 'false')) {
    enter(run, node, 'failed');
    return 'rejected';
  }
  refill(root);
  if (isStopped(run)) {
    end(run, node);
  } else {
    for (const key of Object.keys(input)) write(run, node, key, input[key]!);
    writeOutput(run, node, { approved });
    settle(run, node, { approved }, approved);
  }
  advance(root);
  return 'continued';
}

function catchFailure(root: RunState, stepKey: string, error: CaughtError): boolean {
  const { run, node } = current(root, stepKey, ['failed']);
  if (!isCaught(run, node)) return false;
  refill(root);
  settleError(run, node, error);
  advance(root);
  return true;
}

function release(root: RunState, stepKey: string): void {
  const { run, node } = current(root, stepKey, ['taken']);
  if (isStopped(run)) {
    refill(root);
    end(run, node);
    advance(root);
  } else enter(run, node, 'ready');
}

function retry(root: RunState, stepKey: string): void {
  const { run, node } = current(root, stepKey, ['failed']);
  const { kind } = run.graph.nodes[node]!;
  refill(root);
  switch (kind) {
    case 'condition':
    case 'loop':
    case 'map':
      evaluateAgain(run, node);
      break;
    case 'agent':
    case 'tool':
    case 'code':
    case 'workflow':
    case 'human_gate':
    case 'wait':
    case 'merge':
      enter(run, node, 'ready');
      break;
    default:
      kind satisfies never;
  }
  advance(root);
}

function positionOf(run: RunState, stepKey: string): number {
  const node = run.positions.get(nodeIdOf(stepKey));
  if (node === undefined) throw new SchedulerError(`The graph has no step ${stepKey}`);
  return node;
}

interface Place {
  run: RunState;
  node: number;
}

/**
 * The node of a step and its scope. For a node in maps, the scope is that of the items in the key. Throws SchedulerError
 * if an item has ended, or the graph has no such node.
 */
export function placeOf(root: RunState, stepKey: string): Place {
  const node = positionOf(root, stepKey);
  if (!root.hasMaps) return { run: root, node };
  const around: number[] = [];
  const { regions } = root.graph;
  for (let loop = regions[node]!; loop !== -1; loop = regions[loop]!) around.unshift(loop);
  const numbers = stepKey.slice(stepKey.lastIndexOf('#') + 1).split('.');
  let run = root;
  around.forEach((loop, depth) => {
    if (root.graph.nodes[loop]!.kind !== 'map') return;
    const item = run.maps.get(loop)?.active.get(Number(numbers[depth]) - 1);
    if (item === undefined) throw new SchedulerError(`Step ${stepKey} is in no active item`);
    run = item;
  });
  return { run, node };
}

function scopesAround(root: RunState, stepKeys: readonly string[]): Set<RunState> {
  const scopes = new Set([root]);
  for (const stepKey of stepKeys) {
    let scope: RunState | undefined = placeOf(root, stepKey).run;
    for (; scope !== undefined; scope = scope.item?.parent) scopes.add(scope);
  }
  return scopes;
}

function current(root: RunState, stepKey: string, phases: readonly Phase[]): Place {
  const { run, node } = placeOf(root, stepKey);
  if (!phases.includes(run.phases[node]!) || stepKeyOf(run, node) !== stepKey) {
    throw new SchedulerError(`Step ${stepKey} is not ${phases.join(' or ')}`);
  }
  return { run, node };
}

function open(run: RunState, stepKey: string): Place {
  return current(run, stepKey, ['ready', 'taken']);
}

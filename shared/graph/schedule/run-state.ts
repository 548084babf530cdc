import type { Json, JsonObject } from '../../json.ts';
import type { NodeKind } from '../../contract/graph.ts';
import { nodeLabel, outputKey, type CompiledEdge, type CompiledGraph } from '../compile.ts';
import type { CaughtError } from '../caught-error.ts';
import type { WorkBudget } from '../../values/work-budget.ts';
import { createReadyQueue, type ReadyQueue } from './ready-queue.ts';

/** Work budget of all expressions between two external events: at most 0.2 s. */
const MAX_WORK_IN_PLACE = 2_000_000;
/** The same for executions that started when only searches counted. */
const EARLIER_WORK_IN_PLACE = 60_000_000;
/** The cost of a condition, a loop's iteration or a merge, without its expression. */
const WORK_PER_STEP = 20;

/** A step computed in place: conditions, loops, merges, skipped nodes, and errors that were caught. */
export interface ControlStep {
  step_key: string;
  node_id: string;
  label: string;
  kind: NodeKind;
  iteration: number[];
  status: 'running' | 'success' | 'failed' | 'skipped';
  output?: Json;
  error?: string;
  /** For an agent, tool or gate that has failed: its error edges were taken, and the run continues. */
  caught?: CaughtError;
  /** Where the output is stored, if not under the node's id. */
  output_key?: string;
}

/** A node's phase in the current iteration of its loop. Only loops can be `running`. */
export type Phase = 'waiting' | 'ready' | 'taken' | 'running' | 'failed' | 'settled' | 'skipped';

/** Decides which write to a key wins: the greater list, compared element by element, in any order of arrival. */
export type Rank = number[];

interface LoopRound {
  /** Iterations started; 0 before the first. */
  round: number;
  /** Body nodes of this iteration that are not settled yet. */
  open: number;
  /** Whether a back edge was followed in this iteration. */
  again: boolean;
}

/**
 * The mutable state of a run. A loop has at most one active iteration, so one entry per node is enough at any nesting
 * depth.
 */
export interface RunState {
  graph: CompiledGraph;
  positions: Map<string, number>;
  out: CompiledEdge[][];
  /** Edges each node waits for, without back edges. */
  fanIn: number[];
  /** Direct body nodes per loop, in topological order; nodes of a nested loop belong to that loop. */
  members: number[][];
  phases: Phase[];
  waiting: number[];
  reached: boolean[];
  /** Loops that have started and not ended. */
  loops: Map<number, LoopRound>;
  /** For each merge, the outputs of its parents so far, by parent. */
  inboxes: Map<number, Map<number, Json>>;
  ran: boolean[];
  /** Without a prototype, so that a lookup finds only written keys. */
  values: JsonObject;
  ranks: Map<string, Rank>;
  ready: ReadyQueue;
  /** Positions of the nodes that keep the run open, by reason. */
  counts: { ready: number; taken: number; failed: number };
  control: ControlStep[];
  /** Control steps computed since the last external event. */
  inPlace: number;
  /** Whether to apply the rules of an earlier version, so that its history replays. */
  earlier: boolean;
  /** The expressions' remaining work until the next external event. */
  budget: WorkBudget;
  /** Units used before the budget was last renewed. */
  workDone: number;
  queue: number[];
}

export function createRunState(graph: CompiledGraph, input: JsonObject, earlier = false): RunState {
  const size = graph.nodes.length;
  const run: RunState = {
    graph,
    positions: new Map(graph.nodes.map((node, position) => [node.id, position])),
    out: graph.nodes.map(() => []),
    fanIn: new Array<number>(size).fill(0),
    members: graph.nodes.map(() => []),
    phases: new Array<Phase>(size).fill('waiting'),
    waiting: new Array<number>(size).fill(0),
    reached: new Array<boolean>(size).fill(false),
    loops: new Map(),
    inboxes: new Map(),
    ran: new Array<boolean>(size).fill(false),
    values: Object.create(null) as JsonObject,
    ranks: new Map(),
    ready: createReadyQueue(),
    counts: { ready: 0, taken: 0, failed: 0 },
    control: [],
    inPlace: 0,
    earlier,
    budget: fullBudget(earlier),
    workDone: 0,
    queue: [],
  };
  for (const edge of graph.edges) {
    run.out[edge.from]!.push(edge);
    if (!edge.back) run.fanIn[edge.to]! += 1;
  }
  graph.regions.forEach((loop, node) => {
    if (loop !== -1) run.members[loop]!.push(node);
  });
  for (let node = 0; node < size; node += 1) resetNode(run, node);
  for (const key of Object.keys(input)) run.values[key] = input[key]!;
  return run;
}

/** Resets a node, at the start of a run and of each iteration. */
export function resetNode(run: RunState, node: number): void {
  run.phases[node] = 'waiting';
  run.waiting[node] = run.fanIn[node]!;
  run.reached[node] = run.fanIn[node] === 0;
}

/** The current iterations of a node's loops, outermost first; empty outside of loops. */
export function iterationOf(run: RunState, node: number): number[] {
  const iteration: number[] = [];
  for (let loop = run.graph.regions[node]!; loop !== -1; loop = run.graph.regions[loop]!) {
    const round = run.loops.get(loop)?.round ?? 0;
    // The body of a skipped loop has no iteration.
    if (round > 0) iteration.push(round);
  }
  return iteration.reverse();
}

/** `id` outside of loops, `id#2.3` in iteration 3 of the loop in iteration 2 of the outer one. */
export function stepKeyOf(run: RunState, node: number): string {
  const iteration = iterationOf(run, node);
  const id = run.graph.nodes[node]!.id;
  return iteration.length === 0 ? id : `${id}#${iteration.join('.')}`;
}

function rankOf(run: RunState, node: number): Rank {
  const rank = [node];
  for (let loop = run.graph.regions[node]!; loop !== -1; loop = run.graph.regions[loop]!) {
    rank.unshift(loop, run.loops.get(loop)?.round ?? 0);
  }
  return rank;
}

function outranks(a: Rank, b: Rank): boolean {
  for (let place = 0; place < a.length && place < b.length; place += 1) {
    if (a[place] !== b[place]) return a[place]! > b[place]!;
  }
  return a.length > b.length;
}

/** Writes to the state for a node; `within` orders the writes of a loop head among its iterations. */
export function write(
  run: RunState,
  node: number,
  key: string,
  value: Json,
  within: number[] = [],
): void {
  const rank = [...rankOf(run, node), ...within];
  const before = run.ranks.get(key);
  if (before !== undefined && outranks(before, rank)) return;
  run.ranks.set(key, rank);
  run.values[key] = value;
}

/** Writes a node's output to its key. */
export function writeOutput(
  run: RunState,
  node: number,
  output: Json,
  within: number[] = [],
): void {
  write(run, node, outputKey(run.graph.nodes[node]!), output, within);
}

/** Records a control step, to be returned with the next results. */
export function note(
  run: RunState,
  node: number,
  status: ControlStep['status'],
  more: Pick<ControlStep, 'output' | 'error' | 'caught'> = {},
): void {
  const { id, kind } = run.graph.nodes[node]!;
  run.inPlace += 1;
  if (!run.earlier) run.budget.work -= WORK_PER_STEP;
  run.control.push({
    step_key: stepKeyOf(run, node),
    node_id: id,
    label: nodeLabel(run.graph.nodes[node]!),
    kind,
    iteration: iterationOf(run, node),
    status,
    ...more,
  });
}

/** An external event arrived: renews the limits of control steps and expressions. */
export function refill(run: RunState): void {
  run.inPlace = 0;
  run.workDone = workDone(run);
  run.budget = fullBudget(run.earlier);
}

const fullBudget = (earlier: boolean): WorkBudget =>
  earlier ? { work: EARLIER_WORK_IN_PLACE, searchesOnly: true } : { work: MAX_WORK_IN_PLACE };

/** Units used by expressions so far. */
export const workDone = (run: RunState): number =>
  run.workDone + fullBudget(run.earlier).work - run.budget.work;

/** Moves a node to another phase and updates the sets of nodes that keep the run open. */
export function enter(run: RunState, node: number, phase: Phase): void {
  const before = run.phases[node]!;
  if (before === 'ready' || before === 'taken' || before === 'failed') run.counts[before] -= 1;
  if (phase === 'ready' || phase === 'taken' || phase === 'failed') run.counts[phase] += 1;
  run.phases[node] = phase;
  if (phase === 'ready') run.ready.push(node);
}

import type { Json, JsonObject } from '../../json.ts';
import type { NodeKind } from '../../contract/graph.ts';
import { nodeLabel, outputKey, type CompiledEdge, type CompiledGraph } from '../compile.ts';
import type { WorkBudget } from '../../values/work-budget.ts';
import { createReadyQueue, type ReadyQueue } from './ready-queue.ts';

/** What all expressions that are evaluated in one go may do: 0.2 s at worst. */
const MAX_WORK_IN_PLACE = 2_000_000;
/** The same for executions that began when only searches counted. */
const EARLIER_WORK_IN_PLACE = 60_000_000;
/** What computing a condition, a loop's round or a merge takes beside its expression. */
const WORK_PER_STEP = 20;

/** A step that was computed in place: conditions, loops, merges, and whatever was skipped. */
export interface ControlStep {
  step_key: string;
  node_id: string;
  label: string;
  kind: NodeKind;
  iteration: number[];
  status: 'running' | 'success' | 'failed' | 'skipped';
  output?: Json;
  error?: string;
}

/** Where a node stands in the round of its loop that runs now. `running` is for loops only. */
export type Phase = 'waiting' | 'ready' | 'taken' | 'running' | 'failed' | 'settled' | 'skipped';

/** Which write to a key wins: the greater list, compared place by place, whatever came first. */
export type Rank = number[];

interface LoopRound {
  /** Rounds begun; 0 before the first. */
  round: number;
  /** Body nodes of this round that are not settled yet. */
  open: number;
  /** Whether a way back was taken in this round. */
  again: boolean;
}

/**
 * All that changes while a run goes on. Only one round of a loop is ever live, so one place per node is enough,
 * however deep loops nest.
 */
export interface RunState {
  graph: CompiledGraph;
  positions: Map<string, number>;
  out: CompiledEdge[][];
  /** Edges each node waits for; the ways back of a loop are not among them. */
  fanIn: number[];
  /** Direct body nodes per loop, in topological order; nodes of a loop inside are that loop's. */
  members: number[][];
  phases: Phase[];
  waiting: number[];
  reached: boolean[];
  /** Loops that have begun and not ended. */
  loops: Map<number, LoopRound>;
  /** For each merge what its parents taken so far gave, by parent. */
  inboxes: Map<number, Map<number, Json>>;
  ran: boolean[];
  /** Without a prototype, so that no key finds anything but what was written. */
  values: JsonObject;
  ranks: Map<string, Rank>;
  ready: ReadyQueue;
  /** Positions of nodes by what holds the run open. */
  counts: { ready: number; taken: number; failed: number };
  control: ControlStep[];
  /** Control steps computed since something last came from outside. */
  inPlace: number;
  /** Whether the rules of an execution that began earlier hold, whose history has to come out as it did. */
  earlier: boolean;
  /** What expressions may still do until something comes from outside. */
  budget: WorkBudget;
  /** Units used before the budget was last filled. */
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

/** Puts a node before its first event, at the start of a run and of each round. */
export function resetNode(run: RunState, node: number): void {
  run.phases[node] = 'waiting';
  run.waiting[node] = run.fanIn[node]!;
  run.reached[node] = run.fanIn[node] === 0;
}

/** The rounds a node is in now, outermost first; empty outside of loops. */
export function iterationOf(run: RunState, node: number): number[] {
  const iteration: number[] = [];
  for (let loop = run.graph.regions[node]!; loop !== -1; loop = run.graph.regions[loop]!) {
    const round = run.loops.get(loop)?.round ?? 0;
    // Without rounds there is none to name: the body of a skipped loop.
    if (round > 0) iteration.push(round);
  }
  return iteration.reverse();
}

/** `id` outside of loops, `id#2.3` in round 3 of the loop in round 2 of the outer one. */
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

/** Writes to the state in a node's name; `within` places several writes of one loop head among its rounds. */
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

/** Writes a node's output under its key. */
export function writeOutput(
  run: RunState,
  node: number,
  output: Json,
  within: number[] = [],
): void {
  write(run, node, outputKey(run.graph.nodes[node]!), output, within);
}

/** Notes a control step for delivery. */
export function note(
  run: RunState,
  node: number,
  status: ControlStep['status'],
  more: { output?: Json; error?: string } = {},
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

/** An external event arrived: the limit of nodes computed in place starts again. */
export function refill(run: RunState): void {
  run.inPlace = 0;
  run.workDone = workDone(run);
  run.budget = fullBudget(run.earlier);
}

const fullBudget = (earlier: boolean): WorkBudget =>
  earlier ? { work: EARLIER_WORK_IN_PLACE, searchesOnly: true } : { work: MAX_WORK_IN_PLACE };

/** Units that expressions have used so far. */
export const workDone = (run: RunState): number =>
  run.workDone + fullBudget(run.earlier).work - run.budget.work;

/** Moves a node to another phase and keeps the counts of what holds the run open. */
export function enter(run: RunState, node: number, phase: Phase): void {
  const before = run.phases[node]!;
  if (before === 'ready' || before === 'taken' || before === 'failed') run.counts[before] -= 1;
  if (phase === 'ready' || phase === 'taken' || phase === 'failed') run.counts[phase] += 1;
  run.phases[node] = phase;
  if (phase === 'ready') run.ready.push(node);
}

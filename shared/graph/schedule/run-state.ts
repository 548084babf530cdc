import type { Json, JsonObject } from '#shared/json.ts';
import type { NodeKind } from '#shared/contract/workflows/graph.ts';
import {
  nodeLabel,
  outputKey,
  type CompiledEdge,
  type CompiledGraph,
} from '#shared/graph/compile.ts';
import type { CaughtError } from '#shared/graph/caught-error.ts';
import type { WorkBudget } from '#shared/values/work-budget.ts';
import { joined, jsonOf, type JsonText, put, textsOf } from '#shared/values/json-text.ts';
import { stepKeyIn } from './step-key.ts';
import { createReadyQueue, type ReadyQueue } from './ready-queue.ts';

/** Work budget of all expressions between two external events: at most 0.2 s. */
const MAX_WORK_IN_PLACE = 2_000_000;
/** The cost of a condition, a loop's iteration or a merge, without its expression. */
const WORK_PER_STEP = 20;

/** A step that is computed in place: conditions, loops, merges, skipped nodes, and caught errors. */
export interface ControlStep {
  step_key: string;
  node_id: string;
  label: string;
  kind: NodeKind;
  iteration: number[];
  status: 'running' | 'success' | 'failed' | 'skipped';
  output?: Json;
  error?: string;
  /** For an agent, tool or gate that failed: its error edges were taken, and the run continues. */
  caught?: CaughtError;
  /** The key of the output, if it is not the node's id. */
  output_key?: string;
}

/** A node's phase in the current iteration of its loop. Only loops and maps can be `running`. */
export type Phase = 'waiting' | 'ready' | 'taken' | 'running' | 'failed' | 'settled' | 'skipped';

/** Determines which write to a key wins, in any order of arrival: the greater list, compared element by element. */
export type Rank = number[];

interface LoopRound {
  /** The number of iterations started. */
  round: number;
  /** The number of body nodes in this iteration that are not settled yet. */
  open: number;
  /** Whether a back edge was followed in this iteration. */
  again: boolean;
}

/** What all scopes of a run share. */
interface Shared {
  /** Ready nodes of all scopes. */
  ready: ReadyQueue<{ run: RunState; node: number; path: number[] }>;
  /** How many nodes keep the run open, by reason. */
  counts: Record<OpenPhase, number>;
  control: ControlStep[];
  /** Control steps computed since the last external event. */
  inPlace: number;
  /** The remaining work of expressions until the next external event. */
  budget: WorkBudget;
  /** Units used before the budget was last renewed. */
  workDone: number;
  /** Events whose consequences are not computed yet. */
  queue: Event[];
  /** Maps that begin more items when the next steps are taken, because the limit of control steps was reached. */
  held: { run: RunState; node: number }[];
  arrivals: Arrivals;
}

/** Handlers for when the run reaches certain steps, by step key. Called with the live state, once per step. */
export type Arrivals = ReadonlyMap<string, (state: JsonObject) => Arrival>;

/** What a fork merges into the state at steps, by step key. */
export const laidAt = (laid: Record<string, JsonObject>): Arrivals =>
  new Map(Object.entries(laid).map(([stepKey, values]) => [stepKey, () => ({ laid: values })]));

export interface Arrival {
  /** Merged into the state before the step begins. Later nodes overwrite it. */
  laid?: JsonObject | undefined;
  /** Whether the step, and so everything after it, must not begin. */
  stops?: boolean;
}

/** A node's inputs are settled, or an iteration of a loop or an item of a map has ended. */
type Event = { run: RunState; node: number; what: 'arrive' | 'round' | 'item' };

type OpenPhase = 'ready' | 'taken' | 'failed';
const isOpen = (phase: Phase): phase is OpenPhase =>
  phase === 'ready' || phase === 'taken' || phase === 'failed';

/** The items of a map that is in progress. */
export interface MapItems {
  items: readonly Json[];
  /** The outputs of ended items; null for the others. */
  outputs: Json[];
  /** The number of items that have started. */
  begun: number;
  /** The items in progress, by their index. */
  active: Map<number, RunState>;
  /** The first item that failed, if that ends the map. */
  failed: { index: number; error: CaughtError } | undefined;
}

/** The location of an item in its map. */
interface ItemPlace {
  parent: RunState;
  map: number;
  index: number;
  /** The number of direct body nodes that are not settled yet. */
  open: number;
  /** The outputs of the nodes that lead back to the map, by node. */
  ends: Map<number, Json>;
  /** Set when the item has failed: then nothing else in it begins. */
  error: CaughtError | undefined;
}

/**
 * The mutable state of a run or of one item of a map. Items have their own scope, because they are concurrent. A loop
 * has at most one active iteration, so within a scope one entry per node is enough at any nesting depth.
 */
export interface EndState {
  /** An object as JSON. */
  state: string;
  /** Keys whose value is the stored output of a step, with the step's key. `state` has null there. */
  outputs?: Record<string, string>;
}

export interface RunState {
  shared: Shared;
  graph: CompiledGraph;
  positions: Map<string, number>;
  hasMaps: boolean;
  out: CompiledEdge[][];
  /** The number of edges that each node waits for, without back edges. */
  fanIn: number[];
  /** Direct body nodes per loop or map, in topological order. Nodes of a nested loop or map belong to that one. */
  members: number[][];
  phases: Phase[];
  waiting: number[];
  reached: boolean[];
  /** Loops in progress. */
  loops: Map<number, LoopRound>;
  maps: Map<number, MapItems>;
  /** For each merge: the outputs of its parents so far, by parent. */
  inboxes: Map<number, Map<number, Json>>;
  ran: boolean[];
  /** Has no prototype, so that a lookup only finds written keys. For an item: what was written in it. */
  values: JsonObject;
  ranks: Map<string, Rank>;
  /** Set for an item of a map; undefined for the run itself. */
  item: ItemPlace | undefined;
  /** The number of nodes in this scope and its inner scopes that keep it open, and how many of them have failed. */
  busy: number;
  failed: number;
}

export function createRunState(graph: CompiledGraph, input: JsonObject): RunState {
  const size = graph.nodes.length;
  const run: RunState = {
    shared: {
      ready: createReadyQueue((a, b) => precedes(a.path, b.path)),
      counts: { ready: 0, taken: 0, failed: 0 },
      control: [],
      inPlace: 0,
      budget: fullBudget(),
      workDone: 0,
      queue: [],
      held: [],
      arrivals: new Map(),
    },
    graph,
    positions: new Map(graph.nodes.map((node, position) => [node.id, position])),
    hasMaps: graph.nodes.some(({ kind }) => kind === 'map'),
    out: graph.nodes.map(() => []),
    fanIn: new Array<number>(size).fill(0),
    members: graph.nodes.map(() => []),
    ...emptyScope(undefined),
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

const emptyScope = (item: ItemPlace | undefined) => ({
  phases: [],
  waiting: [],
  reached: [],
  loops: new Map(),
  maps: new Map(),
  inboxes: new Map(),
  ran: [],
  values: Object.create(null) as JsonObject,
  ranks: new Map(),
  item,
  busy: 0,
  failed: 0,
});

/** The scope of one item. Only nodes in the map's body have a phase in it. */
export function createItem(parent: RunState, map: number, index: number): RunState {
  const { shared, graph, positions, hasMaps, out, fanIn, members } = parent;
  const open = members[map]!.length;
  const item = { parent, map, index, open, ends: new Map<number, Json>(), error: undefined };
  const run = { shared, graph, positions, hasMaps, out, fanIn, members, ...emptyScope(item) };
  for (const node of scopeOf(run, map)) resetNode(run, node);
  return run;
}

/** The nodes that have a phase in an item of the map: its body without the bodies of inner maps. */
export function scopeOf({ members, graph }: RunState, map: number): number[] {
  const nodes: number[] = [];
  const open = [map];
  for (let next = open.pop(); next !== undefined; next = open.pop()) {
    for (const member of members[next]!) {
      nodes.push(member);
      if (graph.nodes[member]!.kind !== 'map') open.push(member);
    }
  }
  return nodes.sort((a, b) => a - b);
}

/** The state as the nodes of a scope see it: writes within an item come on top of the rest. */
export function stateOf(run: RunState): JsonObject {
  if (run.item === undefined) return run.values;
  const around = stateOf(run.item.parent);
  if (textsOf(around) !== undefined || textsOf(run.values) !== undefined) {
    return joined(around, run.values);
  }
  return Object.assign(Object.create(null) as JsonObject, around, run.values);
}

/** Resets a node, at the start of a run and of each iteration. */
export function resetNode(run: RunState, node: number): void {
  run.phases[node] = 'waiting';
  run.waiting[node] = run.fanIn[node]!;
  run.reached[node] = run.fanIn[node] === 0;
}

/** The current iterations of a node's loops and maps, outermost first; empty outside them. */
export function iterationOf(run: RunState, node: number): number[] {
  const iteration: number[] = [];
  let scope = run;
  for (let loop = run.graph.regions[node]!; loop !== -1; loop = run.graph.regions[loop]!) {
    if (scope.item?.map === loop) {
      iteration.push(scope.item.index + 1);
      scope = scope.item.parent;
      continue;
    }
    const round = scope.loops.get(loop)?.round ?? 0;
    // The body of a skipped loop has no iteration.
    if (round > 0) iteration.push(round);
  }
  return iteration.reverse();
}

/** `id` outside of loops, `id#2.3` in iteration 3 of the loop in iteration 2 of the outer one. */
export function stepKeyOf(run: RunState, node: number): string {
  return stepKeyIn(run.graph.nodes[node]!.id, iterationOf(run, node));
}

function rankOf(run: RunState, node: number): Rank {
  const rank = [node];
  for (let loop = run.graph.regions[node]!; loop !== -1; loop = run.graph.regions[loop]!) {
    rank.unshift(loop, run.loops.get(loop)?.round ?? 0);
  }
  return rank;
}

/** Whether the value of a key comes from a step whose writes win over those of a node in its present iteration. */
export function isOutranked(run: RunState, node: number, key: string): boolean {
  const before = run.ranks.get(key);
  return before !== undefined && outranks(before, rankOf(run, node));
}

function outranks(a: Rank, b: Rank): boolean {
  for (let place = 0; place < a.length && place < b.length; place += 1) {
    if (a[place] !== b[place]) return a[place]! > b[place]!;
  }
  return a.length > b.length;
}

/** Writes to the state for a node. `within` orders a loop's own writes among its iterations. */
export function write(
  run: RunState,
  node: number,
  key: string,
  value: Json | JsonText,
  within: number[] = [],
): void {
  const rank = [...rankOf(run, node), ...within];
  const before = run.ranks.get(key);
  if (before !== undefined && outranks(before, rank)) return;
  run.ranks.set(key, rank);
  put(run.values, key, value);
}

/** The state for the record of the run. */
export function endState({ values }: RunState): EndState {
  const outputs: Record<string, string> = {};
  const sent: JsonObject = {};
  for (const [key, { step }] of textsOf(values) ?? []) {
    if (step === undefined) continue;
    outputs[key] = step;
    sent[key] = null;
  }
  if (Object.keys(outputs).length === 0) return { state: jsonOf(values) };
  return { state: jsonOf(joined(values, sent)), outputs };
}

/** Writes a node's output to its key. */
export function writeOutput(
  run: RunState,
  node: number,
  output: Json | JsonText,
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
  const key = outputKey(run.graph.nodes[node]!);
  const { shared } = run;
  shared.inPlace += 1;
  shared.budget.work -= WORK_PER_STEP;
  shared.control.push({
    step_key: stepKeyOf(run, node),
    node_id: id,
    label: nodeLabel(run.graph.nodes[node]!),
    kind,
    iteration: iterationOf(run, node),
    status,
    ...(status !== 'skipped' && key !== id ? { output_key: key } : {}),
    ...more,
  });
}

/** Call this when an external event arrives: it renews the limits of control steps and expressions. */
export function refill({ shared }: RunState): void {
  shared.inPlace = 0;
  shared.workDone = workDone(shared);
  shared.budget = fullBudget();
}

const fullBudget = (): WorkBudget => ({ work: MAX_WORK_IN_PLACE });

/** Units that expressions have used so far. */
export const workDone = ({ workDone: before, budget }: Shared): number =>
  before + MAX_WORK_IN_PLACE - budget.work;

/** Moves a node to another phase, and counts the nodes that keep the run and the items around it open. */
export function enter(run: RunState, node: number, phase: Phase): void {
  const before = run.phases[node]!;
  if (isOpen(before)) count(run, before, -1);
  if (isOpen(phase)) count(run, phase, 1);
  run.phases[node] = phase;
  if (phase === 'ready') run.shared.ready.push({ run, node, path: [...pathOf(run), node] });
}

function count(run: RunState, phase: OpenPhase, by: 1 | -1): void {
  run.shared.counts[phase] += by;
  for (let scope: RunState | undefined = run; scope !== undefined; scope = scope.item?.parent) {
    scope.busy += by;
    if (phase === 'failed') scope.failed += by;
  }
}

/** The maps and items around a scope, outermost first. */
const pathOf = ({ item }: RunState): number[] =>
  item === undefined ? [] : [...pathOf(item.parent), item.map, item.index];

/** Topological order. Earlier items come first, so that they end before later ones begin. */
function precedes(a: readonly number[], b: readonly number[]): boolean {
  for (let place = 0; place < a.length && place < b.length; place += 1) {
    if (a[place] !== b[place]) return a[place]! < b[place]!;
  }
  return a.length < b.length;
}

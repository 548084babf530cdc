import type { Json, JsonObject } from '#shared/json.ts';
import type { CaughtError } from '#shared/graph/caught-error.ts';
import { textsOf } from '#shared/values/json-text.ts';
import { GRAPH_FORMAT, type CompiledGraph } from '#shared/graph/compile.ts';
import {
  createItem,
  createRunState,
  enter,
  scopeOf,
  type ControlStep,
  type MapItems,
  type Phase,
  type Rank,
  type RunState,
} from './run-state.ts';

type NodeSnapshot = [phase: Phase, waiting: number, reached: boolean, ran: boolean];

interface ScopeSnapshot {
  /**
   * Per node of the scope, in topological order: its phase, the number of edges it waits for, whether one was followed,
   * and whether it has run.
   */
  nodes: NodeSnapshot[];
  loops: [node: number, round: number, open: number, again: boolean][];
  /** The inputs so far of merges that have not run yet. */
  inboxes: [merge: number, parent: number, output: Json][];
  /** State keys with the rank of their last write. Keys of the input have none. */
  state: [key: string, value: Json, rank: Rank | null][];
  /** Absent in a scope without maps in progress. */
  maps?: MapSnapshot[];
}

interface MapSnapshot {
  node: number;
  /** The key of the scope's state that contains the items, or the items themselves. */
  items: { key: string } | { list: readonly Json[] };
  outputs: Json[];
  begun: number;
  failed?: { index: number; error: CaughtError };
  active: ItemSnapshot[];
}

interface ItemSnapshot extends ScopeSnapshot {
  index: number;
  open: number;
  ends: [node: number, output: Json][];
  error?: CaughtError;
}

/** A run as JSON, which can be restored with the same compiled graph. */
export interface SchedulerSnapshot extends ScopeSnapshot {
  format: typeof GRAPH_FORMAT;
  control: ControlStep[];
  in_place: number;
}

/** Copies mutable data. Values of the state are immutable, so they are shared. */
export const takeSnapshot = (run: RunState): SchedulerSnapshot => ({
  format: GRAPH_FORMAT,
  ...takeScope(run, allNodes(run)),
  control: [...run.shared.control],
  in_place: run.shared.inPlace,
});

/** A part of a run, as a snapshot. */
export interface Situation {
  snapshot: SchedulerSnapshot;
  /** Keys of the state that are not part of it, because their values are too large. */
  large: string[];
  /** The steps that wait for decisions. */
  asking: string[];
}

/** Which part: these scopes, and these keys of their states. */
interface Part {
  scopes: ReadonlySet<RunState>;
  keys: ReadonlySet<string>;
  large: Set<string>;
}

/** The maximum length of a value's JSON in a situation. */
const MAX_VALUE_LENGTH = 100_000;

/** What is needed to see what follows in these scopes, which include the run itself: see `Scheduler.situation`. */
export function takeSituation(
  run: RunState,
  scopes: ReadonlySet<RunState>,
  keys: ReadonlySet<string>,
): Omit<Situation, 'asking'> {
  const part = { scopes, keys, large: new Set<string>() };
  const scope = takeScope(run, allNodes(run), part);
  return {
    snapshot: { format: GRAPH_FORMAT, ...scope, control: [], in_place: 0 },
    large: [...part.large],
  };
}

const allNodes = ({ graph }: RunState): number[] => graph.nodes.map((_, node) => node);

function takeScope(run: RunState, nodes: readonly number[], part?: Part): ScopeSnapshot {
  const maps = [...run.maps].flatMap(([node, map]) =>
    part === undefined || isAround(map, part) ? [takeMap(run, node, map, part)] : [],
  );
  const isRead = (key: string): boolean => {
    if (part === undefined) return true;
    if (!part.keys.has(key)) return false;
    if ((textsOf(run.values)?.get(key)?.text.length ?? 0) <= MAX_VALUE_LENGTH) return true;
    part.large.add(key);
    return false;
  };
  const merges = part === undefined ? undefined : mergesRead(run, isRead);
  return {
    nodes: nodes.map((node) => [
      run.phases[node]!,
      run.waiting[node]!,
      run.reached[node]!,
      run.ran[node] ?? false,
    ]),
    loops: [...run.loops].map(([node, { round, open, again }]) => [node, round, open, again]),
    inboxes: [...run.inboxes].flatMap(([merge, inbox]) =>
      (merges === undefined || merges.has(merge) ? [...inbox] : []).map(
        ([parent, output]): [number, number, Json] => [merge, parent, output],
      ),
    ),
    state: Object.keys(run.values)
      .filter(isRead)
      .map((key) => [key, run.values[key]!, run.ranks.get(key) ?? null]),
    ...(maps.length === 0 ? {} : { maps }),
  };
}

/** The merges whose output is read: from the state, or by a merge after them. */
function mergesRead(
  { graph: { nodes }, out }: RunState,
  isRead: (key: string) => boolean,
): Set<number> {
  const read = new Set<number>();
  for (let node = nodes.length - 1; node >= 0; node -= 1) {
    const { kind, id } = nodes[node]!;
    if (kind === 'merge' && (isRead(id) || out[node]!.some(({ to }) => read.has(to)))) {
      read.add(node);
    }
  }
  return read;
}

const isAround = ({ active }: MapItems, { scopes }: Part): boolean =>
  [...active.values()].some((item) => scopes.has(item));

/** In a part, the map has the items that are in it, and begins no others. */
function takeMap(run: RunState, node: number, map: MapItems, part?: Part): MapSnapshot {
  const { items, outputs, begun, active, failed } = map;
  const nodes = scopeOf(run, node);
  // The items are usually a value of the state, which is written anyway.
  const key = Object.keys(run.values).find((name) => run.values[name] === items);
  return {
    node,
    items: part !== undefined ? { list: [] } : key === undefined ? { list: items } : { key },
    outputs: part === undefined ? [...outputs] : [],
    begun: part === undefined ? begun : 0,
    ...(failed === undefined ? {} : { failed }),
    active: [...active]
      .filter(([, item]) => part === undefined || part.scopes.has(item))
      .map(([index, item]) => ({
        index,
        open: item.item!.open,
        ends: part === undefined ? [...item.item!.ends] : [],
        ...(item.item!.error === undefined ? {} : { error: item.item!.error }),
        ...takeScope(item, nodes, part),
      })),
  };
}

/**
 * Restores a run. Nodes in flight become ready again, since their results are unknown. Throws Error when the snapshot
 * has another graph or format.
 */
export function restoreRunState(graph: CompiledGraph, snapshot: SchedulerSnapshot): RunState {
  if (snapshot.format !== GRAPH_FORMAT || snapshot.nodes.length !== graph.nodes.length) {
    throw new Error('The snapshot does not belong to this graph');
  }
  const run = createRunState(graph, {} satisfies JsonObject);
  const all = graph.nodes.map((_, node) => node);
  restoreScope(run, all, snapshot);
  run.shared.control = [...snapshot.control];
  run.shared.inPlace = snapshot.in_place;
  return run;
}

function restoreScope(run: RunState, nodes: readonly number[], snapshot: ScopeSnapshot): void {
  snapshot.nodes.forEach(([phase, waiting, reached, ran], at) => {
    const node = nodes[at]!;
    enter(run, node, phase === 'taken' ? 'ready' : phase);
    run.waiting[node] = waiting;
    run.reached[node] = reached;
    run.ran[node] = ran;
  });
  for (const [node, round, open, again] of snapshot.loops) {
    run.loops.set(node, { round, open, again });
  }
  for (const [merge, parent, output] of snapshot.inboxes) {
    const inbox = run.inboxes.get(merge) ?? new Map<number, Json>();
    run.inboxes.set(merge, inbox.set(parent, output));
  }
  for (const [key, value, rank] of snapshot.state) {
    run.values[key] = value;
    if (rank !== null) run.ranks.set(key, rank);
  }
  for (const map of snapshot.maps ?? []) restoreMap(run, map);
}

function restoreMap(run: RunState, snapshot: MapSnapshot): void {
  const { node, begun, failed } = snapshot;
  const items =
    'key' in snapshot.items ? (run.values[snapshot.items.key] as Json[]) : snapshot.items.list;
  const active = new Map<number, RunState>();
  run.maps.set(node, { items, outputs: [...snapshot.outputs], begun, failed, active });
  const nodes = scopeOf(run, node);
  for (const { index, open, ends, error, ...scope } of snapshot.active) {
    const item = createItem(run, node, index);
    Object.assign(item.item!, { open, ends: new Map(ends), error });
    restoreScope(item, nodes, scope);
    active.set(index, item);
  }
  // It may have been held back.
  run.shared.held.push({ run, node });
}

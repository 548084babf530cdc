import type { Json, JsonObject } from '../../json.ts';
import { GRAPH_FORMAT, type CompiledGraph } from '../compile.ts';
import {
  createRunState,
  enter,
  type ControlStep,
  type Phase,
  type Rank,
  type RunState,
} from './run-state.ts';

/** A run as JSON, to be restored with the same compiled graph. */
export interface SchedulerSnapshot {
  format: typeof GRAPH_FORMAT;
  /** Per node, in topological order: phase, edges it waits for, whether one was followed, whether it has run. */
  nodes: [phase: Phase, waiting: number, reached: boolean, ran: boolean][];
  loops: [node: number, round: number, open: number, again: boolean][];
  /** The inputs so far of merges that have not run yet. */
  inboxes: [merge: number, parent: number, output: Json][];
  /** State keys with the rank of their last write; keys of the input have none. */
  state: [key: string, value: Json, rank: Rank | null][];
  control: ControlStep[];
  in_place: number;
}

/** Copies mutable data; values of the state are shared, since they are immutable. */
export function takeSnapshot(run: RunState): SchedulerSnapshot {
  return {
    format: GRAPH_FORMAT,
    nodes: run.phases.map((phase, node) => [
      phase,
      run.waiting[node]!,
      run.reached[node]!,
      run.ran[node]!,
    ]),
    loops: [...run.loops].map(([node, { round, open, again }]) => [node, round, open, again]),
    inboxes: [...run.inboxes].flatMap(([merge, inbox]) =>
      [...inbox].map(([parent, output]): [number, number, Json] => [merge, parent, output]),
    ),
    state: Object.keys(run.values).map((key) => [
      key,
      run.values[key]!,
      run.ranks.get(key) ?? null,
    ]),
    control: [...run.control],
    in_place: run.inPlace,
  };
}

/**
 * Restores a run. Nodes in flight are ready again, since their results are unknown.
 * Throws Error when the snapshot is of another graph or format.
 */
export function restoreRunState(
  graph: CompiledGraph,
  snapshot: SchedulerSnapshot,
  earlier = false,
): RunState {
  if (snapshot.format !== GRAPH_FORMAT || snapshot.nodes.length !== graph.nodes.length) {
    throw new Error('The snapshot does not belong to this graph');
  }
  const run = createRunState(graph, {} satisfies JsonObject, earlier);
  snapshot.nodes.forEach(([phase, waiting, reached, ran], node) => {
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
  run.control = [...snapshot.control];
  run.inPlace = snapshot.in_place;
  return run;
}

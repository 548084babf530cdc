import type { decidedByKinds } from '#shared/contract/gates/gate.ts';
import type { JsonObject } from '#shared/json.ts';
import type { CompiledGraph } from '#shared/graph/compile.ts';
import { isChild, isExecuted, isWaiting, repeats } from '#shared/graph/kinds.ts';
import { iterationIn, nodeIdOf } from '#shared/graph/schedule/step-key.ts';

/**
 * Determines which gates a live fork asks again. A decision only counts in the run in which it was made, so each gate
 * is asked again behind which the fork executes an agent, tool or workflow.
 */

/** The location of a step: the loops and maps around its node, outermost first, each with its iteration. */
interface Place {
  key: string;
  node: number;
  around: number[];
  iteration: number[];
}

interface Order {
  /** Whether the step can be reached from the gate. */
  follows: (gate: string, stepKey: string) => boolean;
  /** Whether an executed step can be reached from this gate's step, or this gate from an executed step. */
  leadsToWork: (gate: string, stepKey: string) => boolean;
  /** Of gates decided by a person or a deadline: the latest in each loop. In maps, each item has its own gates. */
  latest: (gates: readonly string[]) => string[];
}

/** Finds the location of a step by its key; undefined for a node that the graph does not have. */
function placesOf({ nodes, regions }: CompiledGraph): (key: string) => Place | undefined {
  const positions = new Map(nodes.map(({ id }, at) => [id, at]));
  const places = new Map<string, Place | undefined>();
  const readPlace = (key: string): Place | undefined => {
    const node = positions.get(nodeIdOf(key));
    if (node === undefined) return undefined;
    const around: number[] = [];
    for (let head = regions[node]!; head !== -1; head = regions[head]!) around.unshift(head);
    return { key, node, around, iteration: iterationIn(key) };
  };
  return (key) => {
    if (!places.has(key)) places.set(key, readPlace(key));
    return places.get(key);
  };
}

/** The order of a graph's steps, regardless of decisions. */
function orderOf(graph: CompiledGraph): Order {
  const { nodes } = graph;
  const placeOf = placesOf(graph);
  const reached = reachOf(graph);
  const works = nodes.map((node) => isExecuted(node) || isChild(node));
  const meetings = new Map<number, boolean>();

  const isLoop = (head: number | undefined): boolean =>
    head !== undefined && nodes[head]!.kind === 'loop';
  const worksIn = (head: number): boolean => [...reached.inside(head)].some((at) => works[at]);

  /** Whether the nodes after the gate, and the other node or those after it, have an executed node in common. */
  function meet(gate: number, other: number): boolean {
    const id = gate * nodes.length + other;
    const known = meetings.get(id);
    if (known !== undefined) return known;
    const behind = reached.after(gate);
    const both = [other, ...reached.inside(other), ...reached.after(other)];
    const found = both.some((at) => works[at] && behind.has(at));
    meetings.set(id, found);
    return found;
  }

  function leadsToWork(gateKey: string, stepKey: string): boolean {
    const gate = placeOf(gateKey);
    const step = placeOf(stepKey);
    if (gate === undefined || step === undefined) return false;
    const shared = sharedDepth(gate, step);
    // If a loop contains both, or contains both in different iterations, this includes the next iterations.
    const loops = gate.around.slice(0, shared).filter(isLoop);
    const next = gate.around[shared];
    if (next === step.around[shared] && next !== undefined && isLoop(next)) loops.push(next);
    if (loops.some(worksIn)) return true;
    for (let depth = 0; depth <= shared; depth += 1) {
      if (meet(at(gate, depth), at(step, depth))) return true;
    }
    return false;
  }

  function follows(gateKey: string, stepKey: string): boolean {
    const gate = placeOf(gateKey);
    const step = placeOf(stepKey);
    if (gate === undefined || step === undefined || gateKey === stepKey) return false;
    const shared = sharedDepth(gate, step);
    const next = gate.around[shared];
    if (next !== undefined && next === step.around[shared]) {
      return isLoop(next) && gate.iteration[shared]! < step.iteration[shared]!;
    }
    return reached.after(at(gate, shared)).has(at(step, shared));
  }

  function latest(gates: readonly string[]): string[] {
    const found = new Map<string, Place>();
    for (const key of gates) {
      const place = placeOf(key);
      if (place === undefined) continue;
      const items = place.around.map((head, depth) => isLoop(head) || place.iteration[depth]);
      const group = JSON.stringify([place.node, items]);
      const other = found.get(group);
      if (other === undefined || isLater(place.iteration, other.iteration)) found.set(group, place);
    }
    return [...found.values()].map(({ key }) => key);
  }

  return { follows, leadsToWork, latest };
}

/** How many loops and maps contain both, in the same iteration. */
function sharedDepth(one: Place, other: Place): number {
  let depth = 0;
  while (
    depth < one.around.length &&
    one.around[depth] === other.around[depth] &&
    one.iteration[depth] === other.iteration[depth]
  ) {
    depth += 1;
  }
  return depth;
}

/** The node of a location in the body at this depth: the node itself, or the loop or map around it. */
const at = ({ around, node }: Place, depth: number): number => around[depth] ?? node;

function isLater(one: readonly number[], other: readonly number[]): boolean {
  const depth = one.findIndex((round, place) => round !== other[place]);
  return depth !== -1 && one[depth]! > other[depth]!;
}

/** The nodes after a node in the same body, including bodies of loops and maps there; and the body of a loop or map. */
function reachOf({ nodes, edges, regions }: CompiledGraph) {
  const next = nodes.map((): number[] => []);
  for (const { from, to } of edges) if (regions[from] === regions[to]) next[from]!.push(to);
  const members = nodes.map((): number[] => []);
  regions.forEach((head, node) => {
    if (head !== -1) members[head]!.push(node);
  });
  const known = new Map<number, Set<number>>();
  const inside = (head: number): Set<number> => {
    if (!repeats(nodes[head]!)) return new Set();
    const found = new Set(members[head]);
    for (const node of found) for (const member of members[node]!) found.add(member);
    return found;
  };
  const after = (node: number): Set<number> => {
    const seen = known.get(node);
    if (seen !== undefined) return seen;
    const found = new Set(next[node]);
    for (const reached of found) for (const to of next[reached]!) found.add(to);
    for (const reached of [...found]) for (const inner of inside(reached)) found.add(inner);
    known.set(node, found);
    return found;
  };
  return { after, inside };
}

interface Decided {
  decisions: Record<string, { by_kind?: (typeof decidedByKinds)[number] }>;
  gated?: readonly string[];
}

/**
 * The decided gates of a run that its fork asks again, and the steps that it starts again because of decisions in their
 * child runs. `origins`: the steps that are executed first. Steps after a gate that is asked again may also be
 * executed.
 */
export function reopenedGates(
  graph: CompiledGraph,
  { decisions, gated = [] }: Decided,
  { decided, origins }: { decided: readonly string[]; origins: Iterable<string> },
): Set<string> {
  const { leadsToWork, latest } = orderOf(graph);
  const ids = new Set(graph.nodes.filter(isWaiting).map(({ id }) => id));
  const gates = decided.filter((key) => ids.has(nodeIdOf(key)) || gated.includes(key));
  // A decision by a request never counts, in any iteration.
  const byRequest = gates.filter((key) => decisions[key]?.by_kind === 'request');
  const candidates = new Set([
    ...byRequest,
    ...latest(gates.filter((key) => !byRequest.includes(key))),
  ]);
  const asked = new Set<string>();
  const open = [...origins];
  for (let origin = open.pop(); origin !== undefined; origin = open.pop()) {
    for (const gate of candidates) {
      if (!leadsToWork(gate, origin)) continue;
      candidates.delete(gate);
      asked.add(gate);
      open.push(gate);
    }
  }
  return asked;
}

/**
 * What is merged into the state at steps. State that belongs behind gates that are asked again is merged at the first
 * of these instead, so that prompts show it and the approvers' input comes after it.
 */
export function laidBefore(
  graph: CompiledGraph,
  asked: ReadonlySet<string>,
  laid: ReadonlyMap<string, JsonObject>,
): Record<string, JsonObject> {
  const { follows } = orderOf(graph);
  const moved: Record<string, JsonObject> = {};
  for (const [key, values] of laid) {
    const before = [...asked].filter((gate) => gate === key || follows(gate, key));
    const first = before.filter((gate) => !before.some((other) => follows(other, gate)));
    for (const place of first.length === 0 ? [key] : first) {
      moved[place] = { ...moved[place], ...values };
    }
  }
  return moved;
}

/** Like `laidBefore`, with what a fork merges into the state at its own step. */
export const laidWith = (
  laid: ReadonlyMap<string, JsonObject>,
  from: string,
  values: JsonObject,
): Map<string, JsonObject> =>
  new Map([...laid, ...(Object.keys(values).length === 0 ? [] : [[from, values] as const])]);

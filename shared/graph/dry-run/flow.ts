import type { EdgeCondition, GraphNode } from '#shared/contract/workflows/graph.ts';
import type { CompiledEdge } from '#shared/graph/compile.ts';
import { repeats } from '#shared/graph/kinds.ts';
import { createBitRows } from '#shared/graph/schedule/bit-rows.ts';
import { type Bounds, exactly, times, upTo, ZERO } from './bounds.ts';
import type { Examined } from './examined.ts';
import type { Left } from './knowledge.ts';
import type { Layout } from './layout.ts';

/**
 * Whether something happens in an iteration of the surrounding loops and maps: whether it `may`, and whether it is
 * `sure` to.
 */
interface Chance {
  may: boolean;
  /** It happens unless something else fails first. */
  sure: boolean;
}

const NEVER: Chance = { may: false, sure: false };

/** What is known about the nodes of a graph before it runs, by position. */
export interface Flow {
  examined: (Examined | undefined)[];
  /** Whether each node is reached. */
  reached: Chance[];
  /** The minimum and maximum number of executions of each node. */
  executions: Bounds[];
}

/** A flow that is being computed, in the order of the graph. */
interface Walk {
  layout: Layout;
  examined: (Examined | undefined)[];
  reached: Chance[];
  edges: Map<CompiledEdge, Chance>;
  /** Per node: those that have always succeeded by the time it begins. */
  done: ReturnType<typeof createBitRows>;
}

/**
 * Walks through a graph as its scheduler would, considering everything that can happen. `examine` is called once for
 * each node that can be reached; `left` has the earlier results, and `isDone` says which nodes have always succeeded
 * before another begins.
 */
export function walk(
  layout: Layout,
  prepare: (
    left: readonly (Left | undefined)[],
    isDone: (node: number, before: number) => boolean,
  ) => (node: number) => Examined,
): Flow {
  const size = layout.nodes.length;
  const done = createBitRows(size, size);
  const walked: Walk = { layout, examined: [], reached: [], edges: new Map(), done };
  const left: (Left | undefined)[] = [];
  const examine = prepare(left, (node, before) => done.has(before, node));
  for (const { node, ends } of layout.order) {
    if (ends) {
      if (walked.examined[node] !== undefined) endBody(walked, node, walked.examined[node]);
      leave(walked, node, (edge) => !isEntry(layout, edge));
      continue;
    }
    arrive(walked, node);
    const found = walked.reached[node]!.may ? examine(node) : undefined;
    walked.examined[node] = found;
    left[node] = { never: found === undefined, bytes: found?.bytes ?? null };
    const again = repeats(layout.nodes[node]!);
    leave(walked, node, (edge) => !again || isEntry(layout, edge));
  }
  return {
    examined: walked.examined,
    reached: walked.reached,
    executions: countExecutions(walked),
  };
}

const isEntry = ({ regions }: Layout, { from, to }: CompiledEdge): boolean => regions[to] === from;

/** Determines whether the node is reached, and what is done by then. */
function arrive({ layout, reached, edges, done }: Walk, node: number): void {
  const into = layout.into[node]!;
  if (into.length === 0) {
    reached[node] = { may: true, sure: true };
    return;
  }
  const chances = into.map((edge) => ({ edge, chance: edges.get(edge) ?? NEVER }));
  const taken = chances.filter(({ chance }) => chance.may);
  const sure = chances.filter(({ chance }) => chance.sure);
  reached[node] = { may: taken.length > 0, sure: sure.length > 0 };
  const words = done.words(node);
  const before = ({ edge: { from, when } }: (typeof chances)[number]) => {
    const own = Uint32Array.from(done.words(from));
    const isBody = layout.regions[node] === from;
    if (when !== 'error' && !isBody) own[from >>> 5]! |= 1 << (from & 31);
    return own;
  };
  taken.forEach((each, at) => {
    const other = before(each);
    other.forEach((bits, word) => {
      words[word] = at === 0 ? bits : words[word]! & bits;
    });
  });
  for (const each of sure) before(each).forEach((bits, word) => (words[word]! |= bits));
}

/** Determines whether some of a node's outgoing edges are taken. */
function leave(walked: Walk, node: number, which: (edge: CompiledEdge) => boolean): void {
  const { layout, examined, reached, edges } = walked;
  const found = examined[node];
  for (const edge of [...layout.out[node]!, ...backFrom(layout, node)].filter(which)) {
    if (found === undefined) edges.set(edge, NEVER);
    else edges.set(edge, chanceOf(layout, edge, found, reached[node]!));
  }
}

const backFrom = ({ back, around, nodes }: Layout, node: number): CompiledEdge[] => {
  const heads = repeats(nodes[node]!) ? [node, ...around[node]!] : around[node]!;
  return heads.flatMap((head) =>
    back[head]!.filter(({ from, to }) => from === node && to !== node),
  );
};

function chanceOf(
  { nodes, regions, out }: Layout,
  { from, to, when }: CompiledEdge,
  found: Examined,
  { may, sure }: Chance,
): Chance {
  const { fails, result, rounds } = found;
  const node = nodes[from]!;
  const failing = mayFail(node, found, out[from]!);
  if (when === 'error') {
    return { may: may && failing, sure: sure && fails === 'always' };
  }
  const succeeds = { may: may && fails !== 'always', sure: sure && !failing };
  if (repeats(node)) {
    if (regions[to] === from) return { may: may && rounds.max !== 0, sure: true };
    return when === 'true' ? NEVER : succeeds;
  }
  const taken = isTaken(node, when, result);
  return { may: succeeds.may && taken !== false, sure: succeeds.sure && taken === true };
}

/** A rejected gate fails if it has no edge for it. */
const mayFail = (
  node: GraphNode,
  { fails, failsInBody = false }: Pick<Examined, 'fails' | 'failsInBody'>,
  out: CompiledEdge[],
): boolean =>
  fails !== 'never' || failsInBody || (node.kind === 'human_gate' && !hasFalseEdge(out));

const hasFalseEdge = (out: readonly CompiledEdge[]): boolean =>
  out.some(({ when }) => when === 'false');

/** Undefined: it depends. */
function isTaken(
  node: GraphNode,
  when: EdgeCondition | undefined,
  result: boolean | undefined,
): boolean | undefined {
  if (node.kind !== 'condition' && node.kind !== 'human_gate') return true;
  if (when === undefined) return true;
  return result === undefined ? undefined : (when === 'true') === result;
}

/** A loop or map ends: applies the effects of its body. */
function endBody({ layout, examined, edges }: Walk, head: number, found: Examined): void {
  const { nodes, back, hasErrorEdge } = layout;
  const node = nodes[head]!;
  const collects = node.kind === 'map' && node.on_item_error === 'collect';
  const stops = layout.bodies[head]!.some((at) => {
    const inside = examined[at];
    if (inside === undefined || hasErrorEdge[at]) return false;
    return mayFail(nodes[at]!, inside, layout.out[at]!);
  });
  if (stops && !collects) found.failsInBody = true;
  if (node.kind !== 'loop') return;
  const again = back[head]!.some((edge) => edge.from === head || edges.get(edge)?.sure === true);
  // An iteration that follows no back edge is the last one.
  if (!again || stops) found.rounds = { ...found.rounds, min: Math.min(1, found.rounds.min) };
}

/** The iterations of the loops and maps around each node multiply. */
function countExecutions({ layout, examined, reached }: Walk): Bounds[] {
  const { nodes, regions, around } = layout;
  const blockers = blockersOf(layout, examined);
  const inside = nodes.map((): Bounds | undefined => undefined);
  const within = (head: number): Bounds => {
    if (head === -1) return exactly(1);
    return (inside[head] ??= times(within(regions[head]!), {
      min: reached[head]!.sure ? (examined[head]?.rounds.min ?? 0) : 0,
      max: examined[head] === undefined ? 0 : examined[head].rounds.max,
    }));
  };
  return nodes.map((_, at) => {
    if (examined[at] === undefined) return ZERO;
    const most = within(regions[at]!);
    const certain = reached[at]!.sure && !isBlocked(layout, blockers, at, around[at]!);
    return certain ? most : upTo(most.max);
  });
}

/** Nodes whose failure ends an item of a map, by map; the last row has those whose failure ends the run. */
type Blockers = ReturnType<typeof createBitRows>;

function blockersOf(
  { nodes, around, hasErrorEdge, out }: Layout,
  examined: Walk['examined'],
): Blockers {
  const blockers = createBitRows(nodes.length + 1, nodes.length);
  nodes.forEach((node, at) => {
    const found = examined[at];
    if (found === undefined || hasErrorEdge[at]) return;
    // Failures within a body are counted for the nodes in it.
    if (!mayFail(node, { fails: found.fails }, out[at]!)) return;
    for (const head of around[at]!) {
      const map = nodes[head]!;
      if (map.kind !== 'map') continue;
      blockers.add(head, at);
      if (map.on_item_error === 'collect' || hasErrorEdge[head]) return;
    }
    blockers.add(nodes.length, at);
  });
  return blockers;
}

/** Whether a failure elsewhere can keep a node that is sure to be reached from running. */
function isBlocked(
  { nodes, follows }: Layout,
  blockers: Blockers,
  at: number,
  around: readonly number[],
): boolean {
  // Failures after the node has ended do not matter, nor does the node itself.
  const isHarmless = (row: number): boolean => {
    const after = follows.words(at);
    return blockers.words(row).every((bits, word) => {
      const self = at >>> 5 === word ? 1 << (at & 31) : 0;
      return (bits & ~after[word]! & ~self) === 0;
    });
  };
  for (const head of around) {
    const map = nodes[head]!;
    if (map.kind !== 'map') continue;
    const some = blockers.words(head).some((bits) => bits !== 0);
    if (some && (map.on_item_error === 'fail' || !isHarmless(head))) return true;
  }
  return !isHarmless(nodes.length);
}

import type { EdgeCondition, GraphNode } from '#shared/contract/workflows/graph.ts';
import { isBranching, repeats } from '#shared/graph/kinds.ts';
import { createBitRows } from '#shared/graph/schedule/bit-rows.ts';
import { type Bounds, exactly, times, upTo, ZERO } from './bounds.ts';
import type { Examined } from './examined.ts';
import type { Left } from './knowledge.ts';
import type { Layout, WalkedEdge } from './layout.ts';

/**
 * Whether something happens in an iteration of the surrounding loops and maps: whether it `may`, and whether it is
 * `sure` to.
 */
interface Chance {
  may: boolean;
  /** It happens unless something else fails first. */
  sure: boolean;
  /** Whether it is known only after a decision that the walk does not pass: see `Examined.waits`. */
  waits: Waits;
}

type Waits = 'never' | 'maybe' | 'always';

const NEVER: Chance = { may: false, sure: false, waits: 'never' };

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
  rest: RestOfRun | undefined;
  examined: (Examined | undefined)[];
  reached: Chance[];
  edges: Map<WalkedEdge, Chance>;
  /** Per node: those that have always succeeded by the time it begins. */
  done: ReturnType<typeof createBitRows>;
  /** Per node: whether it still waits for a decision when its iteration could end otherwise. */
  stays: Waits[];
}

/** The rest of a run that has begun. What fails the run is no reason for what follows not to be sure. */
export interface RestOfRun {
  /** Whether an edge that is not part of the rest leads to the node. */
  isReached: (node: number) => boolean;
  /** What can happen beyond decisions that the walk does not pass: a failure there can keep items from beginning. */
  beyond?: readonly (Examined | undefined)[];
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
  rest?: RestOfRun,
): Flow {
  const size = layout.nodes.length;
  const done = createBitRows(size, size);
  const walked: Walk = {
    ...{ layout, rest, examined: [], reached: [], edges: new Map(), done, stays: [] },
  };
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
    walked.stays[node] = staysAt(walked.reached[node]!, found?.waits ?? 'never');
    // What waits for a decision can still run before something that does not.
    const never = found === undefined && walked.reached[node]!.waits === 'never';
    left[node] = { never, bytes: found?.bytes ?? null };
    const again = repeats(layout.nodes[node]!);
    leave(walked, node, (edge) => !again || isEntry(layout, edge));
  }
  return {
    examined: walked.examined,
    reached: walked.reached,
    executions: countExecutions(walked),
  };
}

const isEntry = ({ regions }: Layout, { from, to }: WalkedEdge): boolean => regions[to] === from;

const WAITS: readonly Waits[] = ['never', 'maybe', 'always'];
const longest = (all: readonly Waits[]): Waits =>
  WAITS[Math.max(0, ...all.map((each) => WAITS.indexOf(each)))]!;

/** Whether a node that waits for a decision once it is reached keeps what follows it waiting. */
const staysAt = ({ may, sure, waits }: Chance, own: Waits): Waits =>
  longest([waits, own === 'never' || !may ? 'never' : sure ? own : 'maybe']);

/** Determines whether the node is reached, and what is done by then. */
function arrive({ layout, rest, reached, edges, done }: Walk, node: number): void {
  const into = layout.into[node]!;
  if (into.length === 0) {
    reached[node] = { may: true, sure: true, waits: 'never' };
    return;
  }
  const chances = into.map((edge) => ({ edge, chance: edges.get(edge) ?? NEVER }));
  const taken = chances.filter(({ chance }) => chance.may);
  const sure = chances.filter(({ chance }) => chance.sure);
  const waits = longest(chances.map(({ chance }) => chance.waits));
  const before = rest?.isReached(node) === true;
  reached[node] = {
    may: (before || taken.length > 0) && waits !== 'always',
    sure: (before || sure.length > 0) && waits === 'never',
    waits,
  };
  const words = done.words(node);
  const doneBy = ({ edge: { from, when } }: (typeof chances)[number]) => {
    const own = Uint32Array.from(done.words(from));
    const isBody = layout.regions[node] === from;
    if (when !== 'error' && when !== 'ended' && !isBody) own[from >>> 5]! |= 1 << (from & 31);
    return own;
  };
  if (!before) {
    taken.forEach((each, at) => {
      const other = doneBy(each);
      other.forEach((bits, word) => {
        words[word] = at === 0 ? bits : words[word]! & bits;
      });
    });
  }
  for (const each of sure) doneBy(each).forEach((bits, word) => (words[word]! |= bits));
}

/** Determines whether some of a node's outgoing edges are taken. */
function leave(walked: Walk, node: number, which: (edge: WalkedEdge) => boolean): void {
  const { layout, examined, reached, edges, stays } = walked;
  const found = examined[node];
  for (const edge of [...layout.out[node]!, ...backFrom(layout, node)].filter(which)) {
    const waits = isEntry(layout, edge) && found !== undefined ? 'never' : stays[node]!;
    if (edge.when === 'ended') edges.set(edge, { may: true, sure: true, waits });
    else if (found === undefined) edges.set(edge, { ...NEVER, waits });
    else edges.set(edge, { ...chanceOf(walked, edge, found, reached[node]!), waits });
  }
}

const backFrom = ({ back, around, nodes }: Layout, node: number): WalkedEdge[] => {
  const heads = repeats(nodes[node]!) ? [node, ...around[node]!] : around[node]!;
  return heads.flatMap((head) =>
    back[head]!.filter(({ from, to }) => from === node && to !== node),
  );
};

function chanceOf(
  { layout: { nodes, regions, out, isCaught }, rest }: Walk,
  { from, to, when }: WalkedEdge,
  found: Examined,
  { may, sure }: Chance,
): Omit<Chance, 'waits'> {
  const { fails, result, rounds, waits = 'never' } = found;
  const node = nodes[from]!;
  const failing = mayFail(node, found, out[from]!);
  if (waits === 'always') return NEVER;
  if (when === 'error') {
    return { may: may && failing, sure: sure && fails === 'always' };
  }
  const stops = failing && (rest === undefined || isCaught[from]!);
  const succeeds = { may: may && fails !== 'always', sure: sure && !stops };
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
  out: WalkedEdge[],
): boolean =>
  fails !== 'never' || failsInBody || (node.kind === 'human_gate' && !hasFalseEdge(out));

const hasFalseEdge = (out: readonly WalkedEdge[]): boolean =>
  out.some(({ when }) => when === 'false');

/** Undefined: it depends. */
function isTaken(
  node: GraphNode,
  when: EdgeCondition | 'ended' | undefined,
  result: boolean | undefined,
): boolean | undefined {
  if (!isBranching(node)) return true;
  if (when === undefined) return true;
  return result === undefined ? undefined : (when === 'true') === result;
}

/** A loop or map ends: applies the effects of its body. */
function endBody(walked: Walk, head: number, found: Examined): void {
  const { layout, rest, examined, reached, edges, stays } = walked;
  const { nodes, regions, back, hasErrorEdge, isCaught } = layout;
  const node = nodes[head]!;
  const collects = node.kind === 'map' && node.on_item_error === 'collect';
  const stops = layout.bodies[head]!.some((at) => {
    const inside = examined[at];
    if (inside === undefined || hasErrorEdge[at]) return false;
    if (rest !== undefined && !isCaught[at]) return false;
    return mayFail(nodes[at]!, inside, layout.out[at]!);
  });
  if (stops && !collects) found.failsInBody = true;
  const inBody = longest(
    layout.bodies[head]!.filter((at) => regions[at] === head).map((at) => stays[at]!),
  );
  const { may, sure } = reached[head]!;
  stays[head] = staysAt(
    { may: may && found.rounds.max !== 0, sure: sure && found.rounds.min > 0, waits: stays[head]! },
    inBody,
  );
  if (node.kind !== 'loop') return;
  const again = back[head]!.some((edge) => edge.from === head || edges.get(edge)?.sure === true);
  // An iteration that follows no back edge is the last one.
  if (!again || stops) found.rounds = { ...found.rounds, min: Math.min(1, found.rounds.min) };
}

/** The iterations of the loops and maps around each node multiply. */
function countExecutions({ layout, rest, examined, reached }: Walk): Bounds[] {
  const { nodes, regions, around } = layout;
  const blockers = blockersOf(layout, rest, examined);
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
  { nodes, around, hasErrorEdge, isCaught, out }: Layout,
  rest: Walk['rest'],
  examined: Walk['examined'],
): Blockers {
  const blockers = createBitRows(nodes.length + 1, nodes.length);
  nodes.forEach((node, at) => {
    const found = examined[at] ?? rest?.beyond?.[at];
    if (found === undefined || hasErrorEdge[at]) return;
    if (rest !== undefined && !isCaught[at]) return;
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

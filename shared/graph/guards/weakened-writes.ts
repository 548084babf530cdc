import type { GateNode, Graph, GraphNode } from '#shared/contract/workflows/graph.ts';
import type { Json } from '#shared/json.ts';
import { canonicalJson } from '#shared/values/canonical-json.ts';
import { nodeLabel } from '#shared/graph/compile.ts';
import {
  callsOf,
  type Children,
  followersOf,
  type Guard,
  guardsIn,
  lookInto,
  ownWrites,
  type Place,
  type Sight,
  sightOf,
  wordsOf,
  type Write,
  writesIn,
} from '#shared/graph/guards.ts';
import type { GateSettings } from '#shared/graph/gates/gate-settings.ts';
import { approvalOf } from '#shared/graph/node-approval.ts';
import { analyseLoops } from '#shared/graph/schedule/loops.ts';
import { linkGraph, type LinkedEdge, type Links } from '#shared/graph/topology.ts';

/**
 * Whether a graph requires less approval than another one: whether it can write something without a gate or approval
 * that the other puts before it, or with a weaker one. If this is uncertain, the answer is yes. Conditions are not
 * interpreted: if only some paths to a write pass a gate, the branches of both graphs must be the same.
 */

/** A write for which a graph requires less approval. */
export interface WeakenedWrite {
  /** The node of the graph that writes, possibly in a sub-workflow. */
  nodeId: string;
  label: string;
  /** The guard that the other graph puts before it, as text. */
  guard: string;
}

/** A guard before a write. */
interface Placed {
  /** Guards of two graphs are compared if their keys are equal. */
  key: string;
  guard: Guard;
  /** No path leads to the write without an approval here. */
  always: boolean;
  /** The branches of its graph, if some paths avoid the guard. */
  ways: string;
}

interface PlacedWrite {
  write: Write;
  guards: readonly Placed[];
  /** The branches of the graphs that lead to it. */
  ways: string;
}

/** The maximum number of compared pairs of writes, times their guards. Graphs with more count as different. */
const MAX_COMPARED = 2_000_000;
const UNCOMPARED = 'what cannot be compared';

/** The writes for which `candidate` requires less approval than `current`: at most one per node. */
export function weakenedWrites(
  candidate: Graph,
  current: Graph,
  children: Children,
): WeakenedWrite[] {
  if (canonicalJson(candidate as unknown as Json) === canonicalJson(current as unknown as Json)) {
    return [];
  }
  const sights = [sightOf(children), sightOf(children)] as const;
  const asked = writesOf(current, sights[0]);
  const wanted = writesOf(candidate, sights[1]);
  const pairs = asked.length * wanted.length;
  const guards = Math.max(1, ...asked.map((write) => write.guards.length));
  const certain = sights.every(({ left }) => left >= 0) && pairs * guards <= MAX_COMPARED;
  const found = new Map<string, WeakenedWrite>();
  for (const write of wanted) {
    const nodeId = write.write.through[0]?.nodeId ?? write.write.node.id;
    if (found.has(nodeId)) continue;
    const guard = certain ? missingGuard(write, asked) : UNCOMPARED;
    const node = candidate.nodes.find(({ id }) => id === nodeId) ?? write.write.node;
    if (guard !== undefined) found.set(nodeId, { nodeId, label: nodeLabel(node), guard });
  }
  return [...found.values()];
}

/** The writes of a graph to report when nothing is known about the other one. */
export const unknownWrites = (candidate: Graph): WeakenedWrite[] =>
  candidate.nodes
    .filter((node) => writesIn(node, sightOf({})).length > 0)
    .map((node) => ({ nodeId: node.id, label: nodeLabel(node), guard: UNCOMPARED }));

/** The guard, as text, that the current graph puts before this write and the candidate does not. */
function missingGuard(wanted: PlacedWrite, asked: readonly PlacedWrite[]): string | undefined {
  const similar = asked.filter(({ write }) => isSimilar(write, wanted.write));
  const guarded = asked.filter(({ guards }) => guards.length > 0);
  if (similar.length === 0) {
    // A write that the current graph does not have must be behind all guards of one that it has.
    if (guarded.some((other) => uncovered(wanted, other) === undefined)) return undefined;
    return guarded[0] === undefined ? undefined : uncovered(wanted, guarded[0]);
  }
  const same = similar.find(({ write }) => isSame(write, wanted.write));
  const own = same === undefined ? undefined : uncovered(wanted, same);
  if (own !== undefined) return own;
  // The branches determine which of similar writes happens.
  if (same !== undefined && same.ways === wanted.ways) return undefined;
  for (const other of similar) {
    const missing = uncovered(wanted, other);
    if (missing !== undefined) return missing;
  }
  return undefined;
}

/** Whether two guards are compared. An approval of the write itself counts as one before it. */
const isFor = (own: Placed, placed: Placed): boolean =>
  own.key === placed.key || own.key === ownKey(placed.key);

const ownKey = (key: string): string => `own ${key}`;

function uncovered(wanted: PlacedWrite, other: PlacedWrite): string | undefined {
  const missing = other.guards.find(
    (placed) => !wanted.guards.some((own) => isFor(own, placed) && covers(own, placed)),
  );
  return missing === undefined ? undefined : wordsOf(missing.guard);
}

/** Whether a guard requires at least as much as the other one in its place. */
function covers(own: Placed, other: Placed): boolean {
  if (own.guard.kind !== other.guard.kind) return false;
  if (!own.always && (other.always || own.ways !== other.ways)) return false;
  if (own.guard.node.kind === 'human_gate' && other.guard.node.kind === 'human_gate') {
    return !isWeaker(own.guard.node, other.guard.node);
  }
  const [mine, theirs] = [own, other].map(({ guard: { node, tool } }) =>
    tool === undefined ? approvalOf(node) : { when: tool.approval, settings: undefined },
  );
  if (isWeaker(mine?.settings ?? {}, theirs?.settings ?? {})) return false;
  return mine?.when === 'always' || mine?.when === theirs?.when;
}

type GateRules = GateSettings & Pick<GateNode, 'covers'>;

/** Whether a gate requires less than the other one. */
export function isWeaker(own: GateRules, other: GateRules): boolean {
  if (other.covers !== undefined && own.covers === undefined) return true;
  if ((own.required ?? 1) < (other.required ?? 1)) return true;
  if (other.not_the_starter === true && own.not_the_starter !== true) return true;
  if (other.signed_in === true && own.signed_in !== true) return true;
  if (other.input_schema !== undefined && own.input_schema === undefined) return true;
  if (rechecksAfter(own) > rechecksAfter(other)) return true;
  if (other.approvers !== undefined) {
    const { roles = [], members = [] } = other.approvers;
    const mine = own.approvers;
    if (mine === undefined) return true;
    if (mine.roles?.some((role) => !roles.includes(role)) === true) return true;
    if (mine.members?.some((member) => !members.includes(member)) === true) return true;
  }
  return approvesBy(own) < approvesBy(other);
}

/** The age in seconds from which the reads of a gate are repeated; infinite for a gate without a recheck. */
function rechecksAfter({ recheck = false }: GateSettings): number {
  if (typeof recheck === 'object') return recheck.after_seconds ?? 0;
  return recheck ? 0 : Infinity;
}

/** The number of seconds after which a gate approves on its own. */
const approvesBy = ({ on_timeout, timeout_seconds = Infinity }: GateSettings): number =>
  on_timeout === 'approve' ? timeout_seconds : Infinity;

/** Whether two writes may be the same, under another name or with other values. */
function isSimilar(one: Write, other: Write): boolean {
  if (one.tool !== other.tool) return false;
  const [host, otherHost] = [hostOf(one), hostOf(other)];
  return host === undefined || otherHost === undefined || host === otherHost;
}

/** The host that a write is sent to; undefined if the graph does not determine it. */
function hostOf({ tool, params }: Write): string | undefined {
  const address = params[tool === 'mcp' ? 'server_url' : 'url'];
  if ((tool !== 'mcp' && tool !== 'http_request') || typeof address !== 'string') return undefined;
  return URL.canParse(address) ? new URL(address).hostname : undefined;
}

const isSame = (one: Write, other: Write): boolean =>
  one.node.id === other.node.id &&
  placeKey(one.through, false) === placeKey(other.through, false) &&
  canonicalJson(one.params) === canonicalJson(other.params);

const placeKey = (place: Place, versions: boolean): string =>
  JSON.stringify(
    place.map(({ nodeId, workflow, version }) => [nodeId, workflow, versions ? version : null]),
  );

/** What a graph and its sub-workflows can write, with the guards before each write. */
function writesOf(
  graph: Graph,
  sight: Sight,
  through: Place = [],
  outer: { guards: readonly Placed[]; ways: string } = { guards: [], ways: '' },
): PlacedWrite[] {
  const ways = outer.ways + waysOf(graph);
  const before = placedBefore(graph, sight, through);
  return graph.nodes.flatMap((node, at) => {
    const guards = [...outer.guards, ...before[at]!];
    const behind = ({ approvals, tool }: Pick<Write, 'approvals' | 'tool'>): readonly Placed[] =>
      approvals.length === 0 ? guards : [...guards, ...approvalsOf(node, tool, through)];
    const own = ownWrites(node, through).map((write) => ({ write, guards: behind(write), ways }));
    const below = callsOf(node).flatMap((call) => {
      const inside = behind({ ...call, tool: `workflow:${call.workflow}` });
      const { graph: child, place } = lookInto(call, node, sight, through);
      if (child !== undefined) return writesOf(child, sight, place, { guards: inside, ways });
      const { params, approvals } = call;
      return [
        { write: { node, tool: 'workflow', params, approvals, through }, guards: inside, ways },
      ];
    });
    return [...own, ...below];
  });
}

/** The approval of a tool or of a node, before its own call. */
function approvalsOf(node: GraphNode, tool: string, through: Place): Placed[] {
  const guards = guardsIn(node, sightOf({}), through);
  return guards
    .filter(
      ({ kind, tool: asking, node: at, through: place }) =>
        kind === 'approval' &&
        (asking === undefined ? at === node && place === through : asking.name === tool),
    )
    .map((guard) => ({ ...placedGuard(guard, false), key: ownKey(keyOf(guard, false)) }));
}

const keyOf = ({ kind, node, tool, through }: Guard, versions: boolean): string =>
  JSON.stringify([kind, node.id, tool?.name ?? null, placeKey(through, versions)]);

const placedGuard = (guard: Guard, versions: boolean): Placed => ({
  key: keyOf(guard, versions),
  guard,
  always: false,
  ways: '',
});

/** The guards before each node of a graph, by position. */
function placedBefore(graph: Graph, sight: Sight, through: Place): Placed[][] {
  const links = linkGraph(graph);
  const { roots } = analyseLoops(links);
  const following = followersOf(links);
  const ways = waysOf(graph);
  const before: Placed[][] = graph.nodes.map(() => []);
  graph.nodes.forEach((node, at) => {
    const guards = guardsIn(node, sight, through);
    if (guards.length === 0) return;
    const around = node.kind === 'human_gate' ? reachWithout(links, roots, at) : undefined;
    for (const position of following(at, new Set())) {
      const always = around?.has(position) === false;
      for (const guard of guards) {
        // The guards of a sub-workflow are only compared for the same version.
        const placed = placedGuard(guard, guard.through.length > through.length);
        const passed = around === undefined || always ? '' : ways;
        before[position]!.push({ ...placed, always, ways: passed });
      }
    }
  });
  return before;
}

/** What can be reached without a gate's approval. Without a 'false' edge, a rejection fails the run. */
function reachWithout(links: Links, roots: readonly number[], gate: number): Set<number> {
  const rejects = links.out[gate]!.some(({ when }) => when === 'false');
  const approves = ({ from, when }: LinkedEdge): boolean =>
    from === gate && (when === 'true' || (when === undefined && !rejects));
  const seen = new Set<number>();
  const open = [...roots];
  for (let node = open.pop(); node !== undefined; node = open.pop()) {
    if (seen.has(node)) continue;
    seen.add(node);
    for (const edge of links.out[node]!) if (!approves(edge)) open.push(edge.to);
  }
  return seen;
}

/** The branches of a graph, which determine the path of a run. */
function waysOf({ nodes, edges }: Graph): string {
  const deciding = nodes.flatMap((node) => {
    if (node.kind === 'condition') return [[node.id, node.expression]];
    if (node.kind === 'loop') return [[node.id, node.expression, node.max_iterations]];
    return node.kind === 'map' ? [[node.id, node.items]] : [];
  });
  const ids = new Set(deciding.map(([id]) => id));
  const branches = edges
    .filter(({ source }) => ids.has(source))
    .map(({ source, target, condition_value = null }) => [source, target, condition_value]);
  return JSON.stringify(
    [deciding, branches].map((part) => part.map((each) => JSON.stringify(each)).sort()),
  );
}

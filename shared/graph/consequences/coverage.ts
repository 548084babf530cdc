import type { GateNode, GraphNode } from '#shared/contract/workflows/graph.ts';
import { type CompiledGraph, outputKey } from '#shared/graph/compile.ts';
import { upTo } from '#shared/graph/dry-run/bounds.ts';
import { type Examined, NOTHING } from '#shared/graph/dry-run/examined.ts';
import { walk } from '#shared/graph/dry-run/flow.ts';
import { createKnowledge, type Knowledge } from '#shared/graph/dry-run/knowledge.ts';
import { type Layout, layoutOf } from '#shared/graph/dry-run/layout.ts';
import { type Compute, withPureSteps } from '#shared/graph/dry-run/pure-steps.ts';
import { readNode } from '#shared/graph/dry-run/texts.ts';
import { isWaiting, repeats } from '#shared/graph/kinds.ts';
import { approvalOf } from '#shared/graph/node-approval.ts';
import { agentToolsOf } from '#shared/graph/node-tools.ts';
import { createItem, createRunState, type RunState } from '#shared/graph/schedule/run-state.ts';
import { writes } from '#shared/tools.ts';
import { mayAsk } from './asking.ts';
import { knownArguments, type UnknownArgument } from './arguments.ts';
import { knowledgeWithin } from './around.ts';
import { canWrite, isEffect, withItem } from './effects.ts';
import { type RestOfGraph, restOf } from './rest.ts';

/** A write that an answer to a gate can set in motion although not all of it is known at that time. */
export interface Uncovered {
  node: GraphNode;
  unknown: UnknownArgument[];
  /** Of an agent: the tools that write without an approval of each call. */
  tools: string[];
  /** The ids of nodes that can write what it reads after the answer. */
  writers: string[];
}

/** What is known about a gate from the graph alone, for any run. */
interface Coverage {
  /** Whether an answer sets writes in motion. */
  writes: boolean;
  uncovered: Uncovered[];
}

/** `rejections`: also for what a rejection, or the deadline, sets in motion. */
export function coverageOf(
  graph: CompiledGraph,
  whole: Layout,
  gate: number,
  rejections: boolean,
): Coverage {
  const run = runAt(graph, whole, gate, nextTo(whole, gate));
  const answers = answersTo(graph, gate).slice(0, rejections ? undefined : 1);
  const found = answers.flatMap((answer) => effectsAfter({ run, whole, gate }, answer));
  const uncovered = new Map<GraphNode, Uncovered>();
  for (const each of found) {
    if (each.unknown.length + each.tools.length === 0 || uncovered.has(each.node)) continue;
    uncovered.set(each.node, each);
  }
  return { writes: found.length > 0, uncovered: [...uncovered.values()] };
}

/** How a gate ends; `hides`: its key is then an error that contains the reason. */
type Answer = Pick<Examined, 'fails' | 'result'> & { hides: boolean };

function answersTo({ nodes, edges }: CompiledGraph, gate: number): Answer[] {
  const { on_timeout } = nodes[gate] as GateNode;
  const leads = (way: string): boolean =>
    edges.some(({ from, when }) => from === gate && when === way);
  const fails: Answer = { fails: 'always', hides: true };
  return [
    { fails: 'never', result: true, hides: false },
    ...(leads('false') ? [{ fails: 'never', result: false, hides: false } as const] : []),
    ...(leads('error') && (!leads('false') || on_timeout === 'fail') ? [fails] : []),
  ];
}

/**
 * Whether each node can begin before another gate behind this one is decided. What only follows such a gate makes no
 * difference, because the gate's input can write any key; but the input of a gate in a map does not leave its item.
 */
function nextTo({ nodes, order, into, follows, around, inside }: Layout, gate: number): boolean[] {
  const isNext = nodes.map((_, at) => !follows.has(gate, at));
  const isFrontier = (at: number): boolean =>
    isWaiting(nodes[at]!) &&
    follows.has(gate, at) &&
    around[at]!.every((head) => nodes[head]!.kind !== 'map' || inside.has(gate, head));
  for (const { node, ends } of order) {
    if (ends || isNext[node]) continue;
    isNext[node] = into[node]!.some(({ from }) => isNext[from] && !isFrontier(from));
  }
  return isNext;
}

/** A run, or the first item of a map in it, in which a gate is open: what only comes before the gate has ended. */
function runAt(
  graph: CompiledGraph,
  { around, follows }: Layout,
  gate: number,
  isNext: readonly boolean[],
): RunState {
  let run = createRunState(graph, {});
  const heads = around[gate]!.toReversed();
  const end = (): void => {
    graph.nodes.forEach((_, node) => {
      if (run.phases[node] === undefined) return;
      if (!isNext[node]) run.phases[node] = 'skipped';
      if (follows.has(node, gate)) run.phases[node] = heads.includes(node) ? 'running' : 'settled';
    });
    for (const { from, to, back } of graph.edges) {
      const begins = heads.includes(from) && graph.regions[to] === from;
      if (back !== true && (begins || run.phases[from] === 'settled')) run.reached[to] = true;
    }
  };
  end();
  for (const head of heads) {
    if (graph.nodes[head]!.kind === 'loop') {
      run.loops.set(head, { round: 1, open: 0, again: false });
      continue;
    }
    run = createItem(run, head, 0);
    end();
  }
  run.reached[gate] = true;
  return run;
}

interface Open {
  run: RunState;
  whole: Layout;
  gate: number;
}

/** The writes that an answer sets in motion up to the next decisions, by the walk of the dry run. */
function effectsAfter(open: Open, answer: Answer): Uncovered[] {
  const rest = restOf(open.run, () => false);
  const { places, nodes } = rest;
  const layout = layoutOf(rest);
  const own = places.findIndex(({ node, later }) => node === open.gate && later === undefined);
  const isBehind = (at: number): boolean =>
    places[at]!.later !== undefined || open.whole.follows.has(open.gate, places[at]!.node);
  const others = nodes.flatMap((node, at) =>
    isWaiting(node) && at !== own && !isBehind(at) ? [at] : [],
  );
  const parts = { ...open, answer, rest, layout, own, isBehind };
  const writing = nodes.flatMap((node, at) =>
    at !== own && isBehind(at) && isWrite(node) ? [at] : [],
  );
  const first = walkFrom(parts, others, []);
  const shown = writing.filter((at) => first.isFree(at));
  const found = shown.map((at) => first.uncovered(at));
  if (others.length === 0 || shown.length === writing.length) return found;
  // What other gates surely keep waiting is shown by this one only if they are decided before.
  const decided = walkFrom(
    parts,
    [],
    others.filter((at) => first.isSure(at)),
  );
  const later = writing.filter((at) => !first.isFree(at) && decided.isFree(at));
  return [...found, ...later.map((at) => decided.uncovered(at))];
}

interface Parts extends Open {
  answer: Answer;
  rest: RestOfGraph;
  layout: Layout;
  /** The gate in the rest. */
  own: number;
  isBehind: (at: number) => boolean;
}

/** `waiting`: gates beside this one that are still open; `over`: those that were decided before. */
function walkFrom(
  { run, whole, gate, answer, rest, layout, own, isBehind }: Parts,
  waiting: readonly number[],
  over: readonly number[],
) {
  const { nodes, places } = rest;
  const isOver = (writer: number, node: number): boolean =>
    writer === own || (over.includes(writer) && layout.follows.has(writer, node));
  const hidden = new Set(answer.hides ? [whole.nodes[gate]!.id] : []);
  const compute: Compute = (node, at, reading) =>
    reading.fit() === 'known' && isOnlyWriter(whole, places[at]!.node, outputKey(node))
      ? { value: undefined }
      : undefined;
  const examine = (at: number): Examined => {
    const node = nodes[at]!;
    if (at === own) return { ...ANY, ...answer };
    const when = isWaiting(node) ? 'always' : (approvalOf(node)?.when ?? askedBy(node));
    if (when !== undefined && (isBehind(at) || waiting.includes(at))) {
      return { ...ANY, waits: when === 'always' ? 'always' : 'maybe' };
    }
    return repeats(node) ? { ...ANY, rounds: upTo(null) } : ANY;
  };
  let knowledge: Knowledge | undefined;
  const flow = walk(
    layout,
    (left, isDone) => {
      const plain = createKnowledge(layout, {}, left, isDone, isOver);
      const known = knowledgeWithin(run, whole, { knowledge: plain, hidden });
      knowledge = withPureSteps(known, nodes, compute);
      return examine;
    },
    { isReached: (at) => places[at]!.reached },
  );
  const writersOf = writersIn(layout, (at) => at !== own && flow.examined[at] !== undefined);
  return {
    isFree: (at: number): boolean => flow.executions[at]!.max !== 0,
    isSure: (at: number): boolean => flow.reached[at]!.sure,
    uncovered: (at: number): Uncovered => {
      const known = knownIn(layout, knowledge!, compute, at);
      return uncoveredAt(nodes[at]!, unknownIn(known, at, nodes[at]!), writersOf);
    },
  };
}

/** An agent asks for some of its calls. */
const askedBy = (node: GraphNode): 'some' | undefined => (mayAsk(node) ? 'some' : undefined);

const ANY: Examined = { ...NOTHING, fails: 'maybe' };

/** Whether nothing else in the graph can write a key so that its write wins. */
const isOnlyWriter = ({ writers, follows }: Layout, node: number, key: string): boolean =>
  writers.get(key)!.every((other) => other === node || follows.has(other, node));

/** What is known, including the item that a node is in, if the list of its map is known. */
function knownIn(layout: Layout, knowledge: Knowledge, compute: Compute, at: number): Knowledge {
  const [head, ...others] = layout.around[at]!;
  const map = head === undefined ? undefined : layout.nodes[head]!;
  if (map?.kind !== 'map' || others.length > 0) return knowledge;
  if (readNode(knowledge, head!, map).fit() !== 'known') return knowledge;
  return withPureSteps(withItem(knowledge, map.id, undefined), layout.nodes, compute);
}

const unknownIn = (knowledge: Knowledge, at: number, node: GraphNode): UnknownArgument[] =>
  !isEffect(node) || node.kind === 'agent'
    ? []
    : knownArguments(node, readNode(knowledge, at, node)).unknown;

type WritersOf = (keys: readonly string[]) => string[];

const writersIn =
  ({ writers, nodes }: Layout, isReached: (at: number) => boolean): WritersOf =>
  (keys) => {
    const found = keys.flatMap((key) => writers.get(key) ?? []);
    return [...new Set(found.filter(isReached).map((at) => nodes[at]!.id))];
  };

function uncoveredAt(node: GraphNode, unknown: UnknownArgument[], writersOf: WritersOf): Uncovered {
  if (node.kind === 'agent') {
    const tools = agentToolsOf(node).filter((tool) => canWrite(tool) && tool.approval !== 'always');
    return { node, unknown: [], tools: tools.map(({ name }) => name), writers: [] };
  }
  if (approvalOf(node)?.when === 'always') return { node, unknown: [], tools: [], writers: [] };
  const keys = unknown.flatMap(({ reads }) => reads.map((read) => read.split('.', 1)[0]!));
  const writers = writersOf(keys).filter((id) => id !== node.id);
  return { node, unknown, tools: [], writers };
}

/** Whether an execution can change data or another system. */
export function isWrite(node: GraphNode): boolean {
  if (!isEffect(node)) return false;
  if (node.kind === 'agent') return agentToolsOf(node).some(canWrite);
  return node.kind === 'workflow' || writes(node.tool_name, node.params['method'] ?? 'GET');
}

import type { AgentTool, Graph, GraphNode } from '#shared/contract/workflows/graph.ts';
import type { JsonObject } from '#shared/json.ts';
import { workflowOf, writes } from '#shared/tools.ts';
import { callKey, type CalledWorkflow } from './children/called-workflows.ts';
import { nodeLabel } from './compile.ts';
import { isChild, isExecuted } from './kinds.ts';
import { agentToolsOf } from './node-tools.ts';
import { analyseLoops, innermostLoops } from './schedule/loops.ts';
import { linkGraph, type Links } from './topology.ts';

/**
 * What a graph can write, and what asks a person before that: human gates, and approvals of the calls of agents. A guard
 * stands before a node that can be reached from it along edges. Those of a sub-workflow stand before what follows it.
 */

export interface Guard {
  /** `unknown`: a sub-workflow that is not known can have some. */
  kind: 'gate' | 'approval' | 'unknown';
  /** The gate; of an approval, the agent; otherwise the node that runs the sub-workflow. */
  node: GraphNode;
  /** Whose calls need approval. */
  tool?: AgentTool;
  /** The steps that lead to it, for a guard of a sub-workflow. */
  through: readonly CallingStep[];
}

/** A node that runs another workflow, as itself or as a tool of its agent. */
interface CallingStep {
  nodeId: string;
  /** The id of the workflow, or what the graph calls one that is not known; and its version. */
  workflow: string;
  version?: number | undefined;
}

/** What a node does to data or other systems. */
export interface Write {
  node: GraphNode;
  /** The tool as the graph names it; `workflow` for a sub-workflow that is not known. */
  tool: string;
  /** Its parameters as drawn; those that the node sets, for a call of an agent. */
  params: JsonObject;
  /** The approvals that its calls need: `always`, or the expression that decides. */
  approvals: readonly string[];
  through: readonly CallingStep[];
}

/** Sub-workflows, as they would run now, by `callKey`. One that is missing counts as one that writes. */
export type Children = Readonly<Record<string, { id: string; version: number; graph: Graph }>>;

/** How far to look into sub-workflows; `left` counts the nodes, and is negative when some were not looked at. */
export interface Sight {
  children: Children;
  left: number;
}

/** The most nodes of sub-workflows that are looked at, each as often as it is called. */
const MAX_NODES_BELOW = 20_000;
/** The deepest sub-workflow that is looked at. */
const MAX_DEPTH = 20;

export const sightOf = (children: Children): Sight => ({ children, left: MAX_NODES_BELOW });

export type Place = readonly CallingStep[];

/** What asks for a decision while a node is executed, also in its sub-workflows. */
export function guardsIn(node: GraphNode, sight: Sight, through: Place = []): Guard[] {
  if (node.kind === 'human_gate') return [{ kind: 'gate', node, through }];
  const tools = node.kind === 'agent' ? agentToolsOf(node) : [];
  const approvals = tools
    .filter((tool) => approvalsOf(tool).length > 0)
    .map((tool): Guard => ({ kind: 'approval', node, tool, through }));
  const below = callsOf(node).flatMap((call): Guard[] => {
    const { graph, place } = lookInto(call, node, sight, through);
    if (graph === undefined) return [{ kind: 'unknown', node, through }];
    return graph.nodes.flatMap((each) => guardsIn(each, sight, place));
  });
  return [...approvals, ...below];
}

/** What a node can write, also in its sub-workflows. */
export function writesIn(node: GraphNode, sight: Sight, through: Place = []): Write[] {
  const below = callsOf(node).flatMap((call): Write[] => {
    const { params, approvals } = call;
    const { graph, place } = lookInto(call, node, sight, through);
    if (graph === undefined) return [{ node, tool: 'workflow', params, approvals, through }];
    const found = graph.nodes.flatMap((each) => writesIn(each, sight, place));
    if (approvals.length === 0) return found;
    return found.map((write) => ({ ...write, approvals: [...approvals, ...write.approvals] }));
  });
  return [...ownWrites(node, through), ...below];
}

const approvalsOf = ({ approval }: Pick<AgentTool, 'approval'>): string[] =>
  approval === undefined || approval === 'never' ? [] : [approval];

/** What a node writes itself. */
export function ownWrites(node: GraphNode, through: Place): Write[] {
  if (node.kind === 'tool') {
    const { tool_name: tool, params } = node;
    const { method = 'GET' } = params;
    return writes(tool, method) ? [{ node, tool, params, approvals: [], through }] : [];
  }
  if (node.kind !== 'agent') return [];
  return agentToolsOf(node).flatMap((tool): Write[] => {
    const { name, fixed: params = {} } = tool;
    // A method that the node does not set is chosen by the model.
    if (workflowOf(name) !== undefined || !writes(name, params['method'])) return [];
    return [{ node, tool: name, params, approvals: approvalsOf(tool), through }];
  });
}

export type Call = CalledWorkflow & Pick<Write, 'params' | 'approvals'>;

/** The sub-workflows that a node runs. */
export function callsOf(node: GraphNode): Call[] {
  if (node.kind === 'workflow') {
    const { workflow, version, input } = node;
    return [{ workflow, version, params: input, approvals: [] }];
  }
  if (node.kind !== 'agent') return [];
  return agentToolsOf(node).flatMap((tool) => {
    const workflow = workflowOf(tool.name);
    if (workflow === undefined) return [];
    return [{ workflow, params: tool.fixed ?? {}, approvals: approvalsOf(tool) }];
  });
}

/** The graph that a call runs, if it is known, and where that is. */
export function lookInto(
  { workflow, version }: Call,
  { id: nodeId }: GraphNode,
  sight: Sight,
  through: Place,
): { graph: Graph | undefined; place: Place } {
  const key = callKey({ workflow, version });
  const child = Object.hasOwn(sight.children, key) ? sight.children[key] : undefined;
  const graph = child?.graph;
  sight.left -= through.length < MAX_DEPTH ? (graph?.nodes.length ?? 0) : MAX_NODES_BELOW + 1;
  const step = { nodeId, workflow: child?.id ?? workflow, version: child?.version ?? version };
  return { graph: sight.left < 0 ? undefined : graph, place: [...through, step] };
}

/** The guards that stand before each node, by node id; without an entry none does. */
export function guardsBefore(graph: Graph, sight: Sight = sightOf({})): Map<string, Guard[]> {
  const behind = followersOf(linkGraph(graph));
  const before = new Map<string, Guard[]>();
  graph.nodes.forEach((node, at) => {
    const guards = guardsIn(node, sight);
    if (guards.length === 0) return;
    for (const position of behind(at, new Set())) {
      const { id } = graph.nodes[position]!;
      const known = before.get(id);
      if (known === undefined) before.set(id, [...guards]);
      else known.push(...guards);
    }
  });
  return before;
}

/** The key of a tool of an agent, in `guardedNodes`. */
export const guardKey = (nodeId: string, tool: string): string => `${nodeId} ${tool}`;

/**
 * The first guard that stands before a node which reaches the outside, as words, by node id; and by `guardKey` for the
 * tools of agents whose calls can need approval. With `above`, what stands before the whole graph.
 */
export function guardedNodes(graph: Graph, sight: Sight, above?: string): Record<string, string> {
  const behind = followersOf(linkGraph(graph));
  const guarded: Record<string, string> = {};
  const seen = new Set<number>();
  const reaching = graph.nodes.map((node) => isExecuted(node) || isChild(node));
  graph.nodes.forEach((node, at) => {
    const [guard, ...others] = guardsIn(node, sight);
    if (guard === undefined) return;
    for (const each of [guard, ...others]) {
      if (each.tool !== undefined && each.through.length === 0) {
        guarded[guardKey(node.id, each.tool.name)] = wordsOf(each);
      }
    }
    for (const position of behind(at, seen)) {
      if (reaching[position]) guarded[graph.nodes[position]!.id] = wordsOf(guard);
    }
  });
  if (above === undefined) return guarded;
  for (const [position, { id }] of graph.nodes.entries()) {
    if (reaching[position]) guarded[id] ??= above;
  }
  return guarded;
}

/** A guard in a sentence. */
export function wordsOf({ kind, node, tool, through }: Guard): string {
  const name = nodeLabel(node);
  const calling =
    through[0] === undefined ? '' : ` of the workflow that '${through[0].nodeId}' runs`;
  if (kind === 'approval') return `the approval of '${tool?.name}' at '${name}'${calling}`;
  if (kind === 'gate') return `gate '${name}'${calling}`;
  return `a gate that can be in the workflow that '${name}' runs`;
}

/**
 * What can be reached from a node, with itself only on a cycle, without what has been `seen` before: it is added there.
 * What is in the body of a loop or a map comes before what follows that, also without an edge back.
 */
export function followersOf(links: Links): (node: number, seen: Set<number>) => number[] {
  const around = innermostLoops(links.out.length, analyseLoops(links).bodies);
  const nextOf = (node: number): number[] => {
    const targets = links.out[node]!.map(({ to }) => to);
    return around[node]! < 0 ? targets : [...targets, around[node]!];
  };
  return (start, seen) => {
    const found: number[] = [];
    const open = nextOf(start);
    for (let node = open.pop(); node !== undefined; node = open.pop()) {
      if (seen.has(node)) continue;
      seen.add(node);
      found.push(node);
      open.push(...nextOf(node));
    }
    return found;
  };
}

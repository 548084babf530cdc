import type { AgentTool, Graph, GraphNode } from '#shared/contract/workflows/graph.ts';
import type { JsonObject } from '#shared/json.ts';
import { workflowOf, writes } from '#shared/tools.ts';
import { callKey, type CalledWorkflow } from './children/called-workflows.ts';
import { nodeLabel } from './compile.ts';
import { isChild, isExecuted } from './kinds.ts';
import { approvalOf } from './node-approval.ts';
import { agentToolsOf } from './node-tools.ts';
import { analyseLoops, innermostLoops } from './schedule/loops.ts';
import { linkGraph, type Links } from './topology.ts';

/**
 * What a graph can write, and which decisions by a person come before that: human gates, and approvals of steps and of
 * agents' calls. A guard comes before a node that can be reached from it along edges. The guards of a sub-workflow come before
 * what follows it.
 */

export interface Guard {
  /** `unknown`: an unknown sub-workflow may contain some. */
  kind: 'gate' | 'approval' | 'unknown';
  /** The gate; for an approval, the agent or the node that asks; otherwise the node that runs the sub-workflow. */
  node: GraphNode;
  /** The tool of an agent whose calls need approval. */
  tool?: AgentTool;
  /** For a guard of a sub-workflow: the steps that lead to it. */
  through: readonly CallingStep[];
}

/** A node that runs another workflow, directly or as a tool of its agent. */
interface CallingStep {
  nodeId: string;
  /** The id of the workflow, or its name in the graph if it is unknown; and its version. */
  workflow: string;
  version?: number | undefined;
}

/** What a node does to data or other systems. */
export interface Write {
  node: GraphNode;
  /** The tool's name in the graph; `workflow` for an unknown sub-workflow. */
  tool: string;
  /** Its parameters as saved; for a call of an agent, those that the node sets. */
  params: JsonObject;
  /** The approvals that its calls need: `always`, or an expression. */
  approvals: readonly string[];
  through: readonly CallingStep[];
}

/** The present versions of sub-workflows, by `callKey`. One that is missing is assumed to write. */
export type Children = Readonly<Record<string, { id: string; version: number; graph: Graph }>>;

/**
 * How far to look into sub-workflows. `left` is the number of nodes that can still be visited; negative when some were
 * skipped.
 */
export interface Sight {
  children: Children;
  left: number;
}

/** The maximum number of nodes of sub-workflows to visit. A node counts each time it is called. */
const MAX_NODES_BELOW = 20_000;
/** The maximum depth of sub-workflows to visit. */
const MAX_DEPTH = 20;

export const sightOf = (children: Children): Sight => ({ children, left: MAX_NODES_BELOW });

export type Place = readonly CallingStep[];

/** The guards that can ask for a decision while a node is executed, including those of its sub-workflows. */
export function guardsIn(node: GraphNode, sight: Sight, through: Place = []): Guard[] {
  if (node.kind === 'human_gate') return [{ kind: 'gate', node, through }];
  const own: Guard[] = approvalOf(node) === undefined ? [] : [{ kind: 'approval', node, through }];
  const tools = node.kind === 'agent' ? agentToolsOf(node) : [];
  const approvals = tools
    .filter((tool) => asksFor(tool).length > 0)
    .map((tool): Guard => ({ kind: 'approval', node, tool, through }));
  const below = callsOf(node).flatMap((call): Guard[] => {
    const { graph, place } = lookInto(call, node, sight, through);
    if (graph === undefined) return [{ kind: 'unknown', node, through }];
    return graph.nodes.flatMap((each) => guardsIn(each, sight, place));
  });
  return [...own, ...approvals, ...below];
}

/** What a node can write, including its sub-workflows. */
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

const asksFor = ({ approval }: Pick<AgentTool, 'approval'>): string[] =>
  approval === undefined || approval === 'never' ? [] : [approval];

const askedBy = (node: GraphNode): string[] => {
  const approval = approvalOf(node);
  return approval === undefined ? [] : [approval.when];
};

/** What a node itself writes. */
export function ownWrites(node: GraphNode, through: Place): Write[] {
  if (node.kind === 'tool') {
    const { tool_name: tool, params } = node;
    const { method = 'GET' } = params;
    return writes(tool, method) ? [{ node, tool, params, approvals: askedBy(node), through }] : [];
  }
  if (node.kind !== 'agent') return [];
  return agentToolsOf(node).flatMap((tool): Write[] => {
    const { name, fixed: params = {} } = tool;
    // If the node does not set the method, the model chooses it.
    if (workflowOf(name) !== undefined || !writes(name, params['method'])) return [];
    return [{ node, tool: name, params, approvals: asksFor(tool), through }];
  });
}

export type Call = CalledWorkflow & Pick<Write, 'params' | 'approvals'>;

/** The sub-workflows that a node runs. */
export function callsOf(node: GraphNode): Call[] {
  if (node.kind === 'workflow') {
    const { workflow, version, input } = node;
    return [{ workflow, version, params: input, approvals: askedBy(node) }];
  }
  if (node.kind !== 'agent') return [];
  return agentToolsOf(node).flatMap((tool) => {
    const workflow = workflowOf(tool.name);
    if (workflow === undefined) return [];
    return [{ workflow, params: tool.fixed ?? {}, approvals: asksFor(tool) }];
  });
}

/** The graph that a call runs, if it is known, and its location. */
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

/** The guards before each node, by node id; a node without guards has no entry. */
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

/** The key of an agent's tool in `guardedNodes`. */
export const guardKey = (nodeId: string, tool: string): string => `${nodeId} ${tool}`;

/**
 * The first guard, as text, before each node with outside effects, by node id, and by `guardKey` for the tools of
 * agents whose calls can need approval. `above` is the guard before the whole graph.
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
      if (each.kind !== 'approval' || each.through.length > 0) continue;
      const key = each.tool === undefined ? node.id : guardKey(node.id, each.tool.name);
      guarded[key] = wordsOf(each);
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

/** Describes a guard within a sentence. */
export function wordsOf({ kind, node, tool, through }: Guard): string {
  const name = nodeLabel(node);
  const calling =
    through[0] === undefined ? '' : ` of the workflow that '${through[0].nodeId}' runs`;
  if (kind === 'approval') {
    return tool === undefined
      ? `the approval of '${name}'${calling}`
      : `the approval of '${tool.name}' at '${name}'${calling}`;
  }
  if (kind === 'gate') return `gate '${name}'${calling}`;
  return `a gate that can be in the workflow that '${name}' runs`;
}

/**
 * The nodes that can be reached from a node, which is only included if it is on a cycle. Nodes in `seen` are skipped,
 * and visited ones are added to it. The body of a loop or map comes before the nodes after it, even without a back
 * edge.
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

import type { Graph, GraphNode } from '#shared/contract/workflows/graph.ts';
import { utf8Bytes } from '#shared/values/canonical-json.ts';
import { SECRETS } from '#shared/values/secrets.ts';
import { calledBy, callKey, type CallProblems } from '#shared/graph/children/called-workflows.ts';
import { outputKey } from '#shared/graph/compile.ts';
import type { Issues } from '#shared/graph/issues.ts';
import { checkCallbacks } from './callbacks.ts';
import { checkAsking } from './gates.ts';
import { checkCode, type ParseSource } from './code.ts';
import { checkCoverage } from './coverage.ts';
import { checkKeys } from './keys.ts';
import { checkRecheck } from './rechecks.ts';
import { checkStructure } from './structure.ts';
import { checkTexts } from './texts.ts';
import { checkWait } from './waits.ts';
import { linkGraph } from '#shared/graph/topology.ts';
import type { Unreadable, ValidationContext } from '#shared/graph/validate/context.ts';

const MAX_NODES = 1000;
const MAX_EDGES = 5000;
/** The size of the graph's canonical JSON, in bytes of UTF-8. */
const MAX_GRAPH_BYTES = 1_048_576;

/** Whether the graph is small enough for further checks. */
export function checkLimits(issues: Issues, nodes: number, edges: number, graph: unknown): boolean {
  if (nodes === 0) issues.error('no_nodes', 'The graph has no nodes', { path: 'nodes' });
  if (nodes > MAX_NODES) {
    issues.error('too_many_nodes', `The graph has ${nodes} nodes; the limit is ${MAX_NODES}`, {
      path: 'nodes',
    });
  }
  if (edges > MAX_EDGES) {
    issues.error('too_many_edges', `The graph has ${edges} edges; the limit is ${MAX_EDGES}`, {
      path: 'edges',
    });
  }
  // Sorting the keys would not change the size.
  const bytes = utf8Bytes(JSON.stringify(graph));
  if (bytes > MAX_GRAPH_BYTES) {
    issues.error(
      'too_large',
      `The graph is ${bytes} bytes of JSON; the limit is ${MAX_GRAPH_BYTES}`,
    );
  }
  return nodes <= MAX_NODES && edges <= MAX_EDGES && bytes <= MAX_GRAPH_BYTES;
}

/** All checks beyond shape and limits. Near-linear: a graph at the limits takes milliseconds. */
export function checkMeaning(
  issues: Issues,
  graph: Graph,
  context: ValidationContext,
  unreadable: Unreadable,
  parse?: ParseSource,
): void {
  checkNames(issues, graph);
  checkReservedKeys(issues, graph, context.maySetSecrets);
  const links = linkGraph(graph);
  const structure = checkStructure(issues, graph, links, unreadable);
  graph.nodes.forEach((node, at) => {
    if (unreadable.has(at)) return;
    checkAsking(issues, node, at, context.members);
    checkCalls(issues, node, at, context.calls);
    checkRecheck(issues, links, graph, at);
    checkCode(issues, node, at, parse);
    checkWait(issues, node, at, links.out[links.positions.get(node.id)!]!);
  });
  const reads = checkTexts(issues, graph, context, unreadable);
  checkCallbacks(issues, { graph, links, structure, unreadable }, context);
  if (structure === undefined) return;
  checkKeys(issues, graph, links, structure, reads, context.inputKeys);
  checkCoverage(issues, graph);
}

function checkCalls(
  issues: Issues,
  node: GraphNode,
  at: number,
  problems: CallProblems = {},
): void {
  for (const call of calledBy(node)) {
    const problem = problems[callKey(call)];
    if (problem === undefined) continue;
    // The check of an agent's tools reports these, with all other problems of the tools.
    if (node.kind === 'agent' && problem.code === 'workflow_unknown') continue;
    issues.error(problem.code, `Node '${node.id}': ${withSmallStart(problem.message)}`, {
      node_id: node.id,
      path: `nodes[${at}].${call.path}`,
    });
  }
}

/** Continues a sentence. At run time, the same text is a separate sentence. */
const withSmallStart = (text: string): string => text.charAt(0).toLowerCase() + text.slice(1);

/** A reference to `secrets` means the workspace's secrets, so no text can read this key of the state. */
function checkReservedKeys(issues: Issues, { nodes }: Graph, allowed = false): void {
  nodes.forEach((node, at) => {
    const field = node.id === SECRETS ? 'id' : 'output_key';
    if (node.id !== SECRETS && outputKey(node) !== SECRETS) return;
    const message = `Node '${node.id}': nothing can read the key '${SECRETS}', which stands for the secrets of the workspace: choose another ${field}`;
    const place = { node_id: node.id, path: `nodes[${at}].${field}` };
    if (allowed) issues.warning('key_reserved', message, place);
    else issues.error('key_reserved', message, place);
  });
}

function checkNames(issues: Issues, graph: Graph): void {
  const ids = new Set<string>();
  graph.nodes.forEach(({ id }, at) => {
    if (ids.has(id)) {
      issues.error('duplicate_id', `Two nodes have the id '${id}'`, {
        node_id: id,
        path: `nodes[${at}].id`,
      });
    }
    ids.add(id);
  });
  const seen = new Set<string>();
  graph.edges.forEach((edge, at) => {
    const name = `from '${edge.source}' to '${edge.target}'`;
    for (const end of ['source', 'target'] as const) {
      if (ids.has(edge[end])) continue;
      const message = `The edge ${name} has an unknown ${end}: there is no node '${edge[end]}'`;
      issues.error('dangling_edge', message, { path: `edges[${at}].${end}` });
    }
    const key = JSON.stringify([edge.source, edge.target, edge.condition_value ?? null]);
    if (seen.has(key)) {
      issues.error('duplicate_edge', `The edge ${name} is drawn twice`, {
        node_id: edge.source,
        path: `edges[${at}]`,
      });
    }
    seen.add(key);
  });
}

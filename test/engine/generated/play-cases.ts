import fc from 'fast-check';
import type { Graph, GraphNode } from '#shared/contract/workflows/graph.ts';
import { randomGraphOf, randomInput } from '#test/graph/generated/build.ts';
import { planOf, type Plan } from '#test/graph/generated/plan.ts';
import type { Case } from './case.ts';

const MIN_NODES = 4;
const MAX_NODES = 40;

/**
 * Cases for a comparison of complete runs. Since nothing is resumed, every other one is changed so that nothing fails
 * the run. `GRAPH_CASE`: only this one.
 */
export function playCases(count: number, seed: number): Case[] {
  const { GRAPH_CASE } = process.env;
  const graphs = fc.tuple(
    randomGraphOf(MIN_NODES, MAX_NODES),
    randomInput,
    fc.nat({ max: 10_000 }),
  );
  return fc
    .sample(graphs, { numRuns: count, seed })
    .map(([graph, input, salt], at) => ({
      ...{ name: `case-${at}`, graph: at % 2 === 0 ? withoutFailures(graph) : graph, input, salt },
    }))
    .filter((_, at) => GRAPH_CASE === undefined || Number(GRAPH_CASE) === at);
}

/** More attempts than any request of a generated graph needs. */
const ENOUGH_ATTEMPTS = 4;

/** The graph with what keeps its nodes from failing the run. Errors that are caught stay. */
function withoutFailures(graph: Graph): Graph {
  const plan = planOf(graph);
  const failing = graph.nodes.filter(({ id }) => !isCaught(plan, id));
  const nodes = graph.nodes.map((node) => (failing.includes(node) ? neverFailing(node) : node));
  const gates = new Set(failing.flatMap(({ kind, id }) => (kind === 'human_gate' ? [id] : [])));
  const has = (id: string, when: string): boolean =>
    graph.edges.some(({ source, condition_value }) => source === id && condition_value === when);
  // A rejection leads to what follows an approval, if it does not lead elsewhere.
  const rejected = graph.edges.flatMap(({ source, target, condition_value }) =>
    gates.has(source) && !has(source, 'false') && condition_value !== 'error'
      ? [{ source, target, condition_value: 'false' as const }]
      : [],
  );
  return { nodes, edges: [...graph.edges, ...rejected] };
}

const hasErrorEdge = ({ graph }: Plan, id: string): boolean =>
  graph.edges.some(({ source, condition_value }) => source === id && condition_value === 'error');

/** Whether an error of the node takes error edges, or ends an item of a map whose error does or is collected. */
function isCaught(plan: Plan, id: string): boolean {
  if (hasErrorEdge(plan, id)) return true;
  for (let head = plan.body.get(id); head !== undefined; head = plan.body.get(head)) {
    const node = plan.nodes.get(head)!;
    if (node.kind !== 'map') continue;
    if (node.on_item_error === 'collect' || hasErrorEdge(plan, head)) return true;
  }
  return false;
}

function neverFailing(node: GraphNode): GraphNode {
  if (node.kind === 'human_gate') {
    return node.on_timeout === 'fail' ? { ...node, on_timeout: 'approve' } : node;
  }
  if (node.kind !== 'agent' && node.kind !== 'tool') return node;
  if (node.kind === 'agent' && node.tools !== undefined) return node;
  return { ...node, retry: { ...node.retry!, max_attempts: ENOUGH_ATTEMPTS } };
}

import type { AgentNode, Graph } from '#shared/contract/workflows/graph.ts';
import { toMicros } from '#shared/money/money.ts';
import { workflowOf } from '#shared/tools.ts';
import { agentToolsOf } from './node-tools.ts';

/** The minimum cost of a request to a provider, in micro-dollars. */
const SOMETHING = 1;

/**
 * The minimum cost of one request of the graph, in micro-dollars, if any costs something. Null: no run of it costs
 * anything. The costs of the workflows that it calls are not known here.
 */
export function leastCostOf({ nodes }: Pick<Graph, 'nodes'>): number | null {
  const costs = nodes.flatMap((node) => {
    if (node.kind === 'workflow') return [SOMETHING];
    return node.kind === 'agent' ? requestsOf(node) : [];
  });
  return costs.length === 0 ? null : costs.reduce((least, cost) => Math.min(least, cost));
}

function requestsOf(node: AgentNode): number[] {
  const models = [node.model, ...(node.fallback_models ?? [])];
  const calls = agentToolsOf(node).some(({ name }) => workflowOf(name) !== undefined);
  if (calls || models.some((model) => model !== 'mock')) return [SOMETHING];
  const turns = node.tools === undefined ? [] : (node.mock?.turns ?? []);
  return [node.mock?.cost_usd, ...turns.map(({ cost_usd }) => cost_usd)]
    .map((usd = 0) => toMicros(usd))
    .filter((micros) => micros > 0);
}

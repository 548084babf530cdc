import { mockTurnCost, outputLimit, requestBound } from '#shared/agents/cost-bounds.ts';
import type { AgentNode, Graph, GraphIssue } from '#shared/contract/workflows/graph.ts';
import { toMicros, usd } from '#shared/money/money.ts';
import { type PriceOverrides, priceOf } from '#shared/money/prices.ts';

/** What limits the runs of a workflow. */
export interface CostLimits {
  /** Whether a cap, or a budget with an estimate, applies. */
  limited: boolean;
  /** The cap in micro-dollars if no step can exceed it; otherwise null. */
  capMicros: number | null;
  prices: PriceOverrides;
}

/** Warnings about agents whose requests have no bound under a limit, or can never fit the cap. */
export function costWarnings({ nodes }: Pick<Graph, 'nodes'>, limits: CostLimits): GraphIssue[] {
  if (!limits.limited) return [];
  return nodes.flatMap((node, at) =>
    node.kind === 'agent' ? agentWarnings(node, `nodes[${at}]`, limits) : [],
  );
}

function agentWarnings(
  node: AgentNode,
  path: string,
  { capMicros, prices }: CostLimits,
): GraphIssue[] {
  const models = [node.model, ...(node.fallback_models ?? [])];
  const issue = (code: string, at: string, message: string): GraphIssue => ({
    code,
    node_id: node.id,
    path: `${path}.${at}`,
    message: `Node '${node.id}': ${message}`,
  });
  const unpriced = models.filter((model) => priceOf(model, prices) === undefined);
  const issues = unpriced.map((model) =>
    issue(
      'model_without_price',
      'model',
      `${model} has no price, so it is refused under a cap or a budget: give it one in the workspace's prices`,
    ),
  );
  const asks = models.some((model) => model !== 'mock' && !unpriced.includes(model));
  if (asks && outputLimit(node) === undefined) {
    const message =
      'without max_output_tokens the cost of a request has no bound, so it runs alone and can exceed the cap or the budget: ' +
      'set max_output_tokens';
    issues.push(issue('cost_without_bound', 'max_output_tokens', message));
  }
  const most = firstRequest(node, models, prices);
  if (capMicros !== null && most > capMicros) {
    const message =
      `its first request may cost $${usd(most)}, more than the cap of $${usd(capMicros)}, so the run stops before it: ` +
      'raise the cap, or lower max_output_tokens';
    issues.push(issue('cap_below_request', 'max_output_tokens', message));
  }
  return issues;
}

/** The maximum cost of the first request, apart from its prompt. */
function firstRequest(node: AgentNode, models: readonly string[], prices: PriceOverrides): number {
  const costs = models.map((model) => {
    if (model !== 'mock') return requestBound(node, model, prices, 0) ?? 0;
    return toMicros(node.tools === undefined ? (node.mock?.cost_usd ?? 0) : mockTurnCost(node, 1));
  });
  return Math.max(0, ...costs);
}

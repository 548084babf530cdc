import type { GraphNode } from '#shared/contract/workflows/graph.ts';
import { evaluateKnown } from '#shared/graph/dry-run/computed.ts';
import { approvalGates } from '#shared/graph/dry-run/examine.ts';
import type { Facts } from '#shared/graph/dry-run/plan.ts';
import type { NodeReading } from '#shared/graph/dry-run/texts.ts';
import { truthy } from '#shared/graph/expression/expression.ts';
import { type ApprovedNode, approvalOf } from '#shared/graph/node-approval.ts';
import { SMALL_WORK } from '#shared/values/work-budget.ts';
import { knownArguments } from './arguments.ts';

/**
 * Whether a step of the node asks for its own approval before it is executed, as far as that is known, or an agent for
 * that of its calls.
 */
export function asksAt(
  { budget }: Pick<Facts, 'budget'>,
  node: GraphNode,
  reading: NodeReading,
): 'never' | 'maybe' | 'always' {
  const approval = approvalOf(node);
  if (approval === undefined) return mayAsk(node) ? 'maybe' : 'never';
  if (approval.when === 'always') return 'always';
  const { arguments: args, unknown, problem } = knownArguments(node as ApprovedNode, reading);
  if (unknown.length > 0 || problem !== undefined) return 'maybe';
  const found = evaluateKnown(approval.when, reading, budget, { args });
  if (found === undefined) return 'maybe';
  // What cannot be evaluated in the workflow asks.
  return 'error' in found || found.work > SMALL_WORK || truthy(found.value) ? 'always' : 'never';
}

/** Whether calls of an agent can need approval. */
export const mayAsk = (node: GraphNode): boolean => node.kind === 'agent' && approvalGates(node);

import type { GraphNode, ToolNode, WorkflowNode } from '#shared/contract/workflows/graph.ts';
import type { JsonObject } from '#shared/json.ts';
import { isPureTool, isTimer } from '#shared/tools.ts';
import type { WorkBudget } from '#shared/values/work-budget.ts';
import { evaluateExpression, ExpressionError, truthy } from './expression/expression.ts';
import { type GateSettings, settingsOf } from './gates/gate-settings.ts';

/** A node whose steps can need approval. */
export type ApprovedNode = ToolNode | WorkflowNode;

/** When the steps of a node need approval, and what is required of the approvers. */
export interface NodeApproval {
  /** `always`, or an expression over `args` and the state. */
  when: string;
  settings: GateSettings | undefined;
  /** The template of the title, over `args`. */
  title: string | undefined;
}

/** The approval that a node requires; undefined for none. Tools that only compute or wait have none. */
export function approvalOf(node: GraphNode): NodeApproval | undefined {
  if (!canAsk(node) || node.approval === undefined) return undefined;
  const { approval } = node;
  const asked = typeof approval === 'string' ? { when: approval } : approval;
  const { when, title, ...fields } = asked;
  if (when === 'never') return undefined;
  // A link or a chat does not lend the account of its member.
  const lends = usesApprover(node) ? ({ act_as: 'approver', signed_in: true } as const) : {};
  return { when, title, settings: settingsOf({ ...fields, ...lends }) };
}

/**
 * Whether a step needs approval. An expression that fails, or that is too costly to evaluate here, requires one, and so
 * does a step that has asked before: a rejection counts, even if the expression is false now.
 */
export function needsApproval(
  node: GraphNode,
  step: {
    args: JsonObject;
    /** Read only to evaluate an expression: for a step in a map, it is a copy. */
    state: () => JsonObject;
    /** Whether it has asked before. */
    asked: boolean;
    budget: WorkBudget;
  },
): boolean {
  const { when = 'never' } = approvalOf(node) ?? {};
  if (when === 'never') return false;
  if (when === 'always' || step.asked) return true;
  try {
    return truthy(evaluateExpression(when, { ...step.state(), args: step.args }, step.budget));
  } catch (error) {
    if (error instanceof ExpressionError) return true;
    throw error;
  }
}

/** Whether a node uses the account of the member who approved its step. */
export const usesApprover = (node: GraphNode): boolean =>
  node.kind === 'tool' && node.act_as === 'approver';

/** Whether the steps of a node can need approval. */
export const canAsk = (node: GraphNode): node is ApprovedNode =>
  node.kind === 'workflow' ||
  (node.kind === 'tool' && !isPureTool(node.tool_name) && !isTimer(node.tool_name));

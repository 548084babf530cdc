import type { GraphNode, ToolNode, WorkflowNode } from '#shared/contract/workflows/graph.ts';
import { isPureTool, isTimer } from '#shared/tools.ts';
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

/** Whether a node uses the account of the member who approved its step. */
export const usesApprover = (node: GraphNode): boolean =>
  node.kind === 'tool' && node.act_as === 'approver';

/** Whether the steps of a node can need approval. */
export const canAsk = (node: GraphNode): node is ApprovedNode =>
  node.kind === 'workflow' ||
  (node.kind === 'tool' && !isPureTool(node.tool_name) && !isTimer(node.tool_name));

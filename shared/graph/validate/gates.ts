import type { GraphNode } from '#shared/contract/workflows/graph.ts';
import {
  type GateSettings,
  isApprover,
  mayApprove,
  type MemberStanding,
  needsMember,
} from '#shared/graph/gates/gate-settings.ts';
import type { MemberCode } from '#shared/graph/gates/member-codes.ts';
import { usesApprover, approvalOf, canAsk } from '#shared/graph/node-approval.ts';
import type { Issues } from '#shared/graph/issues.ts';

/** A gate, or a node that requires approval, with what it requires. */
interface Asking {
  id: string;
  settings: GateSettings;
  /** Where the settings are in the graph. */
  at: string;
}

/**
 * Checks what a gate, or the approval of a node, requires of its approvers. `members` are those of the workspace;
 * undefined where they are unknown.
 */
export function checkAsking(
  issues: Issues,
  node: GraphNode,
  at: number,
  members: readonly MemberStanding[] | undefined,
): void {
  const { id } = node;
  if (node.kind === 'human_gate') {
    checkSettings(issues, { id, settings: node, at: `nodes[${at}]` }, members);
  } else if ((node.kind === 'tool' || node.kind === 'workflow') && node.approval !== undefined) {
    const path = `nodes[${at}].approval`;
    if (!canAsk(node)) {
      const message = `Node '${id}': this tool reaches nothing outside, so there is nothing to approve: remove approval`;
      issues.error('approval_without_effect', message, { node_id: id, path });
    }
    const settings = typeof node.approval === 'string' ? {} : node.approval;
    checkSettings(issues, { id, settings, at: path }, members);
  }
  if (usesApprover(node)) checkAccount(issues, node, at);
}

/** A step that uses the account of its approver must have one. */
function checkAccount(issues: Issues, node: GraphNode, at: number): void {
  const approval = approvalOf(node);
  const place = (field: string) => ({ node_id: node.id, path: `nodes[${at}].${field}` });
  if (approval?.when !== 'always') {
    const message = `Node '${node.id}': act_as 'approver' needs an approval that always asks: set approval to 'always', or remove act_as`;
    issues.error('act_as_without_approval', message, place('act_as'));
  } else if (approval.settings?.on_timeout === 'approve') {
    const message = `Node '${node.id}': no member approves at the deadline, so act_as 'approver' would have no account: set on_timeout to 'reject' or 'fail'`;
    issues.error('act_as_without_approval', message, place('approval.on_timeout'));
  }
}

function checkSettings(
  issues: Issues,
  asking: Asking,
  members: readonly MemberStanding[] | undefined,
): void {
  const { id, settings: node, at } = asking;
  const place = (path: string) => ({ node_id: id, path: `${at}.${path}` });
  const error = (code: string, message: string, path: string): void =>
    issues.error(code, `Node '${id}': ${message}`, place(path));
  if (node.timeout_seconds !== undefined && node.on_timeout === undefined) {
    const message =
      "timeout_seconds needs on_timeout: set it to 'reject', 'approve' or 'fail', or remove the timeout";
    error('gate_timeout_incomplete', message, 'timeout_seconds');
  }
  if (node.on_timeout !== undefined && node.timeout_seconds === undefined) {
    const message = `on_timeout '${node.on_timeout}' needs timeout_seconds: set how long the gate waits, or remove on_timeout`;
    error('gate_timeout_incomplete', message, 'on_timeout');
  }
  const { timeout_seconds: timeout, remind_seconds: remind } = node;
  if (timeout !== undefined && remind !== undefined && remind >= timeout) {
    const message = `Node '${id}': the first reminder would come after the timeout: set remind_seconds below ${timeout}`;
    issues.warning('gate_reminds_too_late', message, place('remind_seconds'));
  }
  if (members === undefined || !needsMember(node)) return;
  checkApprovers(error, node, members);
  checkRequired(issues, asking, members);
}

function checkApprovers(
  error: (code: MemberCode, message: string, path: string) => void,
  { approvers }: GateSettings,
  members: readonly MemberStanding[],
): void {
  approvers?.members?.forEach((id, index) => {
    const path = `approvers.members[${index}]`;
    const member = members.find((each) => each.id === id);
    if (member === undefined) {
      const message = `the approver '${id}' no longer exists: remove it from approvers.members, or name another member`;
      error('gate_approver_unknown', message, path);
    } else if (!mayApprove(member)) {
      const message = `the approver '${member.name}' does not have the permission 'approve_gates': grant it, or name another member`;
      error('gate_approver_cannot_decide', message, path);
    }
  });
}

const TOO_FEW: MemberCode = 'gate_too_few_approvers';

function checkRequired(
  issues: Issues,
  { id, settings: node, at }: Asking,
  members: readonly MemberStanding[],
): void {
  const { required = 1, not_the_starter: excludes = false } = node;
  const eligible = members.filter((member) => mayApprove(member) && isApprover(node, member));
  const place = {
    node_id: id,
    path: `${at}.${node.required === undefined ? 'approvers' : 'required'}`,
  };
  const count = `${eligible.length} ${eligible.length === 1 ? 'member' : 'members'}`;
  if (eligible.length < required) {
    const asked = required === 1 ? '1 approval is' : `${required} approvals are`;
    const message = `Node '${id}': ${asked} required, but only ${count} can decide: require fewer, or let more members decide`;
    issues.error(TOO_FEW, message, place);
  } else if (excludes && eligible.length - 1 < required) {
    const message = `Node '${id}': only ${count} can decide, so the gate stays open when one of them starts the run: let more members decide`;
    issues.warning(TOO_FEW, message, place);
  }
}

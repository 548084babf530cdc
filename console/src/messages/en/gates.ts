import type { PendingGate } from '#client/index.ts';
import { plural } from '#console/src/messages/format.ts';

/** Messages for the form that decides a gate. */
export const decisionForm = {
  refused: (reason: string) => `You cannot decide this gate. ${reason}.`,
  mayNotDecide: (role: string) =>
    `You can view this gate but not decide it. Your role (${role}) does not have the approve_gates permission. Ask an administrator for access.`,
  callChanged:
    'The tool call has changed since you opened it, and nothing was sent. Check the new arguments, then decide again.',
  late: 'The deadline of this gate has passed, so it can no longer be decided. What you entered was not sent.',
  unsatisfiable: 'No input fits this form',
  unsatisfiableAbout: (problem: string) =>
    `The input schema of the gate ${problem}. Reject the gate, correct the schema in the workflow, and run it again.`,
  unfit: (problem: string) => `Not sent. Correct the marked fields: ${problem}`,
  unfitFields: (problems: string) => `Not sent. ${problems}`,
  approve: 'Approve',
  approveChanged: (changes: number) =>
    plural(changes, { one: 'Approve with # change', other: 'Approve with # changes' }),
  reject: 'Reject',
  /** The keys that send a rejection. */
  send: 'Ctrl+Enter',
  /** Shown before the effect of an approval. */
  approving: 'Approve:',
  /** Shown before the effect of a rejection. */
  rejecting: 'Reject:',
  callsStep: 'the step is executed with exactly these arguments.',
  callsTool: 'the agent calls the tool with exactly these arguments.',
  continues: 'the run continues from here.',
  continuesAfter: (approvals: number) =>
    plural(approvals, {
      other: 'the run continues after # more approvals, including yours.',
    }),
  callsNoTool: 'the tool is not called. The agent gets your reason and can try something else.',
  callsNoStep:
    'the step is not executed. The run takes its “On error” path, or fails if there is none.',
  takesRejected: 'takes the “Rejected” path, or fails if there is none.',
} as const;

/** Messages for the fields of a decision. */
export const decisionFields = {
  reasonSaved: 'Optional. Saved with the decision.',
  reasonRead: 'Optional. The agent reads the reason of a rejection.',
  reasonRejects: 'Ctrl+Enter rejects with this reason.',
  addInput: 'Add input',
  inputAbout: 'A JSON object. Its keys are added to the run state.',
} as const;

/** Messages for the tool call that a gate is about. */
export const toolCall = {
  label: (tool: string) => `Tool call ${tool}`,
  agent: 'Agent',
  turn: 'Turn',
} as const;

/** Messages for the arguments of a tool call, which an approver can edit. */
export const argumentsField = {
  title: 'Arguments',
  of: (tool: string) => `the arguments of ${tool}`,
  mayNotView: 'You need the approve_gates permission to view the arguments.',
  edit: 'Edit arguments',
  editOne: (argument: string) => `Edit ${argument}`,
  label: 'Arguments to send',
  asJson: 'Edit as JSON',
  asTable: 'Edit as table',
  fixed: 'set by the workflow',
  was: 'was',
  none: 'none',
  noArguments: 'No arguments',
  discard: 'Discard changes',
  changes: 'Changes',
  showAll: (count: string) => `Show all ${count} arguments`,
} as const;

/** Messages for what a gate requires of its approvers. */
export const gateRules = {
  label: 'Approval rules',
  progress: (approved: string, required: string) => `${approved} of ${required} approved`,
  notTheStarter: 'Members who started the run, or one before it, cannot decide.',
  signedIn: 'Only members who have signed in can decide.',
  actAs: 'The step uses the account of the member who approves it.',
  deadline: {
    approve: 'Deadline in {left}, {at}, then the gate is approved.',
    reject: 'Deadline in {left}, {at}, then the gate is rejected.',
    fail: 'Deadline in {left}, {at}, then the run fails.',
  } as const satisfies Record<NonNullable<PendingGate['on_timeout']>, string>,
  deadlinePassed: {
    approve: 'Deadline {at}, then the gate is approved.',
    reject: 'Deadline {at}, then the gate is rejected.',
    fail: 'Deadline {at}, then the run fails.',
  } as const satisfies Record<NonNullable<PendingGate['on_timeout']>, string>,
  adminsStandIn: 'Too few approvers are left, so admins can decide, too.',
  noDecider: 'No member can decide this gate.',
  fewDeciders: (deciders: string, missing: string) =>
    `Only ${deciders} of ${missing} can decide this gate.`,
  giveAnother: 'Give another member the permission, or cancel the run.',
  approvers: 'Can be decided by: {approvers}',
  role: (role: string) => `role ${role}`,
  removed: (memberId: string) => `${memberId} (removed)`,
} as const;

/** Messages for a decision: its result, who or what decided, and when. */
export const decision = {
  approvedBy: 'Approved by {by}, {at}',
  rejectedBy: 'Rejected by {by}, {at}',
  approvedAtDeadline: 'Approved at its deadline, {at}',
  rejectedAtDeadline: 'Rejected at its deadline, {at}',
  withReason: '{decision}: {reason}',
  apiKey: 'an API key',
  /** Decided with the link of an email, without signing in. */
  byLink: '{by}, by link',
  bySlack: '{by}, in Slack',
} as const;

/** Messages for a decision that is not sent yet, and for the notice when it is. */
export const waitingDecision = {
  label: 'Decision not sent yet',
  approved: 'Approved: {gate}',
  approvedChanged: (changes: number) =>
    plural(changes, {
      one: 'Approved with # change: {gate}',
      other: 'Approved with # changes: {gate}',
    }),
  rejected: 'Rejected: {gate}',
  undo: 'Undo',
  undoWithin: (seconds: string) => `Undo (${seconds} s)`,
  sendNow: 'Send now',
  sentApproved: (gate: string, changes: number) =>
    changes === 0
      ? `Approved: ${gate}`
      : plural(changes, {
          one: `Approved with # change: ${gate}`,
          other: `Approved with # changes: ${gate}`,
        }),
  sentRejected: (gate: string) => `Rejected: ${gate}`,
  notApproved: (gate: string) => `Not approved: ${gate}`,
  notRejected: (gate: string) => `Not rejected: ${gate}`,
} as const;

/** Messages for a gate that repeats the reads it depends on before an approval counts. */
export const rechecked = {
  repeats: 'An approval first repeats these reads, and counts if they are the same: {steps}.',
  notRepeated: 'Not repeated: {steps}.',
  stale: 'What this gate shows has changed',
  staleAbout: 'The reads behind it were repeated {at}, and found other values:',
  more: (count: number) =>
    plural(count, { one: '# more value is different.', other: '# more values are different.' }),
  problem: 'could not be read again: {problem}',
  accept: 'Approve anyway',
  acceptAbout:
    'What was shown is sent, not the new values. The differences are saved with your approval.',
} as const;

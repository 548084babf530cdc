import type { Run } from '#client/index.ts';
import { plural } from '#console/src/messages/format.ts';

/** Messages for the page of approvals. */
export const inbox = {
  title: 'Approvals',
  about: 'Runs waiting for a decision, longest wait first.',
  pending: 'Pending approvals',
  mine: 'Assigned to me',
  signIns: 'Runs waiting for your sign-in',
  noneMine: 'No approvals are assigned to you',
  noneMineAbout: 'When someone assigns a gate to you, it appears here.',
  none: 'No pending approvals',
  noneAbout: 'Runs appear here when they reach a human gate, or a tool call that needs approval.',
  keys: '{next} next, {previous} previous, {approve} approve, {edit} edit, {reject} reject, {undo} undo',
  shortcuts: 'Keyboard shortcuts',
  goneGates: (count: number) => plural(count, { one: '# gate', other: '# gates' }),
  gone: 'No longer waiting. Someone else decided, or the run ended.',
} as const;

/** Messages for the page of decisions. */
export const decidedPage = {
  about: 'Decisions of the last 30 days, newest first. The audit log has all of them.',
  list: 'Decided approvals',
  columns: {
    gate: 'Approval',
    answer: 'Answer',
    by: 'Decided by',
    at: 'Time',
    reason: 'Reason',
    run: 'Run',
  },
  approved: 'Approved',
  approvedChanged: 'Approved with changes',
  rejected: 'Rejected',
  deadline: 'Deadline',
  none: 'No decisions yet',
  noneAbout: 'Once someone approves or rejects, the decision appears here.',
} as const;

/** Messages for the list of gates. */
export const gateList = {
  label: 'Pending approvals',
  waitingFor: (duration: string) => `waiting for ${duration}`,
  assignedTo: 'assigned to {name}',
  approved: 'Approved',
  rejected: 'Rejected',
} as const;

/** Messages for one gate. */
export const gateDetail = {
  theLink: 'the link to this approval',
  label: (gate: string) => `Gate ${gate}`,
  prompt: 'Prompt',
  noPrompt: 'This gate has no prompt.',
  waitingSince: 'Waiting since',
  since: '{at} ({duration})',
  costSoFar: 'Cost so far',
  costOf: (cost: string, cap: string) => `${cost} of ${cap}`,
  runStarted: 'Run started',
  startedBy: '{at}, {trigger}',
  previous: 'Output of previous steps',
  noPrevious: 'No previous step has produced output.',
  outputOf: (step: string) => `Output of ${step}`,
  runInput: 'the run input',
  state: 'State',
  runState: 'the run state',
} as const;

/** Messages for who is expected to decide. */
export const assignee = {
  assignedTo: 'Assigned to {name}',
  label: 'Assigned to',
  about: 'Others who can decide this still can.',
  noOne: 'No one',
  you: (name: string) => `${name} (you)`,
} as const;

/** Messages for earlier decisions at a gate. */
export const earlierDecision = {
  title: 'Asked before',
  earlier: (count: string) => `Earlier decisions (${count})`,
  unchanged: 'Nothing has changed since then.',
  changed: 'Changed since then',
} as const;

/** Messages for a gate that cannot be decided. */
export const undecidable = {
  openRun: 'Open run',
  notSent: 'Not sent',
  notSentAbout: 'What you entered was not sent:',
  reason: 'your reason',
  input: 'your input',
  approved: 'Already approved',
  approvedChanged: (changes: number) =>
    plural(changes, {
      one: 'Already approved, with # change',
      other: 'Already approved, with # changes',
    }),
  rejected: 'Already rejected',
  youApproved: 'You approved this',
  youApprovedNow: 'You approved this just now',
  youApprovedChanged: (changes: number) =>
    plural(changes, {
      one: 'You approved this with # change',
      other: 'You approved this with # changes',
    }),
  youRejected: 'You rejected this',
  youRejectedNow: 'You rejected this just now',
  changes: 'Changes',
  decidedAt: 'Decided {at}.',
  notReached: 'Not reached yet',
  notRightNow: 'Not waiting right now',
  noLonger: 'No longer waiting',
  decidedBy: 'Decided by {by}, {at}.',
  decidedAtDeadline: 'Decided at its deadline, {at}.',
  run: {
    pending: 'The run has not started.',
    running: 'The run is in progress.',
    paused: 'The run is waiting at another gate.',
    success: 'The run succeeded.',
    failed: 'The run failed.',
  } as const satisfies Record<Run['status'], string>,
  runCancelled: 'The run was cancelled.',
} as const;

/** What a rejection does to the run. */
export const rejection = {
  takesRejected: 'takes the “Rejected” path.',
  takesError: 'takes the “On error” path.',
  fails: 'the run fails, because the gate has no “Rejected” path. Resume the run to ask again.',
} as const;

import { plural } from '#console/src/messages/format.ts';

/** Messages for the estimate of a run. */
export const dryRun = {
  title: 'Dry run',
  noEstimate: 'No estimate with this input.',
  estimating: 'Estimating…',
  blocked: (node: string, reason: string) => `${node} is blocked: ${reason}.`,
  budgetIsFull: (name: string, available: string) =>
    `Budget “${name}” has no room: ${available} available.`,
  budgetHasNoRoomFor: (name: string, asked: string, available: string) =>
    `Budget “${name}” has no room for ${asked}: ${available} available.`,
  moreDecisions: (count: number) =>
    plural(count, { one: 'And # more policy decision.', other: 'And # more policy decisions.' }),
  unlimited: (nodes: string) => `No upper limit, because of ${nodes}.`,
  redacted: (nodes: string) => `Redacted before sending: ${nodes}.`,
  canWait: (node: string, approvers: string) =>
    `Can wait for a person at ${node}. ${approvers} can decide.`,
  canWaitIn: (node: string, workflow: string, approvers: string) =>
    `Can wait for a person at ${node} (in ${workflow}). ${approvers} can decide.`,
  canWaitForNoOne: (node: string) => `Can wait for a person at ${node}, and no one can decide now.`,
  canWaitForNoOneIn: (node: string, workflow: string) =>
    `Can wait for a person at ${node} (in ${workflow}), and no one can decide now.`,
  moreGates: (count: number) =>
    plural(count, { one: 'And # more gate.', other: 'And # more gates.' }),
  calls: (hosts: string) => `Calls ${hosts}.`,
  hostsAtRunTime: 'hosts that are known when the step runs',
  usesSecrets: (secrets: string) => `Uses the secrets ${secrets}.`,
  notSignedIn: (node: string, connection: string) =>
    `${node} would wait until you sign in to ${connection}.`,
  noOneSignedIn: (node: string, connection: string) =>
    `${node} would fail, because no one is signed in to ${connection}.`,
  moreConnections: (count: number) =>
    plural(count, {
      one: 'And # more connection without a sign-in.',
      other: 'And # more connections without a sign-in.',
    }),
  usesOwnAccounts: (connections: string) => `Uses your accounts at ${connections}.`,
  usesAccounts: (connections: string) => `Uses the accounts of the workspace at ${connections}.`,
  usesApprovers: (connections: string) => `Uses the accounts of approvers at ${connections}.`,
  namesAndMore: (names: string, more: string) => `${names} and ${more} more`,
} as const;

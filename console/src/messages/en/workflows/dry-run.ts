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
  namesAndMore: (names: string, more: string) => `${names} and ${more} more`,
} as const;

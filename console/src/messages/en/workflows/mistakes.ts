import { plural } from '#console/src/messages/format.ts';

/** Messages for the list of mistakes in a graph. */
export const mistakeList = {
  checking: 'Checking…',
  none: 'No problems. Ready to run.',
  severities: { error: 'error', warning: 'warning' },
  more: (count: number) => plural(count, { other: 'and # more' }),
} as const;

/** Messages for the changes that remove a mistake. */
export const fixes = {
  removeEdge: 'Remove this edge',
  requireOne: 'Require 1 approval',
  removeApproval: 'Remove the approval',
  removeParameter: (name: string) => `Remove “${name}”`,
  removeRecheck: 'Remove the recheck',
  removeCovers: 'Allow other writes',
  removeReminder: 'Remove the reminder',
  takeAlways: 'Take this edge always',
  addBranch: (branch: string, target: string) => `Add the missing “${branch}” edge to ${target}`,
  branches: { true: 'Yes', false: 'No' },
  addBody: 'Add a body node',
  leadBack: (from: string, to: string) => `Lead ${from} back to ${to}`,
  use: (key: string) => `Use “${key}”`,
  removeReference: (reference: string) => `Remove ${reference}`,
} as const;

/** Messages for a button that does nothing until mistakes are mended. */
export const blocked = {
  toRun: (reason: string) => `Cannot run yet. ${reason}`,
} as const;

/** The numbers of mistakes. */
export const mistakeCounts = {
  errors: (count: number) => plural(count, { one: '# error', other: '# errors' }),
  warnings: (count: number) => plural(count, { one: '# warning', other: '# warnings' }),
} as const;

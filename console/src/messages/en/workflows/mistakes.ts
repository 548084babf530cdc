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

import { plural } from '#console/src/messages/format.ts';

/** Messages for the list of mistakes in a graph. */
export const mistakeList = {
  checking: 'Checking…',
  none: 'No problems. Ready to run.',
  severities: { error: 'error', warning: 'warning' },
  more: (count: number) => plural(count, { other: 'and # more' }),
} as const;

/** The numbers of mistakes. */
export const mistakeCounts = {
  errors: (count: number) => plural(count, { one: '# error', other: '# errors' }),
  warnings: (count: number) => plural(count, { one: '# warning', other: '# warnings' }),
} as const;

import { plural } from '#console/src/messages/format.ts';

/** Messages for values per day. */
export const dayBars = {
  bars: (what: string) => `${what}, as bars`,
  asBars: 'Show as bars',
  asTable: 'Show as a table',
  day: 'Day (UTC)',
} as const;

/** What screen readers say before the old and the new value. */
export const changedValue = {
  from: 'from',
  to: 'to',
} as const;

/** Messages for the paths in which two values differ. */
export const changedPaths = {
  none: 'none',
  more: (count: number) => plural(count, { one: '# more change', other: '# more changes' }),
} as const;

/** What screen readers say before the words of a text that has changed. */
export const changedWords = { added: 'added', removed: 'removed' } as const;

/** Messages for filters that are behind a button on a phone. */
export const foldedFilters = {
  filters: 'Filters',
  inUse: (count: number) =>
    plural(count, { one: 'Filters (# in use)', other: 'Filters (# in use)' }),
} as const;

/** Messages at the end of a list that loads more rows on scroll. */
export const infiniteList = {
  shown: (count: string) => `${count} shown`,
  allShown: (count: string) => `${count} shown (end of list)`,
} as const;

/** The two kinds of records. */
export const kindBadge = {
  demo: 'Demo',
  live: 'Live',
} as const;

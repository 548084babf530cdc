/** Messages for a JSON value as a tree. */
export const jsonTree = {
  searchIn: (what: string) => `Search in ${what}`,
  path: 'the path',
  insert: 'Insert the selected value',
  cut: (lines: string) => `The first ${lines} lines. Search to see others.`,
  noMatch: 'No match',
} as const;

/** Names of the views of a value. */
export const valueView = {
  label: (what: string) => `View of ${what}`,
  formatted: 'Formatted',
  tree: 'Tree',
  plain: 'Text',
} as const;

/** Names of the parts of a formatted text. */
export const markdown = {
  code: 'Code',
  table: 'Table',
} as const;

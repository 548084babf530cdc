/** Messages for values and code. */
export const code = {
  copy: (what: string) => `Copy ${what}`,
  copied: 'Copied',
  theValue: 'the value',
  id: (end: string) => `the ID that ends in ${end}`,
  shown: (shown: string, all: string) => `${shown} of ${all} characters`,
} as const;

/** A value in a few words. */
export const shortValues = {
  none: 'no value',
  text: (quoted: string) => `text ${quoted}`,
  number: (value: string) => `number ${value}`,
  boolean: (value: string) => `boolean ${value}`,
  list: (length: string) => `list of ${length}`,
  object: (names: string) => `object {${names}}`,
  objectOfMore: (names: string) => `object {${names}, …}`,
  emptyObject: 'empty object',
  from: (value: string, source: string) => `${value}, from ${source}`,
} as const;

import { plural } from '#console/src/messages/format.ts';

/** The names of steps in lists and sentences. */
export const stepNames = {
  turn: (turn: number) => `Turn ${turn}`,
  /** Within nested loops, `iteration` is like `3.2`. */
  iteration: (iteration: string) => `iteration ${iteration}`,
  withIteration: (step: string, iteration: string) => `${step}, ${iteration}`,
  withCount: (node: string, steps: number) =>
    `${node} (${plural(steps, { one: '# step', other: '# steps' })})`,
  quoted: (name: string) => `“${name}”`,
  more: (count: string) => `${count} more`,
  listed: (names: readonly string[], last: string) => `${names.join(', ')} and ${last}`,
} as const;

/** What a loop or a map has repeated. */
export const tallies = {
  item: (items: number) => plural(items, { one: '# item', other: '# items' }),
  iteration: (iterations: number) =>
    plural(iterations, { one: '# iteration', other: '# iterations' }),
  showFailed: 'Show the first failed one',
  nested: {
    item: (item: string) => `item ${item}`,
    iteration: (iteration: string) => `iteration ${iteration}`,
  },
  /** `item 2 of 3` */
  place: {
    item: (item: string, of: string) => `item ${item} of ${of}`,
    iteration: (iteration: string, of: string) => `iteration ${iteration} of ${of}`,
  },
} as const;

/** Messages for the steps by node. */
export const nodeCounts = {
  table: 'Steps by node',
  stepsOf: (nodeId: string) => `Steps of ${nodeId}`,
  all: 'All',
  empty: 'No steps with this status.',
} as const;

import { plural } from '#console/src/messages/format.ts';

/** The names of steps in lists and sentences. */
export const stepNames = {
  turn: (turn: number) => `Turn ${turn}`,
  /** Within nested loops, `iteration` is like `3.2`. */
  iteration: (iteration: string) => `iteration ${iteration}`,
  withIteration: (step: string, iteration: string) => `${step}, ${iteration}`,
  withCount: (node: string, steps: number) =>
    `${node} (${plural(steps, { one: '# step', other: '# steps' })})`,
  quoted: (name: string) => `'${name}'`,
  more: (count: string) => `${count} more`,
  listed: (names: readonly string[], last: string) => `${names.join(', ')} and ${last}`,
} as const;

/** Messages for the steps by node. */
export const nodeCounts = {
  title: (steps: number) => plural(steps, { one: '# step', other: '# steps' }),
  about: (shown: string) =>
    `The graph and the tree of steps show the first ${shown}. Here are all, by node.`,
  table: 'Steps by node',
  stepsOf: (nodeId: string) => `Steps of ${nodeId}`,
  all: 'All',
  empty: 'No steps with this status.',
} as const;

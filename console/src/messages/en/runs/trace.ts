import { plural } from '#console/src/messages/format.ts';

/** What a step is doing at a time. */
export const phaseNames = {
  working: 'running',
  retrying: 'failed attempts',
  queued: 'queued',
  waiting: 'waiting',
  iterations: 'in iterations',
} as const;

/** Messages for the trace of a run. */
export const trace = {
  empty: { title: 'No steps yet', about: 'Steps appear here as the run progresses.' },
  found: (found: string, all: string) => `${found} of ${all} steps`,
  /** `4.2 s running` */
  phase: (duration: string, phase: string) => `${duration} ${phase}`,
  legend: 'Legend',
  keys: 'Keys: arrows move, Enter opens, {next} {previous} next and previous step, {failed} next failed',
  timeline: 'Timeline',
  tokens: 'Tokens',
} as const;

/** Messages for the filters of a trace. */
export const traceFilters = {
  search: 'Search steps',
  searchFor: 'Name, model or error',
  anyStatus: 'Any status',
  order: 'Order',
  orders: {
    start: 'By start',
    duration: 'Longest first',
    cost: 'Costliest first',
  },
  expandAll: 'Expand all',
  collapseAll: 'Collapse all',
} as const;

/** Messages for a row of a trace. */
export const traceRow = {
  expand: 'Expand',
  collapse: 'Collapse',
  kinds: {
    item: 'Item',
    iteration: 'Iteration',
    attempt: 'Attempt',
    child: 'Child run',
    turn: 'Turn',
  },
  item: (item: number) => `Item ${item}`,
  iteration: (iteration: number) => `Iteration ${iteration}`,
  attempt: (attempt: number) => `Attempt ${attempt}`,
  child: 'Child run',
  turns: (turns: number) => plural(turns, { one: '# turn', other: '# turns' }),
  attempts: (attempts: number) => plural(attempts, { one: '# attempt', other: '# attempts' }),
  reused: 'reused',
  caught: 'caught',
} as const;

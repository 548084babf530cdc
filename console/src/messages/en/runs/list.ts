import { plural } from '#console/src/messages/format.ts';

/** Messages for the page of runs. */
export const runList = {
  startedBy: 'Started by {run}.',
  showAll: 'Show all runs',
  noMatch: {
    title: 'No matching runs',
    search:
      'A search needs all words, in any order: whole words, or starts of at least three letters.',
    filter: 'Remove a filter to see more runs.',
    clear: 'Clear filters',
    withRehearsals: 'Look in rehearsals, too',
  },
  empty: {
    title: 'No runs yet',
    about: 'Start from a template: it runs without any setup.',
    browse: 'Browse templates',
  },
} as const;

/** Messages for the table of runs. */
export const runTable = {
  label: 'Runs, newest first',
  selectAll: 'Select all runs shown',
  select: (runId: string) => `Select ${runId}`,
} as const;

/** Messages for the filters of runs. */
export const filters = {
  search: 'Search runs',
  searchFor: 'Words in input, output, error or ID',
  unreadable: 'Type a letter or a digit',
  more: 'Filters',
  any: 'Any',
  startedBy: 'Started by',
  failure: 'Failure',
  chooseWorkflow: 'Choose a workflow',
  createdFrom: 'Created from',
  createdBefore: 'Created before',
  minCost: 'Cost from, USD',
  maxCost: 'Cost up to, USD',
  minDuration: 'Working time from, s',
  maxDuration: 'Working time up to, s',
  rehearsals: 'Rehearsals',
  hidden: 'Hidden',
  shown: 'Shown',
  only: 'Only rehearsals',
} as const;

/** Messages for the filters that apply. */
export const chips = {
  label: 'Filters in use',
  remove: (filter: string) => `Remove filter ${filter}`,
  clear: 'Clear filters',
  search: (words: string) => `“${words}”`,
  anyOf: (statuses: readonly string[]) => statuses.join(' or '),
  failure: (kind: string) => `Failure: ${kind}`,
  startedBy: (trigger: string) => `Started by ${trigger}`,
  version: (version: number) => `Version ${version}`,
  since: (day: string) => `From ${day}`,
  until: (day: string) => `Before ${day}`,
  minCost: (cost: string) => `Cost from ${cost}`,
  maxCost: (cost: string) => `Cost up to ${cost}`,
  minDuration: (duration: string) => `Working time from ${duration}`,
  maxDuration: (duration: string) => `Working time up to ${duration}`,
  rehearsals: 'Rehearsals',
  noRehearsals: 'No rehearsals',
  withRehearsals: 'With rehearsals',
} as const;

/** Messages for the saved filters. */
export const views = {
  button: 'Views',
  setFirst: 'To save a view, set filters first.',
  remove: (view: string) => `Remove view ${view}`,
  name: 'Save the current filters as',
  example: 'Expensive failures',
  save: 'Save',
} as const;

/** Messages for the menu that saves runs as a file. */
export const exportMenu = {
  csv: 'CSV, for spreadsheets',
  ndjson: 'NDJSON, one object per line',
} as const;

/** Messages for the bar of the selected runs. */
export const bulkBar = {
  label: 'Selected runs',
  selected: (runs: number) => plural(runs, { one: '# run selected', other: '# runs selected' }),
  firstSelected: (runs: number) =>
    plural(runs, {
      one: '# run selected, the first of those that match',
      other: '# runs selected, the first of those that match',
    }),
  selectAll: 'Select all that match',
  clear: 'Clear selection',
  actions: {
    approve: (possible: string) => `Approve (${possible})`,
    resume: (possible: string) => `Resume (${possible})`,
    cancel: (possible: string) => `Cancel runs (${possible})`,
  },
} as const;

/** Messages for an action on several runs. */
export const bulkActions = {
  undo: 'Undo',
  cancel: {
    title: (runs: number) => plural(runs, { one: 'Cancel # run?', other: 'Cancel # runs?' }),
    effect:
      'They stop now. Finished steps stay finished, and changes already made in other systems are not undone.',
    left: (runs: number) =>
      plural(runs, {
        one: '# run of your selection cannot be cancelled now.',
        other: '# runs of your selection cannot be cancelled now.',
      }),
    confirm: (runs: number) => plural(runs, { one: 'Cancel # run', other: 'Cancel # runs' }),
    keep: 'Keep running',
    soon: (runs: number, seconds: string) =>
      plural(runs, {
        one: `Cancelling # run in ${seconds} s`,
        other: `Cancelling # runs in ${seconds} s`,
      }),
    progress: (answered: string, runs: number) =>
      plural(runs, {
        one: `Cancelling ${answered} of # run`,
        other: `Cancelling ${answered} of # runs`,
      }),
    done: (runs: number) => plural(runs, { one: '# run cancelled', other: '# runs cancelled' }),
    doneExcept: (runs: number, refused: string) =>
      plural(runs, {
        one: `# run cancelled, ${refused} not`,
        other: `# runs cancelled, ${refused} not`,
      }),
  },
  resume: {
    title: (runs: number) => plural(runs, { one: 'Resume # run?', other: 'Resume # runs?' }),
    effect: 'Only steps that had not finished run again. They can cost money and have effects.',
    left: (runs: number) =>
      plural(runs, {
        one: '# run of your selection cannot be resumed now.',
        other: '# runs of your selection cannot be resumed now.',
      }),
    confirm: (runs: number) => plural(runs, { one: 'Resume # run', other: 'Resume # runs' }),
    soon: (runs: number, seconds: string) =>
      plural(runs, {
        one: `Resuming # run in ${seconds} s`,
        other: `Resuming # runs in ${seconds} s`,
      }),
    progress: (answered: string, runs: number) =>
      plural(runs, {
        one: `Resuming ${answered} of # run`,
        other: `Resuming ${answered} of # runs`,
      }),
    done: (runs: number) => plural(runs, { one: '# run resumed', other: '# runs resumed' }),
    doneExcept: (runs: number, refused: string) =>
      plural(runs, {
        one: `# run resumed, ${refused} not`,
        other: `# runs resumed, ${refused} not`,
      }),
  },
  approve: {
    title: (runs: number) => plural(runs, { one: 'Approve # run?', other: 'Approve # runs?' }),
    effect:
      'Each run continues if it waits for one decision that needs no input. Tool calls and forms are left for you to read. What each approval sets in motion is on the page of its run, not here.',
    left: (runs: number) =>
      plural(runs, {
        one: '# run of your selection cannot be approved now.',
        other: '# runs of your selection cannot be approved now.',
      }),
    confirm: (runs: number) => plural(runs, { one: 'Approve # run', other: 'Approve # runs' }),
    soon: (runs: number, seconds: string) =>
      plural(runs, {
        one: `Approving # run in ${seconds} s`,
        other: `Approving # runs in ${seconds} s`,
      }),
    progress: (answered: string, runs: number) =>
      plural(runs, {
        one: `Approving ${answered} of # run`,
        other: `Approving ${answered} of # runs`,
      }),
    done: (runs: number) => plural(runs, { one: '# run approved', other: '# runs approved' }),
    doneExcept: (runs: number, refused: string) =>
      plural(runs, {
        one: `# run approved, ${refused} not`,
        other: `# runs approved, ${refused} not`,
      }),
  },
} as const;

/** Why a run was not approved with others. */
export const notApproved = {
  noGate: 'It waits for no decision',
  severalGates: 'It waits for several decisions: decide them one by one',
  toolCall: 'It waits for a decision about a tool call',
  needsInput: 'Its approval needs input',
} as const;

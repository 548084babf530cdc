import { plural } from '#console/src/messages/format.ts';

/** Messages for the page of a run. */
export const run = {
  closeStep: 'Close step',
  selectedStep: 'Selected step',
  /** Names the pane beside the steps while none is selected. */
  whole: 'The whole run',
  data: 'Input and output',
  cancelled: 'Cancelled',
  failed: 'Failed',
  overBudget: 'Stopped by budget',
  /** `Failed: Charge, item 2 of 3` */
  failedAt: (failed: string, step: string, place: string) => `${failed}: ${step}, ${place}`,
  errorText: 'the error of the run',
  showFailed: 'Show failed step',
  fix: 'Fix in the editor',
  notReached: '{step} was not reached.',
  notReachedYet: '{step} has not been reached yet.',
  separator: 'Width of the steps',
} as const;

/** The names of the views of a run. */
export const runViews = {
  nodes: 'By node',
  log: 'Event log',
  checkpoints: 'Checkpoints',
  /** Above the tree of a run with more steps than the tree has. */
  cut: 'The tree has {shown} of {all} steps, failed ones included.',
  moreFailed: 'Load more failed steps',
  all: 'Show all by node',
} as const;

/** Messages for a run that does not exist. */
export const missingRun = {
  title: 'Run not found',
  empty: 'This run does not exist',
  about:
    'Run not found. It may have been removed when its retention period ended, or belong to another workspace. If you typed the ID, check it. The audit log may still have what people did with it.',
  showAll: 'Show all runs',
  searchAudit: 'Search the audit log',
} as const;

/** Messages for the line below the name of a run. */
export const runHeader = {
  runId: 'the run ID',
  draft: 'Draft of the workflow',
  version: (version: number) => `Version ${version}`,
  liveness: {
    live: { name: 'Live', about: 'Updates appear as they happen' },
    reconnecting: {
      name: 'Reconnecting',
      about: 'Connecting to live updates. Refreshes every 5 s until then.',
    },
    ended: {
      name: 'Ended',
      about: 'The run has ended. If you resume it, updates appear here.',
    },
  },
  rejectedAt: 'rejected at {gates}',
  started: {
    manual: 'Started manually',
    webhook: 'Started by a webhook',
    mcp: 'Started over MCP',
    schedule: 'Started by a schedule',
    event: 'Started by an event',
    workflow: 'Started by a workflow',
  },
  startedByName: {
    manual: 'Started manually by {name}',
    webhook: 'Started by a webhook of {name}',
    mcp: 'Started over MCP by {name}',
    schedule: 'Started by a schedule of {name}',
    event: 'Started by an event of {name}',
    workflow: 'Started by a workflow of {name}',
  },
  parentRun: 'Started by a parent run',
  otherRun: (end: string) => `run ${end}`,
  rehearses: 'Rehearses {run}',
  startedFrom: 'Started again from {run}',
  forkedFrom: 'Forked from {run} at “{step}”',
  withChanges: (changes: number) =>
    plural(changes, { one: 'with # change', other: 'with # changes' }),
  costOfCap: (cost: string, cap: string) => `${cost} of ${cap}`,
  shareOfCap: (percent: string) => `Cost: ${percent} of the cap`,
  details: 'Details',
  id: 'ID',
  finished: 'Finished',
  resumed: 'Resumed',
  times: (times: number) => plural(times, { one: 'once', other: '# times' }),
  childCost: 'Cost of child runs',
  checksPassed: 'Checks passed',
  passed: (passed: string, all: string) => `${passed} of ${all}`,
  execution: 'Execution',
  temporal: 'Temporal UI',
} as const;

/** Messages for a gate that waits. */
export const waitingGate = {
  opened: 'opened {time}',
  open: 'Open full approval',
} as const;

/** Messages for the data of a run. */
export const runData = {
  state: 'State',
  stateSoFar: 'State so far',
  noOutput: 'The output appears when the run succeeds.',
  theInput: 'the input',
  theState: 'the state',
  theOutput: 'the output',
} as const;

/** Messages for the results of the checks. */
export const runChecks = {
  empty: 'No check results',
  hadNone: 'The workflow had no checks when the run ended.',
  later: 'Checks run after a run succeeds.',
  check: 'Check',
  expected: 'Expected',
  actual: 'Actual',
  passed: 'passed',
  failed: 'failed',
  theExpected: 'the expected value',
  theActual: 'the actual value',
} as const;

/** Messages for the checkpoints of a run. */
export const runCheckpoints = {
  empty: {
    title: 'No checkpoints yet',
    about: 'Each finished step is a checkpoint. A resumed run continues from there.',
  },
  eventNumbers: 'Event numbers refer to the {history}.',
  history: 'execution history',
  scrollable: 'Checkpoints, scrollable',
  table: 'Checkpoints',
  when: 'When',
  notRecorded: 'Not recorded',
} as const;

/** Messages for the event log. */
export const eventLog = {
  empty: { title: 'No events yet', about: 'Events appear here as the run progresses.' },
  label: 'Event log',
} as const;

/** Messages for the events of a run. */
export const events = {
  stepStarted: 'Step started',
  stepCompleted: 'Step succeeded',
  stepFailed: 'Step failed',
  runPaused: 'Waiting for approval',
  turn: (turn: number) => `Turn ${turn}`,
  answered: (agent: string) => `${agent}, answered`,
  calls: (agent: string, calls: number) =>
    `${agent}, ${plural(calls, { one: '# call', other: '# calls' })}`,
  childPaused: 'Child run paused',
  childContinued: 'Child run continued',
  runCompleted: 'Run succeeded',
  runFailed: 'Run failed',
  runCancelled: 'Run cancelled',
  checksPassed: (passed: string, all: string) => `Checks passed: ${passed} of ${all}`,
} as const;

/** Messages for the graph of a run. */
export const runGraph = {
  notReached: 'not reached',
  notReachedYet: 'not reached yet',
  lastOf: (iteration: string, count: string) => `${iteration} of ${count}`,
} as const;

/** Messages for a printed run. */
export const runRecord = {
  id: 'ID',
  draft: 'Draft of the workflow',
  finished: 'Finished',
  decisions: 'Decisions',
  cut: (shown: string) => `The first ${shown} steps, failed ones included.`,
} as const;

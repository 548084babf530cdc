import type { ListedExperiment } from '#client/index.ts';
import { plural } from '#console/src/messages/format.ts';

/** Messages for the experiments of a workflow. */
export const experimentsTab = {
  title: 'Experiments',
  required:
    'This workflow is published only after an experiment that breaks no check and fails no run.',
  empty: {
    title: 'No experiments yet',
    about:
      'An experiment tries the draft or a version on past runs, so that you know what changes before you publish.',
  },
  label: 'Experiments of the workflow',
  candidate: 'Candidate',
  equal: 'Equal',
  changed: 'Changed',
  failed: 'Failed',
  checksWon: 'Checks fixed',
  checksLost: 'Checks broken',
} as const;

/** Messages for the form that starts an experiment. */
export const startExperiment = {
  try: 'Try on past runs',
  start: 'Start experiment',
  about:
    'Rehearses past runs and compares the results. Steps take their results from the record, so nothing is sent, and no data changes.',
  agents: 'Call models for prompts that changed',
  agentsAbout: 'Costs money. Without it, runs with a changed prompt have no result.',
  budget: 'Budget (USD)',
  budgetAbout: 'What the experiment may spend. Leave empty for the budgets of the workspace alone.',
  candidate: 'Candidate',
  theDraft: 'The draft',
  version: (version: number) => `Version ${version}`,
  runsAbout: (most: string) => `The newest runs that have ended, at most ${most}`,
  endedStatuses: 'Succeeded and failed',
  success: 'Succeeded',
  failed: 'Failed',
} as const;

/** Messages for the page of an experiment. */
export const experimentPage = {
  title: 'Experiment',
  titleOf: (candidate: string) => `Experiment: ${candidate}`,
  runs: 'Runs',
  about: '{workflow}, started by {starter} {when}',
  anApiKey: 'an API key',
  cancel: 'Cancel experiment',
  confirmCancel: {
    title: 'Cancel this experiment?',
    consequence: 'Its open rehearsals are cancelled, too. What is done stays.',
  },
  cancelled: 'Experiment cancelled',
  failed: 'The experiment failed: {error}',
  runsDone: (done: string, total: string) => `${done} of ${total} runs are done`,
} as const;

/** Messages for the summary of an experiment. */
export const experimentSummary = {
  title: 'Summary',
  equal: 'Equal output',
  changed: 'Changed output',
  failed: 'Failed',
  withoutResult: 'Without a result',
  checksWon: 'Checks fixed',
  checksLost: 'Checks broken',
  spent: 'Spent by the experiment',
  spentOf: (spent: string, budget: string) => `${spent} of ${budget}`,
  perRun: 'Per run {mean}, 95% between {low} and {high}',
  noDifference: 'No difference',
} as const;

/** The verdict of an experiment, and what to do next. */
export const experimentVerdict = {
  breaks: (broken: string, all: string, check: string) =>
    `Do not publish: ${broken} of ${all} runs break “${check}”`,
  fails: (failed: string, all: string) => `Do not publish: ${failed} of ${all} runs fail`,
  fine: 'No check broke',
  fixed: (fixed: string) => `No check broke, ${fixed} fixed`,
  same: (all: number) =>
    plural(all, { one: 'Same output in the run', other: 'Same output in all # runs' }),
  differs: (changed: string, all: string) =>
    `Outputs differ in ${changed} of ${all} runs; no checks`,
  nothing: 'No verdict: no run has a result',
  noRuns: 'No verdict: no run was rehearsed',
  othersBroken: (checks: number) =>
    plural(checks, { one: '# other check broke, too.', other: '# other checks broke, too.' }),
  alsoFail: (runs: number) => plural(runs, { one: '# run fails.', other: '# runs fail.' }),
  withoutResult: (runs: number) =>
    plural(runs, {
      one: '# run has no result, because it needs a step that was not recorded.',
      other: '# runs have no result, because they need steps that were not recorded.',
    }),
  refused: (runs: number) =>
    plural(runs, {
      one: '# run was refused. The table below has the reason.',
      other: '# runs were refused. The table below has the reasons.',
    }),
  outdated: 'The draft was saved after this experiment.',
  publish: 'Publish…',
  openDraft: 'Open draft',
} as const;

/** Messages for the runs of an experiment, and of what changed in them. */
export const comparedRuns = {
  table: 'Runs of the experiment, the worst first',
  noneYet: 'No run is done yet',
  none: 'No run was rehearsed',
  noneOf: 'No run has this result',
  filter: 'Result',
  all: (runs: string) => `All ${runs}`,
  of: (result: string, runs: string) => `${result} ${runs}`,
  input: 'Input',
  beforeColumn: 'Before',
  after: 'After',
  cost: 'Cost',
  time: 'Time',
  times: (runs: string) => `${runs} ×`,
  sameOutput: 'Same output',
  deleted: 'The run was deleted',
  runsOf: (runs: number) => plural(runs, { one: 'Show # other run', other: 'Show # other runs' }),
  hideRuns: 'Hide runs',
  rehearsal: 'Rehearsal',
  checks: { won: 'Fixed: {name}', lost: 'Broken: {name}' },
  moreChanges: (count: string) => `and ${count} more changes`,
  more: 'and more',
  notThere: 'Not there',
  noDifference: '–',
} as const;

/** The results by which the runs of an experiment are filtered. */
export const experimentResults = {
  failed: 'Failed',
  broken: 'Check broken',
  changed: 'Changed',
  equal: 'Equal',
  none: 'No result',
} as const;

/** The statuses of experiments. */
export const experimentStatuses = {
  running: 'Running',
  done: 'Done',
  cancelled: 'Cancelled',
  failed: 'Failed',
} as const satisfies Record<ListedExperiment['status'], string>;

/** The candidate of an experiment. */
export const experimentCandidate = {
  draft: 'Draft',
  version: (version: number) => `Version ${version}`,
} as const;

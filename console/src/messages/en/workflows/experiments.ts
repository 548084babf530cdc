import type { ComparedRun, ListedExperiment } from '#client/index.ts';
import { plural } from '#console/src/messages/format.ts';

type Change = NonNullable<ComparedRun['diff']>['differences'][number]['change'];

/** Messages for the experiments of a workflow. */
export const experimentsTab = {
  title: 'Experiments',
  required:
    'This workflow is published only after an experiment that lost no check and failed no run.',
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
  checksWon: 'Checks won',
  checksLost: 'Checks lost',
} as const;

/** Messages for the form that starts an experiment. */
export const startExperiment = {
  try: 'Try on past runs',
  start: 'Start experiment',
  about:
    'Rehearses past runs and compares the results. Steps take their results from the record, so nothing is sent, and no data changes.',
  agents: 'Ask models where the record has no answer',
  agentsAbout:
    'For agents that the candidate changes. Costs money. Without it, such runs have no result.',
  budget: 'Budget (USD)',
  budgetAbout: 'What the experiment may spend. Leave empty for the budgets of the workspace alone.',
  candidate: 'Candidate',
  theDraft: 'The draft',
  version: (version: number) => `Version ${version}`,
  runsAbout: (most: string) => `The newest runs that have ended, at most ${most}`,
  endedStatuses: 'Success and failed',
  success: 'Success',
  failed: 'Failed',
} as const;

/** Messages for the page of an experiment. */
export const experimentPage = {
  title: 'Experiment',
  titleOf: (candidate: string) => `Experiment: ${candidate}`,
  runs: 'Runs, the worst first',
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
  checksWon: 'Checks won',
  checksLost: 'Checks lost',
  spent: 'Spent by the experiment',
  spentOf: (spent: string, budget: string) => `${spent} of ${budget}`,
  perRun: 'Per run {mean}, 95% between {low} and {high}',
} as const;

/** Messages for the runs of an experiment, and of what changed in them. */
export const comparedRuns = {
  noneYet: 'No run is done yet',
  none: 'No run was rehearsed',
  show: (count: number) => plural(count, { one: 'Show # change', other: 'Show # changes' }),
  showOfMore: (count: number) => plural(count, { one: 'Show #+ change', other: 'Show #+ changes' }),
  hide: (count: number) => plural(count, { one: 'Hide # change', other: 'Hide # changes' }),
  hideOfMore: (count: number) => plural(count, { one: 'Hide #+ change', other: 'Hide #+ changes' }),
  rehearsal: 'Rehearsal',
  checks: { won: '{name}: won', lost: '{name}: lost' },
  theOutput: 'The output',
  changes: {
    added: '{path} added',
    removed: '{path} removed',
    changed: '{path} changed',
  } as const satisfies Record<Change, string>,
  notThereBefore: 'Not there before',
  notThereAnyMore: 'Not there any more',
  before: (path: string) => `${path} before`,
  withCandidate: (path: string) => `${path} with the candidate`,
  more: 'There are more changes: compare the two runs.',
} as const;

/** The possible results of a rehearsal. */
export const experimentOutcomes = {
  equal: 'Equal',
  changed: 'Changed',
  failed: 'Failed',
  unrecorded: 'Unrecorded',
  refused: 'Refused',
} as const satisfies Record<ComparedRun['outcome'], string>;

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

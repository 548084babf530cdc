import type { BacktestFinding } from '#client/index.ts';
import { plural } from '#console/src/messages/format.ts';

/** Messages for the trial of policies on past runs. */
export const historyTrial = {
  title: 'Try on history',
  about:
    'Judges the recorded steps of past runs by the rules above, including unsaved changes. Nothing is executed or changed.',
  runsOf: 'Runs of',
  lastHour: 'Last hour',
  last24Hours: 'Last 24 hours',
  last7Days: 'Last 7 days',
  last30Days: 'Last 30 days',
  lastYear: 'Last year',
  allWorkflows: 'All workflows',
  start: 'Try on history',
  pastTitle: 'Tried on history',
} as const;

/** Messages for the progress and the result of a trial. */
export const backtestResult = {
  label: 'Result of the trial',
  since: 'Steps of runs created since {since}.',
  sinceOneWorkflow: 'Steps of runs created since {since}, of one workflow.',
  tried: 'Tried {time}.',
  triedBy: 'Tried {time} by {name}.',
  failed: 'The trial failed',
  isCancelled: 'The trial was cancelled',
  cancelledAbout: 'The result is that of the steps so far.',
  steps: (done: string) => `${done} steps`,
  stepsOf: (done: string, total: string) => `${done} of ${total} steps`,
  cancel: 'Cancel trial',
  cancelled: 'Trial cancelled',
  progress: 'Progress of the trial',
} as const;

/** Messages for the steps that would be judged differently. */
export const backtestSteps = {
  allDifferences: 'All differences',
  table: 'Differences',
  truncated:
    'There are more such steps. The counts are exact, but only the newest 10,000 are kept.',
} as const;

/** The counts of a trial in sentences. */
export const sentences = {
  wouldBlock: (count: number) =>
    plural(count, { one: '# step would be blocked.', other: '# steps would be blocked.' }),
  wouldRedact: (count: number) =>
    plural(count, {
      one: '# step would have data redacted that was sent.',
      other: '# steps would have data redacted that was sent.',
    }),
  wouldAllow: (count: number) =>
    plural(count, {
      one: '# step that was blocked or redacted would be allowed.',
      other: '# steps that were blocked or redacted would be allowed.',
    }),
  noDifference: 'No step would be judged differently.',
  judged: (count: number) =>
    plural(count, { one: '# step was judged.', other: '# steps were judged.' }),
  hidden: (count: number) =>
    plural(count, {
      one: '# step could not be judged, because what matters was redacted or is not stored.',
      other: '# steps could not be judged, because what matters was redacted or is not stored.',
    }),
} as const;

/** The names of the effects in the filter of steps. */
export const effectNames = {
  would_block: 'Would be blocked',
  would_redact: 'Would be redacted',
  would_allow: 'Would be allowed',
} as const satisfies Record<BacktestFinding['effect'], string>;

type Decision = BacktestFinding['before'];

/** Messages for the decisions about a step. */
export const decisions = {
  decision: {
    allowed: 'Allowed',
    redacted: 'Redacted',
    blocked: 'Blocked',
  } satisfies Record<Decision, string>,
  newDecision: {
    allowed: 'allowed',
    redacted: 'redacted',
    blocked: 'blocked',
  } satisfies Record<Decision, string>,
  changed: (before: string, after: string) => `${before} → ${after}`,
} as const;

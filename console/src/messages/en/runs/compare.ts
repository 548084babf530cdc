/** Messages for the page that compares two runs. */
export const compare = {
  title: 'Compare runs',
  otherWorkflow: 'The runs are of different workflows. Steps with the same key are compared.',
  cut: (steps: string) => `Compares the first ${steps} steps.`,
  figures: 'Figures of the runs',
  figure: 'Figure',
  older: 'Older run',
  newer: 'Newer run',
  difference: 'Newer − older',
  draft: 'Draft',
  inState: (step: string) => `State at “${step}”`,
} as const;

/** Messages for the compared steps. */
export const compareSteps = {
  differ: (different: string, all: string) => `${different} of ${all} steps differ`,
  onlyDifferences: 'Only differences',
  empty: 'No steps yet',
  noDifference: 'No step differs',
  scrollable: 'Compared steps, scrollable',
  table: 'Compared steps',
  notReached: 'Not reached',
  outputs: {
    same: 'Same',
    differs: 'Differs',
    'older only': 'Only older',
    'newer only': 'Only newer',
  },
} as const;

/** Messages for the results of one step in both runs. */
export const compareResults = {
  title: (step: string) => `Results of ${step}`,
  differences: 'Differences',
  notReached: 'The run did not reach this step.',
  sides: {
    older: { name: 'Older run', result: 'the result of the older run' },
    newer: { name: 'Newer run', result: 'the result of the newer run' },
  },
} as const;

/** Messages for the page that compares two runs. */
export const compare = {
  title: 'Compare runs',
  swap: 'Swap sides',
  otherWorkflow: 'The runs are of different workflows. Steps with the same key are compared.',
  cut: (steps: string) => `Compares the first ${steps} steps.`,
  figures: 'Figures of the runs',
  figure: 'Figure',
  left: 'Left',
  right: 'Right',
  difference: 'Difference',
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
    'left only': 'Left only',
    'right only': 'Right only',
  },
} as const;

/** Messages for the results of one step in both runs. */
export const compareResults = {
  title: (step: string) => `Results of ${step}`,
  differences: 'Differences',
  wholeResult: 'The result',
  nothing: 'nothing',
  moreDifferences: 'There can be more differences.',
  notReached: 'The run did not reach this step.',
  sides: {
    left: { name: 'Left', result: 'the result on the left' },
    right: { name: 'Right', result: 'the result on the right' },
  },
} as const;

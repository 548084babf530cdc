/** Messages for the test of a node. */
export const nodeTestPanel = {
  noRuns:
    'No runs yet. Run the workflow once, or edit the state under “Input”: tests start with it.',
  test: 'Test',
  runAbout: 'Uses the state this node had in that run',
  allow: 'Allow',
  allowAbout: 'Executed for real, with its costs',
  usePins: (nodes: string) => `Use pinned outputs of ${nodes}`,
  pin: 'Pin output',
  pinOfRun: 'Pin output of the run',
  unpin: 'Unpin',
} as const;

/** Messages for the result of a test. */
export const testResult = {
  title: 'Result of the test',
  openRun: 'Open the test run',
  theInput: 'the input',
  theOutput: 'the output',
} as const;

/** Options of a list of runs. */
export const runChoices = {
  /** Without a version, for a run of a draft. */
  run: (at: string, status: string, version: string | undefined) =>
    `${at} · ${status} · ${version === undefined ? 'draft' : `version ${version}`}`,
} as const;

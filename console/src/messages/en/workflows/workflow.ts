import { plural } from '#console/src/messages/format.ts';

/** Messages for the page of one workflow. */
export const workflowPage = {
  tabs: {
    graph: 'Graph',
    runs: 'Runs',
    versions: 'Versions',
    experiments: 'Experiments',
    triggers: 'Triggers',
    checks: 'Checks',
    settings: 'Settings',
  },
  version: (version: string) => `Version ${version}`,
  publish: 'Publish',
  published: 'Workflow published',
} as const;

/** Messages for the graph of a workflow. */
export const graphTab = {
  empty: {
    title: 'The graph is empty',
    about: 'The nodes of a workflow and the order in which they run are drawn here.',
    openEditor: 'Open the editor',
  },
  fixToRun: 'Fix these errors to run',
  theNode: 'the node',
  selectNode: 'Select a node to see its settings.',
} as const;

/** Messages for the runs of a workflow. */
export const runsTab = {
  viewInRuns: 'View in Runs',
  empty: {
    title: 'No runs yet',
    about:
      'Each execution of this workflow appears here with its status, cost and duration. Start one with “Run”.',
  },
  table: 'Runs of the workflow',
} as const;

/** Messages for the settings of a workflow. */
export const settingsTab = {
  general: 'General',
  id: (id: string) => `Workflow ID: ${id}`,
  theId: 'the workflow ID',
  template: 'Template',
  templateAbout: 'Save the current graph and checks as a template that others can start from.',
  deleteAbout: 'Deletes the workflow with its versions and runs. You cannot undo this.',
  noCap: 'Runs have no cost cap.',
  capIs: (dollars: string) => `Cost cap per run: ${dollars}.`,
  missingPermission: 'You need the create_edit_workflows permission to change it.',
  saved: 'Settings saved',
  cap: 'Cost cap per run (USD)',
  capAbout: 'A run that would cost more fails. Leave empty for no cap.',
  overrun: 'Allow one step above the cap',
  overrunAbout:
    'A step begins while something is left. Otherwise it begins only if everything it may cost fits.',
  requiresExperiment: 'Publish only after an experiment',
  requiresExperimentAbout:
    'Before a draft is published, it needs an experiment that breaks no check and fails no run.',
  delete: 'Delete workflow',
  deleted: 'Workflow deleted',
  confirmDelete: {
    title: 'Delete this workflow?',
    consequence:
      'This deletes {name} with its {runs}, its versions, schedules and webhook. You cannot undo this.',
  },
  runs: (count: number) => plural(count, { one: '# run', other: '# runs' }),
} as const;

/** Messages for the form that creates a template of a workflow. */
export const saveTemplate = {
  open: 'Save as template',
  title: 'Save as template',
  save: 'Save template',
  saved: 'Template saved',
  sampleInput: 'Sample input',
} as const;

/** Messages for the dialog that starts a run. */
export const runDialog = {
  title: 'Run workflow',
  problems: 'Problems of this workflow',
} as const;

/** Messages for the input of a run. */
export const runInput = {
  about: 'A JSON object. Prompts and expressions can use its keys.',
  noneExpected: 'This workflow expects no inputs.',
  expected: (keys: string) => `Inputs this workflow expects: ${keys}`,
  notAnObject: 'Enter a JSON object, like {}',
} as const;

/** Messages for the schema of the input of runs. */
export const inputPanel = {
  schema: 'Input of runs',
  schemaAbout: 'What every run is given. Without fields, it accepts any input.',
  fromGraph: 'Create from the graph',
} as const;

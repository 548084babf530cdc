import { plural } from '#console/src/messages/format.ts';

/** Messages for the page of templates. */
export const gallery = {
  title: 'Templates',
  about:
    'Start a workflow from a template. Built-in templates run without setup and make no external calls.',
  mayNotCreate:
    'You need the create_edit_workflows permission to create a workflow from a template.',
  builtIn: 'Built-in templates',
  own: 'Your templates',
  noOwn: 'No custom templates yet',
  noOwnAbout:
    'A template of your own starts the same workflow again with one click. To create one, open the settings of a workflow and select “Save as template”.',
} as const;

/** Messages for one template. */
export const templateCard = {
  useAndRun: 'Use and run',
  use: 'Use',
  preview: 'Preview',
  created: (name: string) => `Workflow created from “${name}”`,
  notRun: 'The workflow was created but did not run',
  deleteTitle: (name: string) => `Delete “${name}”?`,
  deleteConsequence: 'Workflows created from it are not affected.',
  deleteConfirm: 'Delete template',
  deleted: (name: string) => `Template “${name}” deleted`,
} as const;

/** Messages for the preview of a template. */
export const templatePreview = {
  checks: 'Checks',
  limits: 'Limits',
  theLimits: 'the limits',
  sampleInput: 'Sample input',
  theSampleInput: 'the sample input',
} as const;

/** Messages for the picture of a graph. */
export const miniature = {
  label: (nodes: number) => plural(nodes, { one: 'Graph of # node', other: 'Graph of # nodes' }),
  labelWithGate: (nodes: number) =>
    plural(nodes, {
      one: 'Graph of # node, with a human gate',
      other: 'Graph of # nodes, with a human gate',
    }),
} as const;

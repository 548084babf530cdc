import type { Workflow } from '#client/index.ts';

/** Messages for the list of workflows. */
export const workflowList = {
  about: 'All workflows and their recent results.',
  new: 'New workflow',
  searchIn: 'Name, description or ID',
  empty: {
    title: 'No workflows yet',
    about:
      'A workflow is a graph of agents, tools and human gates that runs to its end even if the service restarts. Start from a template, or create one from scratch.',
    browseTemplates: 'Browse templates',
  },
  noMatch: {
    title: 'No matching workflows',
    about: 'Search for another name, description or ID.',
  },
  successRate: 'Success rate',
  averageCost: 'Average cost',
  averageDuration: 'Average duration',
  neverRun: 'never',
} as const;

/** Whether a workflow is published. */
export const workflowStates = {
  draft: 'Draft',
  published: 'Published',
} as const satisfies Record<Workflow['status'], string>;

/** Messages for the form that creates a workflow. */
export const createWorkflow = {
  title: 'New workflow',
  create: 'Create workflow',
  startFrom: 'Start from',
  empty: 'Empty',
  fromJson: 'From JSON',
  graphAbout: 'A JSON object with nodes and edges',
  startsEmpty: 'The editor opens with an empty graph.',
} as const;

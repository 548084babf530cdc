import { plural } from '#console/src/messages/format.ts';

/** Messages for the versions of a workflow. */
export const versionsTab = {
  title: 'Versions',
  label: 'Versions of the workflow',
  saved: 'Saved',
  author: 'Author',
  note: 'Note',
  nodes: 'Nodes',
  edges: 'Edges',
  view: 'View',
  latest: 'Latest',
  unknownAuthor: 'Unknown',
  noNote: 'No note',
  graphOf: (version: number) => `Graph of version ${version}`,
  changesBetween: (from: number, to: number) => `Changes from version ${from} to ${to}`,
} as const;

/** Messages for the selected version. */
export const shownVersion = {
  title: (version: number) => `Version ${version}`,
  titleBetween: (from: number, to: number) => `Version ${from} to ${to}`,
  compareWith: 'Compare with',
  nothing: 'nothing',
  empty: 'This version has an empty graph',
  theGraph: 'the graph',
  inputSchema: 'Input schema',
  theInputSchema: 'the input schema',
} as const;

/** Messages for making an earlier version the latest one. */
export const rollBack = {
  rollBack: (version: number) => `Roll back to version ${version}`,
  title: (version: number) => `Roll back to version ${version}?`,
  consequence: (version: number, latest: number) =>
    `The graph and input schema of version ${version} become version ${latest + 1}. New runs, webhooks and schedules use it at once. Version ${latest} stays in the list.`,
  empty: (version: number) =>
    `Version ${version} has no nodes, so a run of it could do nothing. Choose another version.`,
  problems: (version: number) => `Problems of version ${version}`,
  note: 'Note',
  noteAbout: 'Why you roll back. Everyone who can see the workflow can read it.',
  suggestedNote: (version: number) => `Rolled back to version ${version}`,
  done: (version: number, saved: number) =>
    `Rolled back: version ${saved} has the content of version ${version}`,
} as const;

/** Messages for the differences between two versions. */
export const diffView = {
  none: 'No differences',
  graph: 'Graph of the changes',
  fates: { added: 'added', removed: 'removed', changed: 'changed' },
  counts: {
    added: (count: number) => plural(count, { other: '# added' }),
    removed: (count: number) => plural(count, { other: '# removed' }),
    changed: (count: number) => plural(count, { other: '# changed' }),
  },
  legend: 'Added edges are thick. Removed edges are faded.',
  more: (count: number) => plural(count, { other: 'and # more' }),
  parts: { node: 'node {name}', edge: 'edge {name}', input: 'input {name}' },
  before: (name: string) => `${name} before`,
  after: (name: string) => `${name} after`,
} as const;

/** The names of the parts of a version that have no name of their own. */
export const partNames = {
  schema: 'schema',
  edge: (source: string, target: string) => `${source} to ${target}`,
  edgeOfBranch: (source: string, target: string, branch: string) =>
    `${source} to ${target} (${branch})`,
} as const;

import type { Feed } from '#client/index.ts';

/** Messages for the page of feeds. */
export const feeds = {
  title: 'Feeds',
  about: 'Streams of records. Workflows and programs write to them. Data keys read them.',
  new: 'New feed',
  list: 'Feeds',
  showArchived: 'Show archived',
  empty: {
    title: 'No feeds yet',
    about:
      'A feed receives records from programs and workflows, keeps their history, and serves them to readers over the data API.',
    create: 'Create feed',
  },
} as const;

/** Messages for the table of feeds. */
export const feedTable = {
  label: 'Feeds',
  recordTypes: 'Record types',
  latestRecord: 'Latest record',
  lastReceived: 'Last received',
  anyType: 'Any',
  noRecord: 'None yet',
  neverReceived: 'never',
} as const;

/** Messages for one feed. */
export const feed = {
  latestEvents: 'Latest events',
  specification: 'Specification',
  theSpecification: 'the specification',
  archive: 'Archive',
  archived: 'Feed archived',
  reactivate: 'Reactivate',
  reactivated: 'Feed reactivated',
  deleted: 'Feed deleted',
  confirmDelete: {
    title: 'Delete this feed?',
    consequence:
      'This deletes {name} with all its records, their history and their events. You cannot undo this. To keep the data, archive the feed instead.',
    confirm: 'Delete feed',
  },
  mode: 'Mode',
  latestRecord: 'Latest record',
  noRecord: 'None yet',
  lastReceived: 'Last received',
  neverReceived: 'Never',
  recordTypes: 'Record types',
  anyType: 'Any',
  latestRecords: 'Latest records',
  viewRecords: 'View all records',
  viewChanges: 'View changes',
  empty: {
    title: 'No records yet',
    about: 'Send the first record with the command on this page, or from a workflow.',
  },
} as const;

/** Messages for the form of a feed. */
export const feedForm = {
  newTitle: 'New feed',
  editTitle: 'Edit feed',
  create: 'Create feed',
  created: 'Feed created',
  saved: 'Feed saved',
  recordTypes: 'Record types',
  recordTypesAbout:
    'The record types that the feed accepts. Leave empty to accept any. Press Enter after each.',
  recordTypesPlaceholder: 'project',
  demo: 'Demo feed',
  demoAbout: 'Only test keys can read its records. You cannot change this later.',
  objects: 'Specification (JSON)',
  specification: {
    label: 'Specification',
    description: 'What the feed monitors, how and how often.',
  },
  geography: {
    label: 'Geography',
    description: 'The area that its records cover, such as {"country": "US", "region": "TX"}.',
  },
  schema: {
    label: 'Schema',
    description: 'The attributes of its records, as JSON Schema or a description.',
  },
  notAnObject: 'Enter a JSON object.',
} as const;

/** Messages for the filter by feed. */
export const feedSelect = {
  label: 'Feed',
  all: 'All feeds',
} as const;

/** Labels of the statuses of feeds. */
export const feedStatus = {
  active: 'Active',
  paused: 'Paused',
  degraded: 'Degraded',
  archived: 'Archived',
} as const satisfies Record<Feed['status'], string>;

/** Messages about how a program sends records to a feed. */
export const ingestHint = {
  title: 'Send records',
  workflows: 'Workflows send records with the tools {entityTool} and {eventTool}.',
  programs: 'Programs send them over HTTP, up to 1,000 at once.',
  programsWithKey:
    'Programs send them over HTTP, up to 1,000 at once, with an {apiKey} that has the manage_workspace permission.',
  apiKey: 'API key',
  theCommand: 'the command',
  wholeRecords:
    'The external key identifies a record. Always send the whole record. If nothing changed, sending it again has no effect. If something changed, it creates a new version.',
  keyPlaceholder: 'an API key',
} as const;

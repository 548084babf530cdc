import type { Entity } from '#client/index.ts';

/** Messages for the page of changes. */
export const changes = {
  title: 'Changes',
  about: 'Attribute changes in existing records, newest first.',
  type: 'Type',
  typePlaceholder: 'project',
  recordId: 'Record ID',
  paused: 'Paused while you read older changes.',
  refreshes: 'Refreshes every 5 s.',
  backToLatest: 'Back to latest',
  empty: {
    title: 'No changes yet',
    about:
      'A change has the former and the new value of an attribute. It appears when you send an existing record with a different attribute.',
    openFeeds: 'Open feeds',
  },
} as const;

/** Messages for the table of changes. */
export const changeTable = {
  record: 'Record',
  attribute: 'Attribute',
  change: 'Change',
  version: (version: number) => `version ${version}`,
} as const;

/** Messages for the page of records. */
export const entities = {
  title: 'Records',
  about: 'Records of all feeds, newest first. Reading them here costs no credits.',
  table: 'Records',
  empty: {
    title: 'No records yet',
    about:
      'A record is one thing that programs and workflows report, with its history and sources. Each feed shows the command that sends the first one.',
    openFeeds: 'Open feeds',
  },
  noMatch: {
    title: 'No matching records',
    about: 'Remove a filter to see more records.',
    clear: 'Clear filters',
  },
} as const;

/** Messages for the filters of records. */
export const recordFilters = {
  typePlaceholder: 'project',
  place: 'City, region or country',
  placePlaceholder: 'Austin',
  any: 'Any',
  anyConfidence: 'Any confidence',
  atLeast: (percent: string) => `At least ${percent}`,
  updatedSince: 'Updated since',
} as const;

/** Column headings of the table of records. */
export const recordTable = {
  record: 'Record',
  location: 'Location',
  updated: 'Updated',
} as const;

/** Messages for one record. */
export const entity = {
  attributes: 'Attributes',
  noAttributes: 'No attributes.',
  externalIds: 'External IDs',
  sources: 'Sources',
  noSources: 'No sources. The sender did not name any.',
  history: 'History',
  about: '{type} in {feed}',
  location: 'Location',
  aliases: 'Aliases',
  firstSeen: 'First seen',
  lastSeen: 'Last seen',
  updated: 'Updated',
  lastVerified: 'Last verified',
  id: 'ID',
} as const;

/** Messages for the versions of a record. */
export const entityHistory = {
  version: (version: number) => `Version ${version}`,
  showAttributes: 'Show all attributes',
  hideAttributes: 'Hide attributes',
  changesIn: (version: number) => `Changes in version ${version}`,
  attribute: 'Attribute',
  before: 'Before',
  after: 'After',
  created: 'Created.',
  changed: (attributes: string) => `Changed ${attributes}.`,
  unchanged: 'No attributes changed.',
  attributesOf: (version: number) => `the attributes of Version ${version}`,
  attributeBefore: (attribute: string) => `${attribute} before`,
  attributeAfter: (attribute: string) => `${attribute} after`,
} as const;

/** Messages for the events of records. */
export const eventList = {
  viewRecord: 'View record',
  empty: {
    title: 'No events yet',
    about:
      'An event is something that happened to a record, such as an application that was filed. Send events with the records.',
  },
} as const;

/** Messages for the sources of a record or an event. */
export const evidence = {
  unnamed: 'Unnamed source',
  retrieved: 'retrieved {time}',
  demo: 'Demo',
} as const;

/** Labels for record values that have no text. */
export const value = {
  empty: 'empty',
  none: 'none',
} as const;

/** Labels of the verification statuses. */
export const verificationTexts = {
  unverified: 'Unverified',
  machine_verified: 'Machine',
  human_reviewed: 'Human review',
  multi_source_verified: 'Multiple sources',
} as const satisfies Record<Entity['verification_status'], string>;

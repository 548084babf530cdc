import { plural } from '#console/src/messages/format.ts';

/** Messages for the page of queues. */
export const queues = {
  title: 'Queues',
  about: 'Who holds the slots of the limits of workflows, and who waits, in order.',
  label: (workflow: string) => `Queue of ${workflow}`,
  forKey: 'Key {key}',
  workflow: 'Open workflow',
  place: 'Place',
  deadlock: 'Deadlock',
  deadlockAbout:
    'The runs that hold the slots wait for runs that wait like this one. Cancel one of them.',
  priority: 'Priority',
  since: 'Since',
  inFlight: 'In flight',
  inFlightOf: (used: number, limit: number) => `${used} of ${limit} in flight`,
  debounced: 'Waits for triggers',
  waiting: (count: number) => plural(count, { one: '# waits', other: '# wait' }),
  more: (count: number) => plural(count, { one: '# more waits', other: '# more wait' }),
  cancel: 'Cancel run',
  cancelled: 'Run cancelled',
  askCancel: {
    title: 'Cancel this run?',
    consequence: 'It leaves its place. A run that waits has no effect yet.',
    confirm: 'Cancel run',
  },
  empty: {
    title: 'No queues',
    about:
      'A workflow with a limit in its settings shows here which runs are in flight and which wait.',
  },
} as const;

/** Messages for the place of one run in its queue. */
export const queuedRun = {
  label: 'Its queue',
  /** `Queued: number 2 of 5 for customer acme` */
  concurrency: 'Queued: number {position} of {length}, until a slot of the workflow is free.',
  concurrencyKey: 'Queued: number {position} of {length} for {key}, until a slot is free.',
  rate: 'Queued: number {position} of {length}, until the rate of the workflow lets it start.',
  rateKey: 'Queued: number {position} of {length} for {key}, until the rate lets it start.',
  debounce: 'Waits for further triggers, until',
  debounceKey: 'Waits for further triggers for {key}, until',
  show: 'Show queue',
} as const;

/** Messages for the limits of a workflow. */
export const limitsForm = {
  title: 'Limits',
  about:
    'They count for all versions and for whatever starts a run. Rehearsals and tests have no limits.',
  concurrency: 'Runs in flight at a time',
  concurrencyAbout: 'Leave empty for no limit.',
  key: 'Key',
  keyAbout: 'A template over the input, such as {customer}: each value has its own limit.',
  onLimit: 'When all slots are taken',
  modes: {
    queue: 'Further runs wait',
    reject: 'Further runs are refused',
    skip: 'Further runs are skipped',
    cancel_running: 'Older runs are cancelled',
  },
  hold: 'Hold the slot while a person decides',
  holdAbout:
    'Otherwise, a run that pauses gives up its slot, and waits for another one to continue.',
  rate: 'Starts',
  rateAbout: 'Further runs wait. Leave empty for no limit.',
  seconds: 'Within seconds',
  rateKey: 'Key of the starts',
  debounce: 'Wait for further triggers, in seconds',
  debounceAbout:
    'They share one run, which gets the last input. Leave empty to start each at once.',
  debounceMost: 'Wait at most, in seconds',
  debounceMostAbout: 'From the first trigger. By default, ten times as long.',
  debounceKey: 'Key of the triggers',
  priority: 'Priority',
  priorityAbout: 'An expression over the input, from -100 to 100. The highest starts first.',
  cancelOn: 'Events that cancel runs',
  cancelOnAbout:
    'Each cancels the open runs that were created before it, or only some of them: an expression over event and the input says which.',
  cancelEvent: (place: number) => `Event ${place}`,
  cancelMatch: (place: number) => `Event ${place} only if`,
  cancelMatchExample: 'event.data.order == order',
  addCancel: 'Add event',
  removeCancel: (place: number) => `Remove event ${place}`,
  failedMatch: 'The match of an event failed {when}: {reason}',
  showEvent: 'Show event',
  save: 'Save limits',
  saved: 'Limits saved',
  noLimits: 'The workflow has no limits.',
  flightIs: (limit: number) =>
    plural(limit, { one: '# run in flight at a time.', other: '# runs in flight at a time.' }),
  rateIs: '{limit} starts within {seconds} seconds.',
  cancelledBy: (events: string) => `Cancelled by ${events}.`,
  debounceIs: 'Triggers within {seconds} seconds share a run.',
} as const;

import type { EventReplay, ListedInboundEvent } from '#client/index.ts';
import { plural } from '#console/src/messages/format.ts';

/** Messages for the log of the events that a webhook received. */
export const eventLog = {
  received: 'Received',
  outcome: 'Outcome',
  runOrReason: 'Run, event or reason',
  size: 'Size',
  kept: 'Events are kept for 30 days, and no longer than runs.',
  all: 'All',
  allOutcomes: 'All outcomes',
  period: 'Period',
  lastHour: 'Last hour',
  lastDay: 'Last 24 hours',
  lastWeek: 'Last 7 days',
  anyTime: 'Any time',
  noMatches: {
    title: 'No events match these filters',
    about: 'Remove a filter to see more events.',
  },
  empty: {
    title: 'No events yet',
    about:
      'Every request to the webhook shows up here with its outcome, including those that were refused.',
    aboutDisabled:
      'Enable webhook to receive events. Every request to it shows up here with its outcome.',
    sendFirst: 'Send a first event:',
    theCommand: 'the command for a first event',
  },
} as const;

/** Messages for one event in the log. */
export const eventRow = {
  moreLikeThis: (count: number) => plural(count, { other: '# more like this' }),
  details: 'Details',
  hide: 'Hide',
  showDetailsOf: (id: string) => `Show details of ${id}`,
  hideDetailsOf: (id: string) => `Hide details of ${id}`,
  replayed: (count: number) => plural(count, { one: 'Replayed once', other: 'Replayed # times' }),
} as const;

/** Messages for the details of an event. */
export const eventDetail = {
  whatToDo: 'What to do:',
  body: 'Body',
  theBody: 'the body',
  received: 'Received',
  eventId: 'Event ID',
  duplicateOf: 'Duplicate of',
  logEntry: 'Log entry',
  bodyNotRead: 'The body was not read.',
  bodyEmpty: 'The body was empty.',
  bodyCut: 'Only the start of the body is kept.',
  headers: 'Headers',
  theHeaders: 'the headers',
  replayedBy: 'Replayed by',
  lost: 'This event cannot be replayed, because its body was not kept in full.',
  replay: 'Replay event',
  replayOf: (id: string) => `Replay event ${id}`,
  replayTitle: 'Replay this event?',
  replayUnverified:
    'Its signature was not valid, so anyone can have sent it: check the body first. A run starts with it as input.',
  replayRefused: 'A run of the current version starts with the body as input.',
  replayStarted:
    'The event has started a run already. Another run of the current version starts with the same input.',
  replaySent: 'The event is sent again, with the body as its data.',
  replaySentUnverified:
    'Its signature was not valid, so anyone can have sent it: check the body first. It is sent as an event.',
  replayed: 'Event replayed',
} as const;

/** Messages for the progress of the newest replay of several events. */
export const replayProgress = {
  states: {
    running: 'Replaying events',
    done: 'Last replay finished',
    cancelled: 'Last replay was cancelled',
    failed: 'Last replay failed',
  } as const satisfies Record<EventReplay['status'], string>,
  replayedEvents: 'Replayed events',
  progress:
    '{done} of {total} events: {started} runs started, {sent} events sent, {duplicates} duplicates, {refused} refused. Started {when}.',
  lastRefusal: 'Last refusal: {reason}',
  cancel: 'Cancel replay',
  cancelled: 'Replay cancelled',
} as const;

/** Messages for the form that replays the events of a period. */
export const replayRange = {
  replay: 'Replay events',
  started: 'Replay started',
  about:
    'Starts a run of the current version for each event, or sends it if the webhook sends events, one after another, the oldest first, for at most 100 events. Events without a valid signature are left out: replay them one by one.',
  events: 'Events',
  refused: 'Refused, and not replayed since',
  all: 'All',
  since: 'Received since',
  until: 'Received before',
  deduplicate: 'Leave out duplicates',
  deduplicateAbout:
    'An event whose ID has started a run within the deduplication window starts no second one, and one that was sent is not sent again.',
} as const;

/** The name of each outcome of an event. */
export const eventOutcomes = {
  run: 'Run started',
  event: 'Event sent',
  duplicate: 'Duplicate',
  refused: 'Refused',
} as const satisfies Record<ListedInboundEvent['outcome'], string>;

/** Each reason for a refusal in a few words, and what to do about it. */
export const refusalReasons = {
  disabled: {
    label: 'Webhook disabled',
    remedy: 'Enable the webhook, and give its new URL to the sender.',
  },
  wrong_secret: {
    label: 'Wrong URL',
    remedy:
      'The URL ends in a secret that is not the current one. Give the current URL to the sender.',
  },
  timestamp_missing: {
    label: 'No timestamp',
    remedy:
      'The sender must send X-Service-Timestamp, in seconds since 1970, or signatures must not be required.',
  },
  timestamp_expired: {
    label: 'Timestamp too old',
    remedy: 'Check the clock of the sender, or increase the signature tolerance.',
  },
  signature_missing: {
    label: 'No signature',
    remedy: 'The sender must send X-Service-Signature, or signatures must not be required.',
  },
  signature_mismatch: {
    label: 'Wrong signature',
    remedy:
      'The sender must sign the timestamp, a dot and the body with the last part of the current URL.',
  },
  invalid_body: {
    label: 'Invalid body',
    remedy: 'The sender must send valid JSON in UTF-8.',
  },
  too_large: { label: 'Body too large', remedy: 'The sender must send at most 1 MB.' },
  rate_limited: {
    label: 'Too many requests',
    remedy: 'The sender must send fewer requests per minute, and try again later.',
  },
  quota_exceeded: {
    label: 'Monthly run limit reached',
    remedy: 'Upgrade the plan, then replay the event.',
  },
  budget_exceeded: {
    label: 'Budget exceeded',
    remedy: 'Increase the budget, then replay the event.',
  },
  graph_invalid: {
    label: 'Invalid graph',
    remedy: 'Fix the errors in the graph, then replay the event.',
  },
  input_invalid: {
    label: 'Does not fit the input schema',
    remedy: 'Change the input schema or the sender, then replay the event.',
  },
  id_reused: {
    label: 'Other event with this ID',
    remedy: 'The sender must give each event an ID of its own. Choose the header with the ID.',
  },
  too_many_events: {
    label: 'Too many events',
    remedy: 'Use another event name, or wait until the oldest events are deleted.',
  },
  limit_reached: {
    label: 'Limit reached',
    remedy: 'Wait until runs of the workflow end, raise its limit, or let the limit queue them.',
  },
  unavailable: {
    label: 'Service unavailable',
    remedy: 'The sender can send the event again, or you can replay it.',
  },
  internal: {
    label: 'Internal error',
    remedy: 'Replay the event. If it fails again, contact the operator of the service.',
  },
} as const satisfies Record<
  NonNullable<ListedInboundEvent['reason']>,
  { label: string; remedy: string }
>;

/** The size of an event. */
export const eventSize = {
  bytes: (size: string) => `${size} B`,
  kilobytes: (size: string) => `${size} kB`,
} as const;

import { plural } from '#console/src/messages/format.ts';

/** Messages for the page of events. */
export const eventList = {
  title: 'Events',
  about: 'What your programs and runs have sent, and what it did.',
  aboutWaiting: 'What open runs wait for, and until when.',
  show: 'What to show',
  sent: 'Sent',
  waiting: 'Waited for',
  filter: 'Filter events',
  namePlaceholder: 'invoice.paid',
  by: 'By',
  data: 'Data',
  did: 'What it did',
  label: 'Events',
  aRun: 'A run',
  aWebhook: 'A webhook',
  theDataApi: 'A data change',
  nothing: 'Nothing',
  comparing: 'Being compared',
  woke: (count: number) => plural(count, { one: 'ended # wait', other: 'ended # waits' }),
  started: (count: number) => plural(count, { one: 'started # run', other: 'started # runs' }),
  cancelled: (count: number) =>
    plural(count, { one: 'cancelled # run', other: 'cancelled # runs' }),
  empty: {
    title: 'No events yet',
    about:
      'An event ends the waits of runs for it, and starts the runs of its triggers. Programs send it with a request, and runs with the tool send_event.',
  },
  noMatch: { title: 'No events of this name', about: 'Names are exact, such as invoice.paid.' },
} as const;

/** Messages for the dialog that sends an event. */
export const sendEvent = {
  open: 'Send event',
  title: 'Send event',
  name: 'Name',
  nameAbout: 'Words with dots between them, such as invoice.paid',
  data: 'Data',
  dataAbout: 'JSON that waits and triggers read as event.data',
  submit: 'Send event',
  done: 'Event sent',
} as const;

/** Messages for the page of an event. */
export const eventPage = {
  sent: 'Sent',
  by: 'By',
  id: 'ID',
  /** By the end of its ID. */
  run: (id: string) => `Run ${id}`,
  ownId: 'Own id',
  depth: 'Depth',
  data: 'Data',
  dataOf: 'the data',
  again: 'Send again',
  askAgain: {
    title: 'Send this event again?',
    consequence:
      'A new event with the same name and data is sent. It ends waits and starts runs like any other.',
    confirm: 'Send again',
  },
  reserved: 'The service sends events of this name itself, so it cannot be sent again.',
  sentAgain: 'Event sent',
  woke: 'Waits it ended',
  wokeNone: 'No run waited for it.',
  started: 'Runs it started',
  startedNone: 'No trigger has this event.',
  soon: 'A run that starts soon,',
  cancelled: 'Runs it cancelled',
  cancelSoon: 'soon',
  notCancelled: 'Not cancelled: {reason}',
  refused: 'No run: {reason}',
  step: 'Step',
  of: 'of {workflow}',
} as const;

/** Messages for the list of what open runs wait for. */
export const waitList = {
  label: 'What open runs wait for',
  waitsFor: 'Waits for',
  since: 'Since',
  until: 'Until',
  aTime: 'A time',
  aCallback: 'A callback',
  aCall: (name: string) => `A free call of ${name}`,
  aSignIn: (member: string, connection: string) => `A sign-in of ${member} to ${connection}`,
  noLimit: 'No limit',
  empty: {
    title: 'No run is waiting',
    about:
      'Steps of runs that wait for a time, an event, a callback, a sign-in or a free call are listed here.',
  },
} as const;

/** Messages for the waits of a run. */
export const runWaits = {
  label: 'What the run waits for',
  time: '{step} waits until {until}',
  callback: '{step} waits for a callback',
  callbackUntil: '{step} waits for a callback, until {until}',
  event: '{step} waits for {events}',
  eventUntil: '{step} waits for {events}, until {until}',
  call: '{step} is waiting for a free call of {name}, since {since}',
  ownSignIn: '{step} uses your account. Sign in to {connection} to continue the run.',
  ownSignInAgain:
    '{step} uses your account. Your sign-in to {connection} has ended: sign in again to continue the run.',
  signInOf:
    '{step} uses the account of {member}, and waits until {member} signs in to {connection}',
  callOf: '{step} is waiting for a free call of {name} for {key}, since {since}',
  left: (duration: string) => `${duration} left`,
  due: 'due',
  more: (count: number) => plural(count, { one: 'and # more step', other: 'and # more steps' }),
} as const;

/** Messages for the event triggers of a workflow. */
export const triggerPanel = {
  title: 'Event triggers',
  new: 'New event trigger',
  empty: {
    title: 'No event triggers yet',
    about: 'An event trigger starts a run of this workflow for each event that matches.',
    create: 'Create event trigger',
  },
  label: 'Event triggers',
  event: 'Event',
  match: 'Only if',
  enabled: 'Enabled',
  always: 'Every event',
  never: 'Never',
  viewRun: 'View run',
  lastRunOf: (event: string) => `View run, the last one for ${event}`,
  skipped: 'No run {when}: {reason}',
  yes: 'yes',
  no: 'no',
  isEnabled: (event: string) => `Trigger for ${event} enabled`,
  nowEnabled: 'Event trigger enabled',
  nowDisabled: 'Event trigger disabled',
  actionsFor: (event: string) => `Actions for ${event}`,
  showEvents: 'Show events',
  confirmDelete: {
    title: 'Delete this event trigger?',
    consequence: 'Events {event} will not start any more runs by it. Active runs continue.',
    confirm: 'Delete event trigger',
  },
  deleted: 'Event trigger deleted',
} as const;

/** Messages for the dialog that creates or edits an event trigger. */
export const triggerDialog = {
  new: 'New event trigger',
  edit: 'Edit event trigger',
  create: 'Create event trigger',
  created: 'Event trigger created',
  saved: 'Event trigger saved',
  event: 'Event',
  eventAbout: 'The name of the events, such as invoice.paid or entity.created',
  match: 'Only if',
  matchAbout: 'An expression over the event, such as event.data.amount > 100. Empty: every event',
  fromData: 'The input is the data of the event',
  input: 'Input',
  inputAbout: 'Templates over the event, such as {"invoice": "{event.data.invoice}"}',
} as const;

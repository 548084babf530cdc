import type { DataEndpoint, WebhookDelivery } from '#client/index.ts';
import { plural } from '#console/src/messages/format.ts';

/** Messages for the page of endpoints. */
export const endpoints = {
  title: 'Webhooks',
  about: 'Endpoints that receive signed events about your runs and records.',
  add: 'New endpoint',
  empty: {
    title: 'No endpoints yet',
    about:
      'An endpoint is a URL that receives signed events about runs and records, so that your systems can react at once.',
    create: 'Create endpoint',
  },
  label: 'Endpoints',
  url: 'URL',
  mode: 'Mode',
  events: 'Subscribed events',
  lastDelivery: 'Last delivery',
  consecutiveFailures: (count: number) =>
    plural(count, { one: '# consecutive failure', other: '# consecutive failures' }),
  never: 'never',
} as const;

/** Messages for the page of an endpoint. */
export const endpointPage = {
  consecutiveFailures: (count: number) =>
    plural(count, { one: '# consecutive failure', other: '# consecutive failures' }),
  events: 'Subscribed events',
  lastDelivery: 'Last delivery',
  never: 'Never',
} as const;

/** Messages for the actions on an endpoint. */
export const endpointActions = {
  sendTest: 'Send test event',
  testSent: 'Test event sent',
  roll: 'Roll secret',
  confirmRoll: {
    title: 'Roll this secret?',
    consequence:
      'Deliveries are signed with the new secret immediately, and also with the current one for 24 hours. The new secret is shown once.',
  },
  confirmDelete: {
    title: 'Delete this endpoint?',
    consequence:
      '{url} will receive no more events. Pending deliveries and the delivery log are deleted.',
    confirm: 'Delete endpoint',
  },
  deleted: 'Endpoint deleted',
} as const;

/** Messages for the form of an endpoint. */
export const endpointForm = {
  new: 'New endpoint',
  edit: 'Edit endpoint',
  add: 'Create endpoint',
  saved: 'Endpoint saved',
  url: 'URL',
  urlAbout: 'Events are sent to this URL. The service must be able to reach it.',
  demo: 'Demo mode: send events of demo records instead of live records',
  demoAbout: 'You cannot change this later.',
  events: 'Subscribed events',
  eventsAbout: 'Select the events to send.',
  secret: 'Signing secret',
} as const;

/** The events that an endpoint can subscribe to, and what each says. Every endpoint receives pings. */
export const endpointEvents = {
  'run.completed': 'A run succeeded',
  'run.failed': 'A run failed or was cancelled',
  'run.paused': 'A run waits for an approval',
  'approval.requested': 'An approval was requested, at a gate or for a tool call',
  'entity.created': 'A record was created',
  'entity.updated': 'A record was changed',
  'intelligence_event.created': 'An event was created for a record',
  'intelligence_event.verified': 'An event was verified',
  'feed.status_changed': 'A feed was paused, archived or reactivated',
  'source.failed': 'A source check failed',
  'source.recovered': 'A source recovered',
  'usage.threshold_reached': 'Requests or credits reached 80% or 100% of the plan',
  'export.completed': 'An export completed',
} as const satisfies Record<Exclude<DataEndpoint['events'][number], 'ping'>, string>;

/** The statuses of endpoints. */
export const endpointStatuses = {
  active: 'Active',
  failing: 'Failing',
} as const satisfies Record<DataEndpoint['status'], string>;

/** Messages for listeners: endpoints whose events the command reads. */
export const listener = {
  status: 'Listener',
  title: 'Nothing is sent to a listener',
  about:
    'ops listen, on the machine of a developer, reads its events and forwards them. The listener is deleted 24 hours after its events were last read.',
} as const;

/** The statuses of deliveries. */
export const deliveryStatuses = {
  pending: 'Pending',
  delivered: 'Delivered',
  dead: 'Failed',
} as const satisfies Record<WebhookDelivery['status'], string>;

/** Messages for the deliveries to an endpoint. */
export const deliveryLog = {
  title: 'Deliveries',
  delivery: 'Delivery',
  attempts: 'Attempts',
  all: 'All',
  allStatuses: 'All statuses',
  kept: 'Deliveries are kept for 30 days.',
  noneOf: {
    pending: 'No pending deliveries',
    delivered: 'No delivered deliveries',
    dead: 'No failed deliveries',
  } as const satisfies Record<WebhookDelivery['status'], string>,
  noneOfAbout: 'Select another status to see more deliveries.',
  empty: {
    title: 'No deliveries yet',
    about:
      'Each event sent to this endpoint appears here with its attempts and responses. Send a test event to check that the URL is reachable.',
  },
} as const;

/** Messages for one delivery. */
export const deliveryRow = {
  showAttempts: 'Show attempts',
  hideAttempts: 'Hide attempts',
  showAttemptsOf: (id: string) => `Show attempts of ${id}`,
  hideAttemptsOf: (id: string) => `Hide attempts of ${id}`,
  nextAttempt: 'Next attempt {when}',
  attemptsOf: (id: string) => `Attempts of ${id}`,
  attempt: 'Attempt',
  attemptOfCycle: (attempt: string, cycle: string) => `${attempt} of cycle ${cycle}`,
  response: 'Response',
  retry: 'Retry',
  retryOf: (id: string) => `Retry ${id}`,
  scheduled: 'Delivery scheduled for retry',
} as const;

/** Messages for the retries of several deliveries. */
export const redeliverAll = {
  scheduled: (count: number) =>
    plural(count, {
      one: '# delivery scheduled for retry',
      other: '# deliveries scheduled for retry',
    }),
  scheduledInPart: (count: number, left: number) => {
    const scheduled = plural(count, {
      one: '# delivery scheduled for retry',
      other: '# deliveries scheduled for retry',
    });
    return `${scheduled}. ${plural(left, { other: '# did not fit in the queue. Retry again later' })}`;
  },
  noneFailed: 'No failed deliveries',
  retryAllFailed: 'Retry all failed',
  confirmRetryAll: {
    title: 'Retry all failed deliveries?',
    consequence:
      'Failed deliveries of the last 30 days are sent again with the same IDs, oldest first.',
    confirm: 'Retry all',
  },
  retryPeriod: 'Retry a period',
  retry: 'Retry deliveries',
  noneInPeriod: 'No such deliveries',
  periodAbout:
    'They are sent again with the same IDs, oldest first. Receivers that process each ID once ignore what they have.',
  deliveries: 'Deliveries',
  failed: 'Failed',
  failedAndDelivered: 'Failed and delivered',
  since: 'Created since',
  until: 'Created before',
} as const;

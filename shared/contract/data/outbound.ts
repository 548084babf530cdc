import { z } from 'zod';
import { nextCursor, refuseEmptyPeriod, timeInput, timestamp } from '#shared/contract/common.ts';
import { etag } from '#shared/contract/if-match.ts';
import { dataPageQuery, nextPage } from './envelope.ts';

/** The events of the data API, to which its keys can subscribe. */
const dataEventTypes = [
  'entity.created',
  'entity.updated',
  'intelligence_event.created',
  'intelligence_event.verified',
  'feed.status_changed',
  'source.failed',
  'source.recovered',
  'usage.threshold_reached',
  'export.completed',
  'ping',
] as const;

/** The events of runs, to which only members can subscribe. */
export const runEventTypes = [
  'run.completed',
  'run.failed',
  'run.paused',
  'approval.requested',
] as const;
export type RunEventType = (typeof runEventTypes)[number];

/** All events for webhook endpoints. */
export const outboundEventTypes = [...dataEventTypes, ...runEventTypes] as const;
export type OutboundEventType = (typeof outboundEventTypes)[number];

/** Attempts per delivery, including the first. After the last one, the delivery is a dead letter. */
export const MAX_DELIVERY_ATTEMPTS = 8;
/** Consecutive failed attempts after which an endpoint counts as failing. */
export const FAILING_AFTER = 5;
/** How long the previous secret still signs after a rotation. */
export const SECRET_OVERLAP_HOURS = 24;

const MAX_URL_LENGTH = 2_000;

const LISTENER = /^listen:[a-z0-9][a-z0-9._-]{0,62}$/;

/**
 * Whether this is the address of a listener. The service sends nothing to it: `ops listen` reads its events, and
 * forwards them to an address that only its machine can reach.
 */
export const isListener = (url: string): boolean => LISTENER.test(url);

const isHttp = (text: string): boolean => {
  const url = URL.parse(text);
  return url !== null && (url.protocol === 'http:' || url.protocol === 'https:');
};

const urlThat = (fits: (text: string) => boolean, message: string) =>
  z
    .string()
    .max(MAX_URL_LENGTH)
    .refine(fits, message)
    .refine((text) => {
      const url = URL.parse(text);
      return url === null || (url.username === '' && url.password === '');
    }, 'must not contain a user name or password');

export const endpointUrl = urlThat(isHttp, 'must be a URL that starts with http:// or https://');

const url = endpointUrl.meta({ description: 'Events are sent to it with POST' });

const memberUrl = urlThat(
  (text) => isHttp(text) || isListener(text),
  'must be a URL that starts with http:// or https://, or listen: and a name in lower case',
).meta({
  description:
    'Events are sent to it with POST. `listen:<name>` is a listener: nothing is sent, and `ops listen` reads the ' +
    'events. An endpoint cannot become a listener, or a listener an endpoint',
});

const eventsAmong = <Type extends OutboundEventType>(types: readonly Type[]) =>
  z
    .array(z.enum(types))
    .min(1)
    .max(types.length)
    .refine((events) => new Set(events).size === events.length, 'must not name an event twice')
    .meta({ description: 'The subscribed events; a `ping` is always sent' });

const endpointExample = {
  url: 'https://example.com/hooks',
  events: ['entity.created', 'entity.updated'],
};
const runEndpointExample = {
  url: 'https://example.com/hooks',
  events: ['run.failed', 'approval.requested'],
};

/** For keys of the data API. */
export const endpointInput = z
  .strictObject({ url, events: eventsAmong(dataEventTypes) })
  .meta({ examples: [endpointExample] });

const memberEvents = eventsAmong(outboundEventTypes);

/** For members. A key determines the mode of its endpoints; members set it in a field. */
export const dataEndpointInput = z
  .strictObject({
    url: memberUrl,
    events: memberEvents,
    is_demo: z.boolean().default(false).meta({
      description:
        'Receives events about demo records instead of live ones; events of runs in any case. Cannot be changed',
    }),
  })
  .meta({ examples: [runEndpointExample] });
export type DataEndpointInput = z.infer<typeof dataEndpointInput>;

/** Absent fields do not change. */
export const endpointUpdate = z
  .strictObject({ url: memberUrl.optional(), events: memberEvents.optional() })
  .meta({ examples: [{ events: ['entity.created'] }] });
export type EndpointUpdate = z.infer<typeof endpointUpdate>;

export const endpointSchema = z
  .object({
    id: z.string(),
    url: z.string(),
    events: z.array(z.enum(outboundEventTypes)),
    status: z.enum(['active', 'failing']).meta({
      description: `\`failing\` after ${FAILING_AFTER} failed attempts in a row, until one succeeds`,
    }),
    consecutive_failures: z.int().meta({ description: 'Failed attempts since the last success' }),
    last_delivery_at: timestamp.nullable().meta({ description: 'When the last attempt succeeded' }),
    created_at: timestamp,
  })
  .meta({ id: 'WebhookEndpoint' });
export type Endpoint = z.infer<typeof endpointSchema>;

const secret = z.string().meta({
  description: 'The key of the signatures. Shown only this once',
  examples: ['whsec_MfKQ9r8GKYqrTwjUPD8ILPZIo2LaLaSw...'],
});

export const newEndpointSchema = endpointSchema
  .extend({ secret })
  .meta({ id: 'NewWebhookEndpoint' });
export type NewEndpoint = z.infer<typeof newEndpointSchema>;

export const dataEndpointSchema = endpointSchema
  .extend({
    is_demo: z.boolean(),
    last_delivery_at: timestamp.nullable().meta({
      description: 'When the last attempt succeeded; when the events of a listener were last read',
    }),
    etag,
  })
  .meta({ id: 'DataEndpoint' });
export type DataEndpoint = z.infer<typeof dataEndpointSchema>;

export const newDataEndpointSchema = dataEndpointSchema
  .extend({ secret })
  .meta({ id: 'NewDataEndpoint' });
export type NewDataEndpoint = z.infer<typeof newDataEndpointSchema>;

export const rotatedSecretSchema = z
  .object({
    secret,
    previous_secret_until: timestamp.meta({
      description: 'Until then every delivery is also signed with the previous secret',
    }),
  })
  .meta({ id: 'RotatedSecret' });
export type RotatedSecret = z.infer<typeof rotatedSecretSchema>;

export const deliveryStatuses = ['pending', 'delivered', 'dead'] as const;
export type DeliveryStatus = (typeof deliveryStatuses)[number];

const deliveryAttempt = z
  .object({
    round: z.int().meta({ description: 'Increases with each redelivery' }),
    attempt: z.int(),
    started_at: timestamp,
    duration_ms: z.int(),
    status_code: z.int().nullable().meta({ description: 'Null without a response' }),
    error: z.string().nullable(),
  })
  .meta({ id: 'DeliveryAttempt' });

export const deliverySchema = z
  .object({
    id: z.string().meta({ description: 'As in the header `X-Service-Delivery`' }),
    event_id: z.string(),
    type: z.enum(outboundEventTypes),
    status: z.enum(deliveryStatuses).meta({ description: '`dead`: failed permanently' }),
    reason: z.string().nullable().meta({ description: 'Why it failed without an attempt' }),
    attempts: z.int().meta({ description: 'In the current cycle' }),
    next_attempt_at: timestamp.nullable().meta({ description: 'For a pending delivery' }),
    created_at: timestamp,
    ended_at: timestamp.nullable(),
    log: z.array(deliveryAttempt).meta({ description: 'Every attempt, oldest first' }),
  })
  .meta({ id: 'WebhookDelivery' });
export type Delivery = z.infer<typeof deliverySchema>;

export const deliveryListSchema = z
  .object({ deliveries: z.array(deliverySchema), next_cursor: nextCursor })
  .meta({ id: 'WebhookDeliveryList' });

export const deliveryPageQuery = dataPageQuery.extend({
  status: z.enum(deliveryStatuses).optional(),
});

/** Like `deliveryPageQuery`, for members. */
export const dataDeliveryQuery = deliveryPageQuery.extend(nextPage);

const endpointEventSchema = z
  .object({
    delivery_id: z.string().meta({ description: 'As in the header `X-Service-Delivery`' }),
    event_id: z.string(),
    type: z.enum(outboundEventTypes),
    created_at: timestamp,
    body: z.string().meta({ description: 'The body of the delivery: its exact bytes, as text' }),
  })
  .meta({ id: 'WebhookEndpointEvent' });
export type EndpointEvent = z.infer<typeof endpointEventSchema>;

export const endpointEventListSchema = z
  .object({ events: z.array(endpointEventSchema), next_cursor: nextCursor })
  .meta({ id: 'WebhookEndpointEventList' });

export const endpointEventQuery = dataPageQuery.extend({
  ...nextPage,
  since: timeInput.optional().meta({ description: 'Events since then; all without it' }),
  event_id: z.string().min(1).max(100).optional().meta({ description: 'Only this event' }),
});

/** Which deliveries of a range are sent again. Pending ones are retried in any case. */
const redeliveredStatuses = ['dead', 'all'] as const;

export const redeliverRangeFields = {
  since: timeInput
    .optional()
    .meta({ description: 'Deliveries of events since then; all without it' }),
  until: timeInput.optional().meta({ description: 'Deliveries of events before then' }),
  status: z.enum(redeliveredStatuses).default('dead').meta({
    description: '`dead`: those that have failed. `all`: delivered ones, too',
  }),
};

export const redeliverInput = z
  .strictObject(redeliverRangeFields)
  .check(refuseEmptyPeriod)
  .nullish()
  .meta({ examples: [{ since: '2026-11-20T00:00:00Z' }] });

export const redeliveredSchema = z
  .object({
    redelivered: z.int(),
    left: z.int().meta({
      description: 'Deliveries beyond the limit of pending ones; call again later',
    }),
  })
  .meta({ id: 'Redelivered' });
export type RedeliverRange = NonNullable<z.output<typeof redeliverInput>>;
export type Redelivered = z.infer<typeof redeliveredSchema>;

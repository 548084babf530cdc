import { z } from 'zod';
import { nextCursor, timeInput, timestamp } from '../common.ts';
import { dataPageQuery, nextPage } from './envelope.ts';

/** What webhook endpoints of the data API can be told of. */
export const outboundEventTypes = [
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
export type OutboundEventType = (typeof outboundEventTypes)[number];

/** Attempts at a delivery, the first one included; after the last it is a dead letter. */
export const MAX_DELIVERY_ATTEMPTS = 8;
/** Failed attempts in a row after which an endpoint counts as failing. */
export const FAILING_AFTER = 5;
/** For how long after a rotation the secret before signs too. */
export const SECRET_OVERLAP_HOURS = 24;

const MAX_URL_LENGTH = 2_000;

const endpointUrl = z
  .string()
  .max(MAX_URL_LENGTH)
  .refine((text) => {
    const url = URL.parse(text);
    return url !== null && (url.protocol === 'http:' || url.protocol === 'https:');
  }, 'must be a URL that begins with http:// or https://')
  .refine((text) => {
    const url = URL.parse(text);
    return url === null || (url.username === '' && url.password === '');
  }, 'must not carry a user name or password');

const endpointFields = {
  url: endpointUrl.meta({ description: 'Where events are sent to, with POST' }),
  events: z
    .array(z.enum(outboundEventTypes))
    .min(1)
    .max(outboundEventTypes.length)
    .refine((events) => new Set(events).size === events.length, 'must not name an event twice')
    .meta({ description: 'What to tell; a `ping` is sent whether named or not' }),
};
const endpointExample = {
  url: 'https://example.com/hooks',
  events: ['entity.created', 'entity.updated'],
};

export const endpointInput = z.strictObject(endpointFields).meta({ examples: [endpointExample] });

/** What members register: a key has a mode, an endpoint of theirs is given one. */
export const dataEndpointInput = z
  .strictObject({
    ...endpointFields,
    is_demo: z.boolean().default(false).meta({
      description: 'Hears of made-up records instead of real ones. Cannot be changed',
    }),
  })
  .meta({ examples: [endpointExample] });
export type DataEndpointInput = z.infer<typeof dataEndpointInput>;

/** Absent fields stay. */
export const endpointUpdate = z
  .strictObject({ url: endpointFields.url.optional(), events: endpointFields.events.optional() })
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
    last_delivery_at: timestamp.nullable().meta({ description: 'When one last succeeded' }),
    created_at: timestamp,
  })
  .meta({ id: 'WebhookEndpoint' });
export type Endpoint = z.infer<typeof endpointSchema>;

const secret = z.string().meta({
  description: 'The key of the signatures. Shown here and never again',
  examples: ['whsec_4f0s...'],
});

export const newEndpointSchema = endpointSchema
  .extend({ secret })
  .meta({ id: 'NewWebhookEndpoint' });
export type NewEndpoint = z.infer<typeof newEndpointSchema>;

export const dataEndpointSchema = endpointSchema
  .extend({ is_demo: z.boolean() })
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
      description: 'Until then every delivery is signed with the secret before, too',
    }),
  })
  .meta({ id: 'RotatedSecret' });
export type RotatedSecret = z.infer<typeof rotatedSecretSchema>;

export const deliveryStatuses = ['pending', 'delivered', 'dead'] as const;
export type DeliveryStatus = (typeof deliveryStatuses)[number];

const deliveryAttempt = z
  .object({
    round: z.int().meta({ description: 'Rises with each redelivery' }),
    attempt: z.int(),
    started_at: timestamp,
    duration_ms: z.int(),
    status_code: z.int().nullable().meta({ description: 'Null without an answer' }),
    error: z.string().nullable(),
  })
  .meta({ id: 'DeliveryAttempt' });

export const deliverySchema = z
  .object({
    id: z.string().meta({ description: 'As in the header `X-Service-Delivery`' }),
    event_id: z.string(),
    type: z.enum(outboundEventTypes),
    status: z.enum(deliveryStatuses).meta({ description: '`dead`: given up' }),
    reason: z.string().nullable().meta({ description: 'Why it was given up without an attempt' }),
    attempts: z.int().meta({ description: 'In the current round' }),
    next_attempt_at: timestamp.nullable().meta({ description: 'Of one that is pending' }),
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

/** The same for members. */
export const dataDeliveryQuery = deliveryPageQuery.extend(nextPage);

export const redeliverInput = z
  .strictObject({
    since: timeInput
      .optional()
      .meta({ description: 'Dead letters of events since then; all without it' }),
  })
  .nullish()
  .meta({ examples: [{ since: '2026-11-20T00:00:00Z' }] });

export const redeliveredSchema = z
  .object({
    redelivered: z.int(),
    left: z.int().meta({
      description:
        'Dead letters for which there is no room among the pending ones; ask again later',
    }),
  })
  .meta({ id: 'Redelivered' });
export type Redelivered = z.infer<typeof redeliveredSchema>;

import { z } from 'zod';
import { nextCursor, pageQuery, timestamp } from '#shared/contract/common.ts';
import { json } from '#shared/contract/workflows/node-common.ts';
import { eventName } from './event-name.ts';
import { sentEventName } from './reserved-names.ts';

export const eventInput = z
  .strictObject({
    name: sentEventName,
    data: json
      .default({})
      .meta({ description: 'What waits and their `match` read as `event.data`' }),
    id: z.string().min(1).max(200).optional().meta({
      description: 'Makes the event idempotent: the same id stores one event',
    }),
  })
  .meta({ examples: [{ name: 'invoice.paid', data: { invoice: 'A-1042' }, id: 'pay_81' }] });

/** `wait`: the event came to a step that waited for it. */
const wokenSchema = z
  .object({ run_id: z.string(), step_key: z.string(), workflow_id: z.string() })
  .meta({ id: 'WokenWait' });

/** What a trigger made of the event. */
const startedSchema = z
  .object({
    trigger_id: z.string(),
    workflow_id: z.string(),
    run_id: z.string().nullable(),
    refusal: z.string().nullable().meta({ description: 'Why it started no run' }),
  })
  .meta({ id: 'EventStart' });

/** What it made of a run that it may cancel. */
const cancelledSchema = z
  .object({
    run_id: z.string(),
    workflow_id: z.string(),
    cancelled_at: timestamp.nullable(),
    refusal: z.string().nullable().meta({
      description: 'Why the match failed; only for the first such run of each workflow',
    }),
  })
  .meta({ id: 'EventCancel' });

export const eventSchema = z
  .object({
    id: z.string(),
    name: z.string(),
    data: json,
    given_id: z.string().nullable().meta({
      description: 'The `id` of the request, or the id that the sender of the webhook gave it',
    }),
    source: z.enum(['api', 'tool', 'webhook', 'data']).meta({
      description:
        'A request to the API, a run that used the tool `send_event`, an inbound webhook, or a change of the data API',
    }),
    run_id: z
      .string()
      .nullable()
      .meta({ description: 'The run that sent it, or that changed the data' }),
    inbound_event_id: z.string().nullable().meta({
      description: 'What the inbound webhook received, in its log',
    }),
    created_by: z.string().nullable(),
    created_at: timestamp,
    depth: z.int().meta({
      description: 'The number of runs, each started by an event of the one before, that led to it',
    }),
    woke: z.int().meta({ description: 'The number of waits that it has ended so far' }),
    started: z.int().meta({ description: 'The number of runs that it has started so far' }),
    cancelled: z.int().meta({ description: 'The number of runs that it has cancelled so far' }),
    pending: z.boolean().meta({
      description: 'Whether it has not been compared with every wait, trigger and run yet',
    }),
  })
  .meta({ id: 'Event' });
export type Event = z.infer<typeof eventSchema>;

export const eventDetailSchema = eventSchema
  .extend({
    waits: z.array(wokenSchema).meta({ description: 'The waits that it has ended, at most 100' }),
    starts: z.array(startedSchema).meta({
      description:
        'What triggers made of it, at most 100. Without `run_id` and `refusal`, the run starts soon',
    }),
    cancels: z.array(cancelledSchema).meta({
      description:
        'The runs that it cancels, at most 100. Without `cancelled_at` and `refusal`, the run ends soon',
    }),
  })
  .meta({ id: 'EventDetail' });
export type EventDetail = z.infer<typeof eventDetailSchema>;

export const eventQuery = pageQuery.extend({ name: eventName.optional() });
export const eventPage = z.object({ events: z.array(eventSchema), next_cursor: nextCursor });

import { z } from 'zod';
import { nextCursor, pageQuery, timestamp } from '#shared/contract/common.ts';
import { json } from '#shared/contract/workflows/node-common.ts';
import { eventName } from './event-name.ts';

/** Names that the service uses for its own events. */
const RESERVED = /^(entity|intelligence_event|feed|source|usage|export|run)\./i;

export const eventInput = z
  .strictObject({
    name: eventName.refine(
      (name) => !RESERVED.test(name),
      'is reserved: names that begin with entity., intelligence_event., feed., source., usage., export. or run. are those of the service',
    ),
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

export const eventSchema = z
  .object({
    id: z.string(),
    name: z.string(),
    data: json,
    given_id: z.string().nullable().meta({ description: 'The `id` of the request' }),
    source: z.enum(['api', 'tool']).meta({
      description: 'A request to the API, or a run that used the tool `send_event`',
    }),
    run_id: z.string().nullable().meta({ description: 'The run that sent it' }),
    created_by: z.string().nullable(),
    created_at: timestamp,
    woke: z.int().meta({ description: 'The number of waits that it has ended so far' }),
    pending: z.boolean().meta({
      description: 'Whether it has not been compared with every wait yet',
    }),
  })
  .meta({ id: 'Event' });
export type Event = z.infer<typeof eventSchema>;

export const eventDetailSchema = eventSchema
  .extend({
    waits: z.array(wokenSchema).meta({ description: 'The waits that it has ended, at most 100' }),
  })
  .meta({ id: 'EventDetail' });
export type EventDetail = z.infer<typeof eventDetailSchema>;

export const eventQuery = pageQuery.extend({ name: eventName.optional() });
export const eventPage = z.object({ events: z.array(eventSchema), next_cursor: nextCursor });

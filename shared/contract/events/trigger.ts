import { z } from 'zod';
import { jsonObject, timestamp } from '#shared/contract/common.ts';
import { etag } from '#shared/contract/if-match.ts';
import { awaitedEventName } from './reserved-names.ts';

/** Event triggers: a run of a workflow for each event of a name that matches. */

/** A refused event, or one whose `match` failed. */
const skipSchema = z.object({ at: timestamp, event_id: z.string(), reason: z.string() });

export const eventTriggerSchema = z
  .object({
    id: z.string(),
    workflow_id: z.string(),
    event: z.string().meta({ description: 'The name of the events', example: 'invoice.paid' }),
    match: z.string().nullable(),
    input: jsonObject.nullable(),
    enabled: z.boolean(),
    last_run_at: timestamp.nullable(),
    last_run_id: z.string().nullable(),
    last_skip: skipSchema.nullable().meta({
      description: 'The latest event without a run, and the reason, as long as the event is kept',
    }),
    created_at: timestamp,
    etag,
  })
  .meta({ id: 'EventTrigger' });
export type EventTrigger = z.infer<typeof eventTriggerSchema>;

const fields = {
  event: awaitedEventName,
  match: z.string().min(1).max(2_000).nullable().meta({
    description: 'An expression over `event`. By default, every event of that name starts a run',
  }),
  input: jsonObject.nullable().meta({
    description:
      'The input of each run, with templates over `event`. By default, the data of the event',
  }),
  enabled: z.boolean(),
};

export const eventTriggerInput = z
  .strictObject({
    event: fields.event,
    match: fields.match.default(null),
    input: fields.input.default(null),
    enabled: fields.enabled.default(true),
  })
  .meta({
    examples: [
      {
        event: 'invoice.paid',
        match: 'event.data.amount > 100',
        input: { invoice: '{event.data.invoice}' },
      },
    ],
  });
export type EventTriggerInput = z.infer<typeof eventTriggerInput>;

/** Absent fields do not change. */
export const eventTriggerUpdate = z
  .strictObject({
    event: fields.event.optional(),
    match: fields.match.optional(),
    input: fields.input.optional(),
    enabled: fields.enabled.optional(),
  })
  .meta({ examples: [{ match: 'event.data.amount > 500' }] });
export type EventTriggerUpdate = z.infer<typeof eventTriggerUpdate>;

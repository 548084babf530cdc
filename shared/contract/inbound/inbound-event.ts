import { z } from 'zod';
import {
  nextCursor,
  pageQuery,
  refuseEmptyPeriod,
  timeInput,
  timestamp,
} from '#shared/contract/common.ts';
import { jobFields } from '#shared/contract/jobs/job.ts';

/** The result of an inbound event. */
export const eventOutcomes = ['run', 'event', 'duplicate', 'refused'] as const;
export type EventOutcome = (typeof eventOutcomes)[number];

/** Why an event was refused. */
export const refusalReasons = [
  'disabled',
  'wrong_secret',
  'timestamp_missing',
  'timestamp_expired',
  'signature_missing',
  'signature_mismatch',
  'invalid_body',
  'too_large',
  'rate_limited',
  'quota_exceeded',
  'budget_exceeded',
  'graph_invalid',
  'input_invalid',
  'id_reused',
  'too_many_events',
  'limit_reached',
  'unavailable',
  'internal',
] as const;
export type RefusalReason = (typeof refusalReasons)[number];

/** Reasons for which the sender is unknown: it had no valid signature, or did not know the URL. */
export const unverifiedReasons: ReadonlySet<string> = new Set<RefusalReason>([
  'timestamp_missing',
  'timestamp_expired',
  'signature_missing',
  'signature_mismatch',
]);

/** Bytes of a body that are stored in the log. */
export const KEPT_BODY_BYTES = 65_536;

const eventFields = {
  id: z.string(),
  workflow_id: z.string(),
  received_at: timestamp,
  outcome: z.enum(eventOutcomes),
  status: z.int().meta({ description: 'The status of the response' }),
  reason: z.enum(refusalReasons).nullable().meta({ description: 'Why it was refused' }),
  detail: z.string().nullable().meta({ description: 'The text of the refusal' }),
  run_id: z.string().nullable().meta({
    description: 'The run that it started; for a duplicate, the run that the first one started',
  }),
  sent_event_id: z.string().nullable().meta({
    description:
      'The event of the workspace that it became; for a duplicate, the one that the first one became',
  }),
  duplicate_of: z.string().nullable().meta({
    description: 'For a duplicate: the first one, while its run or event exists',
  }),
  event_id: z.string().nullable().meta({ description: 'The id that its sender gave it' }),
  source: z.string().meta({
    description: "The sender's network: an IPv4 /24 or an IPv6 /48, not the whole address",
    examples: ['203.0.113.0/24'],
  }),
  size: z.int().nullable().meta({ description: 'Bytes of the body; null: it was not read' }),
  times: z.int().meta({
    description:
      'How many events the entry stands for: over the limit per minute, they are only counted',
  }),
  replays: z.int().meta({ description: 'How many runs and events have replayed it' }),
};

const listedEventSchema = z.object(eventFields).meta({ id: 'ListedInboundEvent' });
export type ListedInboundEvent = z.infer<typeof listedEventSchema>;

export const inboundEventSchema = z
  .object({
    ...eventFields,
    headers: z.record(z.string(), z.string()).meta({
      description: 'Those that say what it is; never signatures, cookies or credentials',
    }),
    body: z
      .string()
      .nullable()
      .meta({
        description: `As it was received, up to ${KEPT_BODY_BYTES} bytes; null: it was not read`,
      }),
    body_truncated: z.boolean(),
    replayed_by: z
      .array(
        z.object({
          run_id: z.string().nullable(),
          sent_event_id: z.string().nullable(),
          created_at: timestamp,
        }),
      )
      .meta({ description: 'The newest 50 runs and events that have replayed it' }),
  })
  .meta({ id: 'InboundEvent' });
export type InboundEvent = z.infer<typeof inboundEventSchema>;

export const inboundEventListSchema = z
  .object({ events: z.array(listedEventSchema), next_cursor: nextCursor })
  .meta({ id: 'InboundEventList' });

export const inboundEventQuery = z.strictObject({
  ...pageQuery.shape,
  outcome: z.enum(eventOutcomes).optional(),
  since: timeInput.optional().meta({ description: 'Received at or after' }),
  until: timeInput.optional().meta({ description: 'Received before' }),
});

export const replayOptions = {
  deduplicate: z
    .boolean()
    .default(false)
    .meta({
      description:
        'Start no run for an event whose id has started one within the window of the webhook, or send no event whose id was ' +
        'sent. By default each replay starts a run or sends an event',
    }),
  allow_unverified: z.boolean().default(false).meta({
    description:
      'Replay events whose signature was missing, wrong or too old: anyone can have sent them',
  }),
};

export const replayBody = z
  .strictObject(replayOptions)
  .nullish()
  .meta({ examples: [{ deduplicate: false }] });

/** The maximum number of events that one replay of a range starts. */
const MAX_REPLAYED = 1_000;
const replayedOutcomes = ['refused', 'all'] as const;

export const replayRangeFields = {
  since: timeInput.meta({ description: 'Received at or after' }),
  until: timeInput.optional().meta({ description: 'Received before; by default until now' }),
  outcome: z.enum(replayedOutcomes).default('refused').meta({
    description:
      '`refused`: those that were refused and not replayed since. `all`: runs, events and duplicates, too',
  }),
  limit: z.int().min(1).max(MAX_REPLAYED).default(100).meta({
    description: 'At most so many, the oldest first',
  }),
  ...replayOptions,
};

export const replayRangeBody = z
  .strictObject(replayRangeFields)
  .check(refuseEmptyPeriod)
  .meta({ examples: [{ since: '2026-11-01T00:00:00Z', outcome: 'refused' }] });
export type ReplayRange = z.output<typeof replayRangeBody>;

const replayFields = {
  ...jobFields,
  workflow_id: z.string(),
  since: timestamp,
  until: timestamp,
  outcome: z.enum(replayedOutcomes),
  started: z.int().meta({ description: 'Runs that it has started' }),
  sent: z.int().meta({ description: 'Events that it has sent, if the webhook sends events' }),
  duplicates: z.int().meta({ description: 'Events that had started a run or were sent already' }),
  refused: z.int().meta({ description: 'Events that were refused again' }),
  last_refusal: z.string().nullable(),
};

export const eventReplaySchema = z.object(replayFields).meta({ id: 'EventReplay' });
export type EventReplay = z.infer<typeof eventReplaySchema>;

export const eventReplayListSchema = z
  .object({ replays: z.array(eventReplaySchema), next_cursor: nextCursor })
  .meta({ id: 'EventReplayList' });

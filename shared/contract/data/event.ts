import { z } from 'zod';
import { timestamp } from '#shared/contract/common.ts';
import { confidenceFilter, evidenceList, idFilter, sinceFilter, typeFilter } from './entity.ts';
import { dataPageQuery, isVerified, verificationStatuses } from './envelope.ts';

export const eventListQuery = z.strictObject({
  feed_id: idFilter,
  event_type: typeFilter,
  confidence_min: confidenceFilter,
  created_since: sinceFilter.meta({ description: 'Detected at or after' }),
  ...dataPageQuery.shape,
});

export const intelligenceEventSchema = z
  .object({
    id: z.string(),
    feed_id: z.string(),
    event_type: z.string(),
    occurred_at: timestamp,
    detected_at: timestamp,
    primary_entity_id: z.string(),
    summary: z.string(),
    relevance_score: z.number().nullable(),
    opportunity_score: z.number().nullable(),
    confidence: z.number(),
    verification_status: z.enum(verificationStatuses),
    match_reason: z.string().nullable(),
    source_evidence: evidenceList,
    delivered_at: timestamp
      .nullable()
      .meta({ description: 'When a page of the list first contained it' }),
    is_demo: z.boolean(),
  })
  .meta({ id: 'IntelligenceEvent' });
export type IntelligenceEvent = z.infer<typeof intelligenceEventSchema>;

/** The cost of a page of events. */
export const eventCredits = (
  events: readonly Pick<IntelligenceEvent, 'verification_status'>[],
): number =>
  events.reduce((sum, event) => sum + (isVerified(event.verification_status) ? 10 : 3), 0);

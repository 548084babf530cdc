import { z } from 'zod';
import { jsonObject, jsonValue, timeInput, timestamp } from '#shared/contract/common.ts';
import type { Json } from '#shared/json.ts';
import { dataPageQuery, verificationStatuses } from './envelope.ts';

export const idFilter = z.string().min(1).max(100).optional();
export const typeFilter = z.string().min(1).max(100).optional();

export const sinceFilter = timeInput.optional();

/** Not coerced: a coercion would read the empty text as 0. */
export const confidenceFilter = z
  .string()
  .regex(/^(?:0|0?\.\d{1,20}|0\.\d{1,20}|1|1\.0{1,20})$/, 'must be a number from 0 to 1')
  .transform(Number)
  .optional()
  .meta({ description: 'At least this confidence, from 0 to 1', examples: ['0.8'] });

/** Stored unchanged. It is checked, not parsed into a copy, because pages have many rows. */
export const evidenceList = z
  .custom<Json[]>((value) => Array.isArray(value))
  .meta({
    type: 'array',
    items: { $ref: '#/components/schemas/SourceEvidenceInput' },
    description: 'The sources of the record',
  });

export const entityListQuery = z.strictObject({
  feed_id: idFilter,
  entity_type: typeFilter,
  geography: z
    .string()
    .min(1)
    .max(200)
    .optional()
    .meta({ description: 'The city, region or country, in any letter case', examples: ['Austin'] }),
  confidence_min: confidenceFilter,
  updated_since: sinceFilter.meta({
    description: 'Updated at or after. The list is then sorted by the last update',
  }),
  created_since: sinceFilter.meta({ description: 'First observed at or after' }),
  ...dataPageQuery.shape,
});

export const entityReadQuery = z.strictObject({
  include: z
    .enum(['history'])
    .optional()
    .meta({ description: '`history`: include the newest versions, for 20 credits in total' }),
});

export const entitySchema = z
  .object({
    id: z.string(),
    feed_id: z.string(),
    entity_type: z.string(),
    canonical_name: z.string(),
    aliases: z.array(jsonValue),
    attributes: jsonObject,
    external_ids: jsonObject,
    geography: jsonObject,
    status: z.string(),
    verification_status: z.enum(verificationStatuses),
    confidence: z.number(),
    version: z.int(),
    source_evidence: evidenceList,
    first_observed_at: timestamp,
    last_observed_at: timestamp,
    last_verified_at: timestamp.nullable(),
    updated_at: timestamp,
    is_demo: z.boolean(),
  })
  .meta({ id: 'Entity' });
export type Entity = z.infer<typeof entitySchema>;

export const entityVersionSchema = z
  .object({
    version: z.int(),
    changed_at: timestamp,
    attributes: jsonObject,
    changed: z.array(z.string()).meta({ description: 'The attributes that this version changed' }),
  })
  .meta({ id: 'EntityVersion' });
export type EntityVersion = z.infer<typeof entityVersionSchema>;

export const entityDetailSchema = entitySchema
  .extend({
    history: z
      .array(entityVersionSchema)
      .optional()
      .meta({ description: 'Newest first, at most 1,000' }),
  })
  .meta({ id: 'EntityDetail' });

export const ENTITY_CREDITS = 5;
export const HISTORY_CREDITS = 20;

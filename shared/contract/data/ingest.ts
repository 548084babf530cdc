import { z } from 'zod';
import { jsonObject, timeInput } from '#shared/contract/common.ts';
import { verificationStatuses } from './envelope.ts';
import { typeName } from './feed.ts';
import { pastTime } from './source.ts';

/** Records per body; a stream has no limit. */
const MAX_INGEST_RECORDS = 1_000;
/** Bytes of one line of a stream. */
export const MAX_LINE_BYTES = 256 * 1024;
/** How many rejected records are listed in full. */
export const MAX_INGEST_ERRORS = 100;

const MAX_OBJECT_CHARACTERS = 100_000;
const MAX_ATTRIBUTES = 500;

/** The earliest accepted year. */
const EARLIEST = Date.parse('1000-01-01T00:00:00Z');
const recordTime = timeInput.refine((time) => Date.parse(time) >= EARLIEST, 'is before year 1000');

const externalKey = z
  .string()
  .min(1)
  .max(500)
  .meta({ description: 'Identifies the record in its feed; from its origin' });
const score = z.number().min(-1e9).max(1e9).nullish();

const evidence = z
  .strictObject({
    source_id: z.string().max(200).nullish(),
    source_name: z.string().max(500).nullish(),
    url: z.string().max(2_000).nullish(),
    retrieved_at: recordTime.nullish(),
    synthetic: z.boolean().default(false),
  })
  .meta({ id: 'SourceEvidence' });

const assessment = {
  verification_status: z.enum(verificationStatuses).default('unverified'),
  confidence: z.number().min(0).max(1).default(0),
  source_evidence: z.array(evidence).max(50).default([]),
};

const place = z.string().max(200).nullish();

export const entityRecordFields = {
  external_key: externalKey,
  entity_type: typeName,
  canonical_name: z.string().min(1).max(500),
  aliases: z.array(z.string().min(1).max(500)).max(100).default([]),
  attributes: jsonObject
    .refine(
      (value) => Object.keys(value).length <= MAX_ATTRIBUTES,
      `has more than ${MAX_ATTRIBUTES} keys`,
    )
    .refine(
      (value) => JSON.stringify(value).length <= MAX_OBJECT_CHARACTERS,
      'has more than 100,000 characters',
    ),
  external_ids: z
    .record(z.string().min(1).max(100), z.union([z.string().max(500), z.number()]).nullable())
    .refine((value) => Object.keys(value).length <= 100, 'has more than 100 keys')
    .default({}),
  geography: z
    .strictObject({ city: place, region: place, country: place, postal_code: place })
    .meta({ id: 'RecordGeography' })
    .default({}),
  status: z.string().min(1).max(100).default('active'),
  ...assessment,
  observed_at: pastTime
    .refine((time) => Date.parse(time) >= EARLIEST, 'is before year 1000')
    .optional()
    .meta({ description: 'When it was observed; default: now' }),
};

export const eventRecordFields = {
  external_key: externalKey,
  event_type: typeName,
  primary_external_key: externalKey.meta({
    description: 'The record it happened to: in the same feed, sent before or earlier in the batch',
  }),
  occurred_at: recordTime,
  summary: z.string().min(1).max(5_000),
  relevance_score: score,
  opportunity_score: score,
  ...assessment,
  match_reason: z.string().max(2_000).nullish(),
};

/** A record is always complete: absent fields get their default, regardless of their stored value. */
const entityRecord = z
  .strictObject({ type: z.literal('entity'), ...entityRecordFields })
  .meta({ id: 'EntityRecord' });
export type EntityRecord = z.infer<typeof entityRecord>;
const eventRecord = z
  .strictObject({ type: z.literal('event'), ...eventRecordFields })
  .meta({ id: 'EventRecord' });
export type EventRecord = z.infer<typeof eventRecord>;

export const ingestRecord = z
  .discriminatedUnion('type', [entityRecord, eventRecord])
  .meta({ id: 'IngestRecord' });
export type IngestRecord = z.infer<typeof ingestRecord>;

// Each record is checked separately, so that invalid ones do not affect the others.
const anyRecord = z.unknown().meta({ $ref: '#/components/schemas/IngestRecordInput' });

const feedId = z.string().min(1).max(200);

/** For JSON bodies. A stream is not parsed as a whole. */
export const ingestBody = z
  .strictObject({ feed_id: feedId, records: z.array(anyRecord).max(MAX_INGEST_RECORDS) })
  .nullish()
  .meta({
    examples: [
      {
        feed_id: 'feed_01jc0000000000000000000000',
        records: [
          {
            type: 'entity',
            external_key: 'permit-1',
            entity_type: 'project',
            canonical_name: 'Riverside Tower',
            attributes: { project_stage: 'permitting', project_value: 12_000_000 },
            geography: { city: 'Austin', region: 'TX', country: 'US' },
            confidence: 0.8,
          },
          {
            type: 'event',
            external_key: 'permit-1-filed',
            event_type: 'permit_filed',
            primary_external_key: 'permit-1',
            occurred_at: '2026-11-01T00:00:00Z',
            summary: 'A permit was filed for Riverside Tower',
          },
        ],
      },
    ],
  });

export const ingestQuery = z.strictObject({
  feed_id: feedId.optional().meta({ description: 'For a stream (`application/x-ndjson`)' }),
});

const counts = {
  created: z.int(),
  updated: z.int(),
  unchanged: z.int(),
};

export const ingestAnswerSchema = z
  .object({
    ...counts,
    refused: z.int().meta({ description: 'Refused records and events, which were not stored' }),
    errors: z
      .array(
        z.object({
          line: z.int().meta({ description: 'Counted from 1; in JSON the position in `records`' }),
          reason: z.string(),
        }),
      )
      .meta({ description: `The first ${MAX_INGEST_ERRORS}` }),
    events: z.object(counts),
  })
  .meta({ id: 'IngestAnswer' });
export type IngestAnswer = z.infer<typeof ingestAnswerSchema>;

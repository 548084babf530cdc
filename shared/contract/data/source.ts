import { z } from 'zod';
import { timeInput, timestamp } from '#shared/contract/common.ts';
import { etag } from '#shared/contract/if-match.ts';

export const sourceHealths = ['unknown', 'healthy', 'failed'] as const;

const word = z.string().min(1).max(200);

const fields = {
  name: z.string().trim().min(1).max(200),
  type: word.meta({ description: 'The type of source, such as `permit_portal`' }),
  jurisdiction: word.nullable(),
  cadence: word.nullable().meta({ description: 'How often it is checked, such as `daily`' }),
  permission_status: word.nullable().meta({ description: 'Whether it may be read' }),
  license_status: word.nullable().meta({ description: 'Whether its content may be redistributed' }),
  reliability_score: z.number().min(0).max(1).nullable(),
};

export const sourceInput = z
  .strictObject({
    name: fields.name.meta({
      description: 'Unique in the workspace among the live sources, and among the demo ones',
    }),
    type: fields.type,
    jurisdiction: fields.jurisdiction.default(null),
    cadence: fields.cadence.default(null),
    permission_status: fields.permission_status.default(null),
    license_status: fields.license_status.default(null),
    reliability_score: fields.reliability_score.default(null),
    is_demo: z
      .boolean()
      .default(false)
      .meta({ description: 'For demo records, only for test keys. Cannot be changed' }),
  })
  .meta({
    examples: [
      {
        name: 'City permit portal',
        type: 'permit_portal',
        jurisdiction: 'Austin, TX',
        cadence: 'daily',
      },
    ],
  });
export type SourceInput = z.infer<typeof sourceInput>;

/** Absent fields do not change. */
export const sourceUpdate = z
  .strictObject(fields)
  .partial()
  .meta({ examples: [{ reliability_score: 0.9 }] });
export type SourceUpdate = z.infer<typeof sourceUpdate>;

const health = z
  .object({
    status: z.enum(sourceHealths),
    last_success_at: timestamp.nullable(),
    consecutive_failures: z.int(),
  })
  .meta({ id: 'SourceHealth' });

export const sourceSchema = z
  .object({
    id: z.string(),
    name: z.string(),
    type: z.string(),
    jurisdiction: z.string().nullable(),
    cadence: z.string().nullable(),
    permission_status: z.string().nullable(),
    license_status: z.string().nullable(),
    reliability_score: z.number().nullable(),
    health,
    is_demo: z.boolean(),
    created_at: timestamp,
    updated_at: timestamp,
  })
  .meta({ id: 'Source' });

/** For the operators of the sources: includes the last error. */
export const sourceDetailSchema = sourceSchema
  .extend({
    health: health.extend({
      last_failure_at: timestamp.nullable(),
      last_error: z.string().nullable(),
    }),
    etag,
  })
  .meta({ id: 'SourceDetail' });
export type SourceDetail = z.infer<typeof sourceDetailSchema>;

/** How far an external clock may be ahead. */
const CLOCK_TOLERANCE_MS = 5 * 60_000;

/** The time of an observation, which cannot be in the future. */
export const pastTime = timeInput
  .refine(
    (time) => Date.parse(time) <= Date.now() + CLOCK_TOLERANCE_MS,
    'is more than 5 minutes in the future',
  )
  .meta({ examples: ['2026-11-01T00:00:00Z'] });

/** The result of a source check. */
export const sourceReportFields = {
  ok: z.boolean(),
  error: z.string().max(2_000).nullish().meta({ description: 'Why it failed' }),
  checked_at: pastTime.optional().meta({ description: 'Default: now' }),
};
export const sourceReport = z
  .strictObject(sourceReportFields)
  .meta({ examples: [{ ok: false, error: 'The portal answered 503' }] });
export type SourceReport = z.infer<typeof sourceReport>;

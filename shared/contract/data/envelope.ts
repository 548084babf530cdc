import { z } from 'zod';
import { wholeNumber } from '#shared/contract/common.ts';

/** Types that all routes under `/v1` share. */

export const SCHEMA_VERSION = '2026-07-01';

/** The scopes of keys of the data API, with what each permits. */
const dataScopes = {
  'feeds:read': 'Feeds and their specifications',
  'entities:read': 'Records and their changes',
  'events:read': 'Intelligence events',
  'sources:read': 'Sources and their health',
  'usage:read': 'Usage of the month and allowances',
  'exports:create': 'Exports',
  'webhooks:read': 'Webhook endpoints',
  'webhooks:write': 'Creating, changing and deleting webhook endpoints',
} as const;
export type DataScope = keyof typeof dataScopes;
export const dataScopeNames = Object.keys(dataScopes) as [DataScope, ...DataScope[]];

/** Live keys read live records, test keys read demo records. */
export const dataKeyModes = ['live', 'test'] as const;
export type DataKeyMode = (typeof dataKeyModes)[number];

const meta = z
  .object({
    request_id: z.string().meta({ description: 'Identifies the request in the logs' }),
    schema_version: z.literal(SCHEMA_VERSION),
    credits_consumed: z.int().meta({ description: 'The cost of this call' }),
  })
  .meta({ id: 'DataMeta' });

const pagination = z
  .object({ next_cursor: z.string().nullable().meta({ description: 'Null on the last page' }) })
  .meta({ id: 'Pagination' });

/** Every successful JSON response under `/v1`. */
export const envelopeOf = <Data extends z.ZodType>(data: Data) =>
  z.object({
    data,
    pagination,
    meta,
  });

const MAX_DATA_PAGE = 100;

/** The query of a list under `/v1`. */
export const dataPageQuery = z.strictObject({
  limit: wholeNumber(1, MAX_DATA_PAGE).prefault('25').meta({ description: 'Rows per page' }),
  cursor: z
    .string()
    .min(1)
    .max(1_000)
    .optional()
    .meta({ description: '`pagination.next_cursor` of the previous page' }),
});

/** The same cursor for members, whose responses have no envelope. */
export const nextPage = {
  cursor: dataPageQuery.shape.cursor.meta({
    description: '`next_cursor` of the previous page, with the same filters',
  }),
};

/** The verification levels of a record or an event. */
export const verificationStatuses = [
  'unverified',
  'machine_verified',
  'human_reviewed',
  'multi_source_verified',
] as const;
/** Whether it was reviewed. */
export const wasLookedAt = (status: string): boolean => status !== 'unverified';
/** Whether it was verified. Verified events cost more. */
export const isVerified = (status: string): boolean =>
  status === 'human_reviewed' || status === 'multi_source_verified';

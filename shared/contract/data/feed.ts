import { z } from 'zod';
import { jsonObject, timestamp } from '#shared/contract/common.ts';
import { etag } from '#shared/contract/if-match.ts';

export const feedStatuses = ['active', 'paused', 'degraded', 'archived'] as const;

/** The type of a record or an event, as feeds name it. */
export const typeName = z
  .string()
  .regex(
    /^[a-z][a-z0-9_]{0,63}$/,
    "must start with a letter and contain only a-z, 0-9 and '_', at most 64",
  );

const boundedObject = (description: string) =>
  jsonObject
    .refine((value) => JSON.stringify(value).length <= 100_000, 'has more than 100,000 characters')
    .meta({ description });

const fields = {
  name: z.string().trim().min(1).max(200),
  description: z.string().max(5_000),
  status: z
    .enum(feedStatuses)
    .meta({ description: 'Archived feeds are not listed in the data API' }),
  entity_types: z
    .array(typeName)
    .max(50)
    .refine((types) => new Set(types).size === types.length, 'names a type twice')
    .meta({ description: 'The accepted types of records; empty: any' }),
  schema: boundedObject("The meaning of its records' attributes, as JSON Schema or as text"),
  geography: boundedObject('Where its records come from, such as `{"country": "US"}`'),
  specification: boundedObject('What is monitored, how and how often'),
};

export const feedInput = z
  .strictObject({
    name: fields.name,
    description: fields.description.default(''),
    status: fields.status.default('active'),
    entity_types: fields.entity_types.default([]),
    schema: fields.schema.default({}),
    geography: fields.geography.default({}),
    specification: fields.specification.default({}),
    is_demo: z
      .boolean()
      .default(false)
      .meta({ description: 'Its records are demo records, only for test keys. Cannot be changed' }),
  })
  .meta({
    examples: [
      { name: 'Projects', entity_types: ['project'], geography: { country: 'US', region: 'TX' } },
    ],
  });
export type FeedInput = z.infer<typeof feedInput>;

/** Absent fields do not change. */
export const feedUpdate = z
  .strictObject(fields)
  .partial()
  .meta({ examples: [{ status: 'paused' }] });
export type FeedUpdate = z.infer<typeof feedUpdate>;

export const feedSchema = z
  .object({
    id: z.string(),
    name: z.string(),
    description: z.string(),
    status: z.enum(feedStatuses),
    freshness: z
      .object({
        last_event_at: timestamp
          .nullable()
          .meta({ description: 'When a record or an event last came or changed' }),
        last_checked_at: timestamp
          .nullable()
          .meta({ description: 'When records were last sent, even without changes' }),
        lag_seconds: z.int().nullable().meta({ description: 'Since `last_event_at`' }),
      })
      .meta({ id: 'FeedFreshness' }),
    entity_types: z.array(z.string()),
    schema: jsonObject,
    geography: jsonObject,
    is_demo: z.boolean(),
    created_at: timestamp,
    updated_at: timestamp,
  })
  .meta({ id: 'Feed' });

export const feedDetailSchema = feedSchema
  .extend({ specification: jsonObject })
  .meta({ id: 'FeedDetail' });

/** The feed as members who edit feeds see it. */
export const managedFeedSchema = feedSchema.extend({ etag }).meta({ id: 'ManagedFeed' });
export type Feed = z.infer<typeof managedFeedSchema>;

export const managedFeedDetailSchema = feedDetailSchema
  .extend({ etag })
  .meta({ id: 'ManagedFeedDetail' });
export type FeedDetail = z.infer<typeof managedFeedDetailSchema>;

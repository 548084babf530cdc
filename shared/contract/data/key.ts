import { z } from 'zod';
import { timeInput, timestamp } from '#shared/contract/common.ts';
import { etag } from '#shared/contract/if-match.ts';
import { type DataKeyMode, dataKeyModes, dataScopeNames } from './envelope.ts';

/** The prefix of every secret of the data API, by the mode of its key. */
export const dataKeyPrefixes = {
  live: 'svc_live_',
  test: 'svc_test_',
} as const satisfies Record<DataKeyMode, string>;

/** More than any plan allows, and far below what a counter can hold. */
const MAX_ALLOWANCE = 1_000_000_000_000;
const MAX_RANGES = 100;

const mode = z.enum(dataKeyModes).meta({
  description: 'Live keys read live records, test keys read demo records',
});
const scopes = z.array(z.enum(dataScopeNames));
const allowance = z.int().min(0).max(MAX_ALLOWANCE);

const addressRange = z.union([z.cidrv4(), z.cidrv6(), z.ipv4(), z.ipv6()], {
  error: 'must be an IP address or CIDR',
});

export const dataKeyInput = z
  .strictObject({
    name: z.string().trim().min(1).max(200),
    mode,
    scopes: scopes
      .min(1)
      .max(dataScopeNames.length)
      .refine((names) => new Set(names).size === names.length, 'must not name a scope twice'),
    expires_at: timeInput
      .refine((time) => Date.parse(time) > Date.now(), 'must be in the future')
      .nullish()
      .meta({ description: 'The key is invalid from then on', examples: ['2090-01-01T00:00:00Z'] }),
    ip_allowlist: z.array(addressRange).max(MAX_RANGES).default([]).meta({
      description: 'Addresses and CIDRs that can use it; empty: any',
    }),
    monthly_request_allowance: allowance.nullish().meta({
      description: 'In addition to the limit of the plan; null: only the limit of the plan',
    }),
    monthly_credit_allowance: allowance.nullish().meta({
      description: 'In addition to the limit of the plan; null: only the limit of the plan',
    }),
  })
  .meta({
    examples: [{ name: 'Warehouse', mode: 'live', scopes: ['entities:read', 'events:read'] }],
  });
export type DataKeyInput = z.infer<typeof dataKeyInput>;

export const dataKeySchema = z
  .object({
    id: z.string(),
    name: z.string(),
    mode,
    prefix: z.string().meta({
      description: 'The start of the secret',
      examples: ['svc_live_3f9k2m7q'],
    }),
    scopes,
    expires_at: timestamp.nullable(),
    ip_allowlist: z.array(z.string()),
    monthly_request_allowance: z.int().nullable(),
    monthly_credit_allowance: z.int().nullable(),
    revoked: z.boolean(),
    created_at: timestamp,
    last_used_at: timestamp.nullable().meta({ description: 'Delayed by at most a few seconds' }),
    etag,
  })
  .meta({ id: 'DataKey' });
export type DataKey = z.infer<typeof dataKeySchema>;

export const createdDataKeySchema = dataKeySchema
  .extend({
    secret: z.string().meta({
      description: 'For `Authorization: Bearer` or `X-API-Key`; shown only this once',
    }),
  })
  .meta({ id: 'CreatedDataKey' });

import { z } from 'zod';
import { timestamp } from '#shared/contract/common.ts';
import { etag } from '#shared/contract/if-match.ts';
import { roleSchema } from './member.ts';

/** The prefix of every secret of this API, so that people and scanners recognize one. */
export const API_KEY_PREFIX = 'ops_';

export const apiKeyInput = z
  .strictObject({
    name: z.string().trim().min(1).max(200),
    role: roleSchema.optional().meta({
      description: "Required unless the key is linked; a linked key has its member's role",
    }),
    member_id: z.string().min(1).max(100).nullish().meta({
      description: "Links the key to a member: it has the member's current permissions",
    }),
    decide: z.boolean().default(true).meta({
      description:
        'False: the key never has `approve_gates` and `publish_workflows`, so it decides no gate and takes none away',
    }),
  })
  .refine((key) => key.role !== undefined || key.member_id != null, {
    path: ['role'],
    message: 'is required without member_id',
  })
  .meta({ examples: [{ name: 'Nightly import', role: 'editor' }] });
export type ApiKeyInput = z.infer<typeof apiKeyInput>;

export const apiKeySchema = z
  .object({
    id: z.string(),
    name: z.string(),
    prefix: z.string().meta({ description: 'The start of the secret', examples: ['ops_3f9k2m7q'] }),
    role: roleSchema.meta({ description: "For a linked key, its member's current role" }),
    member_id: z.string().nullable(),
    decide: z.boolean().meta({ description: 'Whether it can decide gates and publish workflows' }),
    revoked: z.boolean().meta({ description: 'By hand, or because its member was removed' }),
    created_at: timestamp,
    last_used_at: timestamp.nullable().meta({ description: 'Delayed by at most a few seconds' }),
    etag,
  })
  .meta({ id: 'ApiKey' });
export type ApiKey = z.infer<typeof apiKeySchema>;

export const createdApiKeySchema = apiKeySchema
  .extend({
    secret: z.string().meta({ description: 'For `X-API-Key`; shown only this once' }),
  })
  .meta({ id: 'CreatedApiKey' });

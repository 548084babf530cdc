import { z } from 'zod';
import { timestamp } from './common.ts';
import { roleSchema } from './member.ts';

/** What every secret of this API begins with, so that people and scanners know one when they see it. */
export const API_KEY_PREFIX = 'ops_';

export const apiKeyInput = z
  .strictObject({
    name: z.string().trim().min(1).max(200),
    role: roleSchema.optional().meta({
      description:
        "Needed unless the key is linked; a linked key has its member's, whatever is given here",
    }),
    member_id: z.string().min(1).max(100).nullish().meta({
      description: 'Links the key to a member: it may do what they may do, for as long as they are',
    }),
  })
  .refine((key) => key.role !== undefined || key.member_id != null, {
    path: ['role'],
    message: 'is needed without member_id',
  })
  .meta({ examples: [{ name: 'Nightly import', role: 'editor' }] });
export type ApiKeyInput = z.infer<typeof apiKeyInput>;

export const apiKeySchema = z
  .object({
    id: z.string(),
    name: z.string(),
    prefix: z.string().meta({ description: 'How the secret begins', examples: ['ops_3f9k2m7q'] }),
    role: roleSchema.meta({ description: "Of a linked key, its member's role as it is now" }),
    member_id: z.string().nullable(),
    revoked: z.boolean().meta({ description: 'By hand, or because its member was removed' }),
    created_at: timestamp,
    last_used_at: timestamp.nullable().meta({ description: 'At most a few seconds behind' }),
  })
  .meta({ id: 'ApiKey' });
export type ApiKey = z.infer<typeof apiKeySchema>;

export const createdApiKeySchema = apiKeySchema
  .extend({
    secret: z.string().meta({ description: 'For `X-API-Key`; shown this once' }),
  })
  .meta({ id: 'CreatedApiKey' });

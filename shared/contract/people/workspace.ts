import { z } from 'zod';
import { planNames } from '#shared/people/plans.ts';
import { timestamp } from '#shared/contract/common.ts';
import { etag } from '#shared/contract/if-match.ts';

export const workspaceSchema = z
  .object({
    id: z.string(),
    name: z.string(),
    plan: z.enum(planNames),
    member_count: z.int(),
    has_examples: z.boolean().meta({
      description: 'Its first start has created examples in it. They may be deleted',
    }),
    invitations_by_email: z.boolean().meta({
      description: 'Invitations are also sent by email: the service has an email provider',
    }),
    created_at: timestamp,
    etag,
  })
  .meta({ id: 'Workspace' });
export type Workspace = z.infer<typeof workspaceSchema>;

export const workspaceUpdate = z
  .strictObject({ name: z.string().trim().min(1).max(200) })
  .meta({ examples: [{ name: 'Support' }] });
export type WorkspaceUpdate = z.infer<typeof workspaceUpdate>;

export const planChange = z
  .strictObject({ plan: z.enum(planNames) })
  .meta({ examples: [{ plan: 'pro' }] });

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

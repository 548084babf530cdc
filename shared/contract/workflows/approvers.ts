import { z } from 'zod';
import { roles } from '#shared/people/capabilities.ts';

/** A member who has one of the roles, or is one of the members. */
export const approversSchema = z
  .strictObject({
    roles: z.array(z.enum(roles)).min(1).max(roles.length).optional(),
    /** Ids of members. */
    members: z.array(z.string().min(1).max(100)).min(1).max(100).optional(),
  })
  .refine(
    ({ roles, members }) => roles !== undefined || members !== undefined,
    'needs `roles` or `members`',
  )
  .meta({ id: 'GateApprovers' });

export const accountRoles = ['approver'] as const;

/**
 * Whose account a step uses of connections that members own: that of the last member who approved the step, instead of the
 * one who started the run. Requires an `approval` that always asks, and only members who have signed in can then approve.
 */
export const actAs = z.enum(accountRoles).optional();

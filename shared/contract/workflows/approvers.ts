import { z } from 'zod';
import { roles } from '#shared/people/capabilities.ts';
import { MAX_WAIT_SECONDS } from './node-common.ts';

/** A member who has one of the roles, or is one of the members. */
const approversSchema = z
  .strictObject({
    roles: z.array(z.enum(roles)).min(1).max(roles.length).optional(),
    members: z
      .array(z.string().min(1).max(100))
      .min(1)
      .max(100)
      .optional()
      .meta({ description: 'Ids of members' }),
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

/** What a gate does at its deadline. */
export const timeoutActions = ['reject', 'approve', 'fail'] as const;

/** When a person must approve. An expression can read `args` and the run's state. */
export const approvalRule = z.union([z.enum(['always', 'never']), z.string().min(1).max(2_000)]);

/** A template of what is decided, in one line, for lists and notifications. */
export const askingTitle = z.string().min(1).max(1_000).optional();

/** What a gate, or a step that needs approval, requires of its approvers. */
export const askingFields = {
  approvers: approversSchema.optional().meta({
    description: 'Who can decide; by default, every credential with the capability `approve_gates`',
  }),
  required: z.int().min(1).max(5).optional().meta({
    description:
      'How many different members must approve; the default is 1. A single rejection rejects',
  }),
  not_the_starter: z.boolean().optional().meta({
    description: 'Members who started the run, or one before it, cannot decide',
  }),
  signed_in: z.boolean().optional().meta({
    description: 'Only members with a session can decide, not a key, a link or Slack',
  }),
  timeout_seconds: z
    .number()
    .positive()
    .max(MAX_WAIT_SECONDS)
    .optional()
    .meta({ description: 'How long it waits for a decision. Requires `on_timeout`' }),
  on_timeout: z.enum(timeoutActions).optional(),
  remind_seconds: z
    .number()
    .min(1)
    .max(MAX_WAIT_SECONDS)
    .optional()
    .meta({ description: 'The interval between reminders while it waits' }),
};

/** Whether a person must approve a step with its exact arguments before it is executed, and who. */
export const nodeApproval = z
  .union([
    approvalRule,
    z.strictObject({
      when: approvalRule,
      title: askingTitle.meta({ description: 'Reads `args`, the arguments of the step' }),
      ...askingFields,
    }),
  ])
  .optional();

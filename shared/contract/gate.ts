import { z } from 'zod';
import { roles } from '../capabilities.ts';
import { jsonObject, timestamp } from './common.ts';
import { timeoutActions } from './graph.ts';

/** One person's decision at a gate with settings. */
export const gateDecisionSchema = z
  .object({
    member_id: z.string().nullable().meta({ description: 'Null for a key without a member' }),
    by: z.string().nullable().meta({ description: 'The name at that time, if known' }),
    approved: z.boolean(),
    at: timestamp,
    reason: z.string().nullable(),
    input: jsonObject.optional(),
  })
  .meta({ id: 'GateDecision' });

/** What an open gate asks of its approvers. Each is absent where the gate does not have it. */
export const gateRuleFields = {
  input_schema: jsonObject.optional().meta({
    description: 'JSON Schema of the `input` that an approval needs',
  }),
  approvers: z
    .object({
      roles: z.array(z.enum(roles)).optional(),
      members: z
        .array(z.object({ id: z.string(), name: z.string().nullable() }))
        .optional()
        .meta({ description: 'The name is null for a member who was removed' }),
    })
    .optional()
    .meta({ description: 'Only they can decide' }),
  required: z
    .int()
    .optional()
    .meta({ description: 'How many different members must approve; 1 without it' }),
  not_the_starter: z
    .boolean()
    .optional()
    .meta({ description: 'True: the member who started the run cannot decide' }),
  expires_at: timestamp.optional().meta({ description: 'When `on_timeout` happens' }),
  on_timeout: z.enum(timeoutActions).optional(),
  decisions: z
    .array(gateDecisionSchema)
    .optional()
    .meta({ description: 'The approvals so far, oldest first' }),
};

export type GateVote = z.infer<typeof gateDecisionSchema>;

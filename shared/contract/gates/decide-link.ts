import { z } from 'zod';
import { jsonObject, timestamp } from '#shared/contract/common.ts';
import { consequencesSchema } from './consequences.ts';
import { gateSchema } from './gate.ts';
import { pendingGateSchema } from './pending-gate.ts';
import { acceptChangesField } from './recheck.ts';

/** A token is the part of a link after `#`. */
const token = z.string().min(1).max(200).meta({ description: 'The part of the link after `#`' });

const EXAMPLE_TOKEN = 'k3J8b0aTq1Xw5Zr7Yc9Ed2Fg4Hi6Jk8Lm0No2Pq4RsT';

export const openLinkBody = z
  .strictObject({ token })
  .meta({ examples: [{ token: EXAMPLE_TOKEN }] });

export const decideLinkBody = z
  .strictObject({
    token,
    decision: z.enum(['approve', 'reject']),
    digest: z.string().max(200).optional().meta({
      description: 'Of what the person has read; required for a gate that has one',
    }),
    reason: z.string().max(1_000).optional(),
    input: jsonObject.optional().meta({ description: 'What the form of the gate asks for' }),
    arguments: jsonObject.optional().meta({
      description: 'For a step that needs approval: the arguments, as changed by the approver',
    }),
    ...acceptChangesField,
  })
  .meta({ examples: [{ token: EXAMPLE_TOKEN, decision: 'approve', reason: 'as agreed' }] });

/** What the page of a link shows. Other members are not named. */
export const openedLinkSchema = z
  .object({
    member: z.object({ name: z.string() }).meta({ description: 'Who decides with this link' }),
    workspace: z.object({ name: z.string() }),
    workflow: z.object({ name: z.string() }),
    run_id: z.string(),
    expires_at: timestamp.meta({ description: 'When the link ends, if the gate is still open' }),
    changed: z.boolean().meta({
      description: 'What the gate sets in motion has changed since the email was sent',
    }),
    gate: pendingGateSchema.omit({
      approvers: true,
      assignee: true,
      deciders: true,
      admins_stand_in: true,
      decisions: true,
    }),
    approvals: z.int().meta({ description: 'How many members have approved so far' }),
    tool: gateSchema.shape.tool,
    schema_problem: gateSchema.shape.schema_problem,
    consequences: consequencesSchema.nullable(),
    digest: z.string().nullable(),
  })
  .meta({ id: 'OpenedLink' });

export const linkDecisionSchema = z
  .object({
    status: z.enum(['decided', 'open', 'already_decided']).meta({
      description:
        '`decided`: the gate is decided. `open`: the decision counts, and the gate needs further approvals. `already_decided`: the member made this decision before',
    }),
    decision: z.enum(['approve', 'reject']),
  })
  .meta({ id: 'LinkDecision' });

export type DecideLinkBody = z.infer<typeof decideLinkBody>;
export type OpenedLink = z.infer<typeof openedLinkSchema>;
export type LinkDecision = z.infer<typeof linkDecisionSchema>;

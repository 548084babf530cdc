import { z } from 'zod';
import { roles } from '#shared/people/capabilities.ts';
import { jsonObject, nextCursor, timestamp } from '#shared/contract/common.ts';
import { consequencesSchema } from './consequences.ts';
import { differencesSchema, recheckFields } from './recheck.ts';
import { accountRoles } from '#shared/contract/workflows/approvers.ts';
import { timeoutActions } from '#shared/contract/workflows/approvers.ts';

/** One person's decision at a gate with settings. */
export const gateDecisionSchema = z
  .object({
    member_id: z.string().nullable().meta({ description: 'Null for a key without a member' }),
    by: z.string().nullable().meta({ description: 'The name at that time, if known' }),
    approved: z.boolean(),
    at: timestamp,
    reason: z.string().nullable(),
    input: jsonObject.optional(),
    by_link: z.literal(true).optional().meta({ description: 'With the link of an email' }),
    by_slack: z.literal(true).optional().meta({ description: 'In Slack' }),
    accepted_changes: differencesSchema.optional().meta({
      description: 'With `accept_changes`: what had changed since the gate opened',
    }),
  })
  .meta({ id: 'GateDecision' });

/** Who decides a gate: a member, its deadline, or the request that starts a rehearsal. */
export const decidedByKinds = ['member', 'deadline', 'request'] as const;

/** The decision at a gate, by a person or by its deadline. */
export const decisionSchema = z
  .object({
    approved: z.boolean(),
    by: z.string().nullable().meta({ description: 'The name of the person who decided, if known' }),
    by_kind: z.enum(decidedByKinds).meta({
      description:
        'Who decided: `member` for a person, also with a key; `deadline`; or `request`, in a rehearsal. The decision of a request counts for no effect',
    }),
    by_link: z.literal(true).optional().meta({
      description: 'With the link of an email to the member, without signing in',
    }),
    by_slack: z.literal(true).optional().meta({
      description: 'In Slack, by the member with the email of the person there',
    }),
    at: timestamp,
    reason: z.string().nullable(),
    timed_out: z
      .enum(timeoutActions)
      .optional()
      .meta({ description: 'The deadline decided, not a person: the `on_timeout` of the gate' }),
  })
  .meta({ id: 'Decision' });

export const gateKinds = ['human_gate', 'tool_call'] as const;
export const gateStatuses = ['open', 'approved', 'rejected', 'cancelled'] as const;

/** A member who decides, or is expected to. */
export const assigneeSchema = z
  .object({ id: z.string(), name: z.string() })
  .meta({ id: 'Assignee' });

/** The step of a gate, as a parameter. */
export const gateStepKey = z.string().min(1).max(1_000);

/** What is decided, in one line. */
export const gateTitle = z.string().meta({
  description:
    'What is decided, in one line. Without a template: the label, or the tool and its first arguments',
});

/** What a gate shows to approvers, in one round. */
const askedFields = {
  step_key: z.string(),
  round: z.int().meta({ description: 'Counts how often the same step asked, from 1' }),
  iteration: z
    .array(z.int())
    .meta({ description: 'Iterations of the enclosing loops and maps, outermost first' }),
  title: gateTitle,
  prompt: z.string(),
  arguments: jsonObject.nullable().optional().meta({
    description:
      'For a tool call, as the model gave them; null for a caller without the capability approve_gates',
  }),
};

const earlierAskingSchema = z
  .object({
    ...askedFields,
    decision: decisionSchema,
    input: jsonObject.optional().meta({ description: 'What the approvers sent' }),
    decided_arguments: jsonObject
      .nullable()
      .optional()
      .meta({ description: 'For a tool call that was approved with other arguments' }),
  })
  .meta({ id: 'EarlierAsking' });

/** One gate, with what an approver needs to decide it. */
export const gateSchema = z
  .object({
    run_id: z.string(),
    node_id: z.string(),
    kind: z.enum(gateKinds),
    label: z.string(),
    ...askedFields,
    status: z.enum(gateStatuses).meta({ description: 'In its last round' }),
    since: timestamp,
    decision: decisionSchema.nullable(),
    decider: assigneeSchema.nullable().meta({
      description: 'The member who decided it last; null for a deadline or an unknown key',
    }),
    decided_arguments: jsonObject.nullable().optional().meta({
      description:
        'For a tool call that was approved with other arguments; null for a caller without the capability approve_gates',
    }),
    can_decide: z.boolean().meta({ description: 'Whether the caller can decide it now' }),
    assignee: assigneeSchema.nullable().meta({
      description: 'The member who is expected to decide; others who can decide it still can',
    }),
    eligible_members: z.array(assigneeSchema).meta({
      description:
        'While it is open: the members who can decide it as it is now. One of them can be assigned',
    }),
    refusal: z.string().nullable().meta({ description: 'Why its rules do not let the caller' }),
    schema_problem: z.string().nullable().meta({
      description: 'Why no input fits its `input_schema`: then it can only be rejected',
    }),
    tool: z
      .object({
        schema: jsonObject.meta({ description: 'JSON Schema of the arguments' }),
        fixed: z.array(z.string()).meta({
          description: 'Arguments that the workflow sets; an approver cannot change them',
        }),
      })
      .nullable()
      .meta({
        description: 'For an open tool call; null if the tool has changed since it was requested',
      }),
    consequences: consequencesSchema.nullable().meta({
      description:
        'While it is open: what each answer sets in motion, without the input of an approver; for a tool call, after that call. Null if it is not known',
    }),
    digest: z.string().nullable().meta({
      description:
        'Of the gate and its consequences: a decision with it counts only for what was shown. Null for a caller without the capability approve_gates',
    }),
    ...recheckFields,
    earlier: z.array(earlierAskingSchema).meta({
      description:
        'When the same node asked before in this run, newest first: in an earlier iteration of its loops, or before a resume. At most 10',
    }),
  })
  .meta({ id: 'Gate' });

/** What an open gate requires of its approvers. Fields are absent where the gate has no such rule. */
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
  not_the_starter: z.boolean().optional().meta({
    description:
      'True: the members who started the run, or one from which it starts, cannot decide',
  }),
  signed_in: z.boolean().optional().meta({
    description: 'True: only members who have signed in can decide, not with an API key or a link',
  }),
  act_as: z.enum(accountRoles).optional().meta({
    description:
      '`approver`: the step uses the account of the member who approves it last, of the connections that members own',
  }),
  deciders: z.int().optional().meta({
    description:
      'How many members can still decide it, as they are now; 0 if the run has to be cancelled, or a permission granted',
  }),
  admins_stand_in: z.literal(true).optional().meta({
    description:
      'Fewer `approvers` are left than approvals are missing, so admins can decide, too; `not_the_starter` and `required` still hold',
  }),
  expires_at: timestamp.optional().meta({ description: 'When `on_timeout` happens' }),
  on_timeout: z.enum(timeoutActions).optional(),
  decisions: z
    .array(gateDecisionSchema)
    .optional()
    .meta({ description: 'The approvals so far, oldest first' }),
};

export type GateVote = z.infer<typeof gateDecisionSchema>;

/** One decision at a gate, in a list. */
const decidedGateSchema = z
  .object({
    run_id: z.string(),
    workflow_id: z.string(),
    workflow_name: z.string(),
    node_id: z.string(),
    step_key: z.string(),
    round: z.int().meta({ description: 'Counts how often the same step asked, from 1' }),
    kind: z.enum(gateKinds),
    label: z.string(),
    title: gateTitle,
    decision: decisionSchema,
    decider: assigneeSchema
      .nullable()
      .meta({ description: 'The member who decided; null for a deadline or an unknown key' }),
    changed_arguments: z.boolean().meta({
      description: 'Whether a tool call was approved with other arguments than it asked for',
    }),
  })
  .meta({ id: 'DecidedGate' });

export const decidedGateListSchema = z
  .object({ decided: z.array(decidedGateSchema), next_cursor: nextCursor })
  .meta({ id: 'DecidedGateList' });

export type DecidedGate = z.infer<typeof decidedGateSchema>;
export type Gate = z.infer<typeof gateSchema>;

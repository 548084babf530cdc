import { z } from 'zod';
import { jsonObject, offsetQuery, timestamp } from '#shared/contract/common.ts';

const governanceEventTypes = [
  'policy_denied',
  'tool_argument_blocked',
  'data_redacted',
  'budget_blocked',
  'model_fallback_blocked',
  'approval_override_granted',
  'approval_mismatch',
] as const;

const governancePolicies = [
  'tool_permission',
  'tool_argument',
  'dlp',
  'model_allowlist',
  'budget',
  'fallback',
  'approval',
] as const;

const governanceDecisions = ['blocked', 'denied', 'redacted', 'granted'] as const;

/** A decision without its location. A step's `policy` and governance events have the same fields. */
const verdictFields = {
  type: z.enum(governanceEventTypes),
  policy: z.enum(governancePolicies),
  decision: z.enum(governanceDecisions),
  reason: z.string().meta({ description: 'A readable explanation' }),
  evidence: jsonObject.meta({
    description: 'Counts, ids, names of models, tools and rules; never the redacted text',
  }),
};

export const policyVerdictSchema = z.object(verdictFields).meta({ id: 'PolicyVerdict' });

/** One decision of a policy, a budget or an override. */
export const governanceEventSchema = z
  .object({
    id: z.string().meta({ description: 'Twelve hex digits', examples: ['9f2c1ab07d3e'] }),
    type: verdictFields.type,
    workspace_id: z.string(),
    workflow_id: z.string().nullable(),
    version: z.int().nullable().meta({ description: 'The version of the workflow in effect' }),
    run_id: z.string().nullable(),
    node_id: z.string().nullable(),
    policy: verdictFields.policy,
    actor_id: z.string().nullable().meta({ description: 'Who granted an override' }),
    decision: verdictFields.decision,
    reason: verdictFields.reason,
    evidence: verdictFields.evidence,
    created_at: timestamp,
  })
  .meta({ id: 'GovernanceEvent' });

export const governanceEventListSchema = z.array(governanceEventSchema);

export const governanceEventListQuery = z.strictObject({
  run_id: z.string().min(1).max(200).optional(),
  workflow_id: z.string().min(1).max(200).optional(),
  event_type: z.enum(governanceEventTypes).optional(),
  decision: z.enum(governanceDecisions).optional(),
  ...offsetQuery.shape,
});

export type PolicyVerdict = z.infer<typeof policyVerdictSchema>;
export type GovernanceEvent = z.infer<typeof governanceEventSchema>;
export type GovernanceEventFilter = z.infer<typeof governanceEventListQuery>;

import { z } from 'zod';
import { countBounds, dollarBounds } from '#shared/contract/bounds.ts';
import { connectionStatuses } from '#shared/contract/connections/connection.ts';
import { dollars, jsonObject } from '#shared/contract/common.ts';
import { graphIssueSchema } from './graph.ts';
import { rerunFields, withOneGraph } from '#shared/contract/forks/fork.ts';

export const dryRunFields = {
  input: jsonObject.optional().meta({
    description: 'As for a run. Without it, the bounds hold for every input',
  }),
  version: rerunFields.version.meta({
    description: 'The version to examine; the default is the current one',
  }),
  draft: rerunFields.draft.meta({
    description: "Examines the workflow's draft, and not a version",
  }),
};

export const dryRunBody = withOneGraph(z.strictObject(dryRunFields))
  .nullish()
  .meta({ examples: [{ input: { ticket: 'I was charged twice' } }] });

const dryRunVerdictSchema = z
  .object({
    policy: z.enum(['model_allowlist', 'fallback', 'tool_permission', 'tool_argument', 'dlp']),
    decision: z.enum(['allowed', 'blocked', 'redacted', 'at_run_time']).meta({
      description: '`at_run_time`: it depends on values that are known when the step runs',
    }),
    reason: z.string(),
  })
  .meta({ id: 'DryRunVerdict' });

const dryRunNodeSchema = z
  .object({
    node_id: z.string(),
    verdicts: z
      .array(dryRunVerdictSchema)
      .meta({ description: 'Of the policies that apply to it; empty without one' }),
    cost_usd: dollarBounds,
    executions: countBounds.meta({
      description:
        'Once per iteration of the loops and maps around it. Retries and turns are not counted; `max` 0: it is never reached',
    }),
  })
  .meta({ id: 'DryRunNode' });

const dryRunBudgetSchema = z
  .object({
    id: z.string(),
    name: z.string(),
    asked_usd: dollars.meta({ description: 'What a run reserves; 0 without an estimate' }),
    available_usd: z.number().meta({
      description: 'What is left of the limit now; negative when more was spent',
    }),
    fits: z.boolean().meta({ description: 'Whether a run could start now' }),
  })
  .meta({ id: 'DryRunBudget' });

const dryRunGateSchema = z
  .object({
    node_id: z.string().meta({
      description:
        'The gate, an agent whose calls need approval, or the node that starts `workflow`',
    }),
    workflow: z
      .object({ id: z.string(), name: z.string() })
      .nullable()
      .meta({ description: 'The workflow that has the gate, if it is another one' }),
    required: z.int().meta({ description: 'How many members must approve' }),
    approvers: z
      .array(z.object({ id: z.string(), name: z.string() }))
      .meta({ description: 'The members who could decide it now, at most 100' }),
  })
  .meta({ id: 'DryRunGate' });

const dryRunConnectionSchema = z
  .object({
    node_id: z
      .string()
      .meta({ description: 'The node that sends its token, or starts `workflow`' }),
    workflow: z
      .object({ id: z.string(), name: z.string() })
      .nullable()
      .meta({ description: 'The workflow that has the node, if it is another one' }),
    id: z.string(),
    name: z.string(),
    account: z.enum(['workspace', 'starter', 'approver']).meta({
      description:
        'Whose account: that of the workspace, of the member who starts the run, or of the one who approves the step',
    }),
    status: z.enum(connectionStatuses).nullable().meta({
      description: 'Of this account, for `starter` that of the caller; null for `approver`',
    }),
  })
  .meta({ id: 'DryRunConnection' });

export const dryRunSchema = z
  .object({
    version: z.int().nullable().meta({ description: 'The version examined; null for a draft' }),
    cost_usd: dollarBounds.meta({
      description: 'What the run and the runs that it starts cost together',
    }),
    duration_ms: countBounds,
    unbounded: z
      .array(z.string())
      .meta({ description: 'Ids of the nodes without a bound of their cost or duration' }),
    warnings: z.array(graphIssueSchema).meta({
      description:
        'Agents whose requests have no bound under a cap or a budget, or whose first request does not fit the cap; connections to which the caller, or no one, is signed in',
    }),
    nodes: z.array(dryRunNodeSchema),
    budgets: z.array(dryRunBudgetSchema),
    gates: z.array(dryRunGateSchema).meta({ description: 'The gates that can be reached' }),
    hosts: z.array(z.string()).meta({
      description: 'The hosts that its tools call; `at_run_time` for one that is not known before',
    }),
    secrets: z.array(z.string()).meta({ description: 'Names of the secrets that it uses' }),
    connections: z
      .array(dryRunConnectionSchema)
      .meta({ description: 'The connections whose tokens it sends' }),
  })
  .meta({ id: 'DryRun' });

export type DryRun = z.infer<typeof dryRunSchema>;
export type DryRunNode = z.infer<typeof dryRunNodeSchema>;
export type DryRunVerdict = z.infer<typeof dryRunVerdictSchema>;
export type DryRunBudget = z.infer<typeof dryRunBudgetSchema>;
export type DryRunConnection = z.infer<typeof dryRunConnectionSchema>;
export type DryRunGate = z.infer<typeof dryRunGateSchema>;

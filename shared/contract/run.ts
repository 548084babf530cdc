import { z } from 'zod';
import {
  dollars,
  jsonObject,
  jsonValue,
  nextCursor,
  pageQuery,
  timeInput,
  timestamp,
} from './common.ts';
import type { GateAnswer } from '../gate-decision.ts';
import { gateRuleFields } from './gate.ts';
import { evalsSchema } from './graph.ts';
import { checkpointSchema, stepSchema } from './step.ts';
import { runStatuses, triggers } from '../run-kinds.ts';
export const runStatusSchema = z.enum(runStatuses);
export const triggerSchema = z.enum(triggers);

const failureKinds = ['node', 'budget', 'cancelled', 'rejected', 'crash'] as const;
const failureSchema = z
  .object({
    kind: z.enum(failureKinds),
    node_id: z.string().optional(),
    with_parent: z.boolean().optional().meta({
      description: 'It was cancelled because the run that started it has ended',
    }),
  })
  .meta({ id: 'RunFailure' });

/** A tool call that waits for approval. The digest binds a decision to exactly these arguments. */
const pendingToolCallSchema = z
  .object({
    tool: z.string(),
    turn: z.int(),
    arguments: jsonObject.nullable().meta({
      description: 'As they will be sent; null for a caller without the capability approve_gates',
    }),
    schema_digest: z.string(),
    digest: z.string(),
  })
  .meta({ id: 'PendingToolCall' });

export const gateKinds = ['human_gate', 'tool_call'] as const;

const pendingGateSchema = z
  .object({
    kind: z.enum(gateKinds),
    node_id: z.string(),
    step_key: z.string(),
    label: z.string(),
    prompt: z.string(),
    since: timestamp,
    ...gateRuleFields,
    tool_call: pendingToolCallSchema.optional().meta({ description: 'For kind `tool_call`' }),
  })
  .meta({ id: 'PendingGate' });

/** A run in a list: without its payloads and steps. */
const summaryFields = {
  id: z.string(),
  run_id: z.string().meta({ description: 'The same as `id`' }),
  workspace_id: z.string(),
  workflow_id: z.string(),
  workflow_name: z.string(),
  workflow_version: z.int().meta({ description: 'The version pinned when the run was triggered' }),
  status: runStatusSchema,
  trigger: triggerSchema,
  parent_run_id: z.string().nullable().meta({
    description: 'For the trigger `workflow`: the run that started it, unless it was deleted',
  }),
  parent_step_key: z.string().nullable().meta({ description: 'The step that started it' }),
  error: z.string().nullable(),
  failure: failureSchema.nullable(),
  resumable: z.boolean(),
  cost_usd: dollars,
  cost_cap_usd: dollars.nullable(),
  duration_ms: z.int().meta({ description: 'Active time, without the wait at gates' }),
  waiting_ms: z.int().meta({ description: 'Time spent waiting at gates' }),
  created_by: z.string().nullable().meta({ description: 'The member who triggered it' }),
  created_at: timestamp,
  started_at: timestamp.nullable(),
  finished_at: timestamp.nullable(),
  resumed_count: z.int(),
};

const runSummarySchema = z.object(summaryFields).meta({ id: 'RunSummary' });

export const runSchema = z
  .object({
    ...summaryFields,
    input: jsonObject,
    state: jsonObject.nullable(),
    output: jsonValue.meta({
      description: 'Output keys of the nodes without a successor; null until then',
    }),
    children_cost_usd: dollars.meta({
      description:
        'The cost of the runs that it started, and of those that they started. It is not in `cost_usd`, but counts against `cost_cap_usd`',
    }),
    steps: z.array(stepSchema),
    checkpoints: z.array(checkpointSchema),
    pending_gate: pendingGateSchema.nullable().meta({ description: 'The oldest open gate' }),
    pending_gates: z.array(pendingGateSchema).meta({
      description:
        'Every gate that can be decided now, oldest first. A run with other active branches may have some, too',
    }),
    evals: evalsSchema.nullable(),
    temporal: z.object({
      workflow_id: z.string(),
      run_id: z.string().nullable(),
      url: z.string().nullable().meta({
        description: "The run's page in the Temporal UI; null where TEMPORAL_UI_URL is not set",
      }),
    }),
  })
  .meta({ id: 'Run' });

export const runListSchema = z
  .object({ runs: z.array(runSummarySchema), next_cursor: nextCursor })
  .meta({ id: 'RunList' });

export const runListQuery = z.strictObject({
  workflow_id: z.string().min(1).max(100).optional(),
  status: runStatusSchema.optional(),
  trigger: triggerSchema.optional(),
  parent_run_id: z
    .string()
    .min(1)
    .max(100)
    .optional()
    .meta({ description: 'Only the runs that this run started' }),
  since: timeInput.optional().meta({ description: 'Created at or after' }),
  ...pageQuery.shape,
});

/** The same without the workflow, which is in the path. */
export const workflowRunsQuery = runListQuery.omit({ workflow_id: true });

const approvalSchema = z
  .object({
    run_id: z.string(),
    workflow_id: z.string(),
    workflow_name: z.string(),
    ...pendingGateSchema.shape,
  })
  .meta({ id: 'Approval' });

export const approvalListSchema = z
  .object({ approvals: z.array(approvalSchema), next_cursor: nextCursor })
  .meta({ id: 'ApprovalList' });

/** Any object; an absent body is the empty input. */
export const runInputBody = jsonObject.nullish().meta({
  description: 'The run input: any JSON object. No body means `{}`',
  examples: [{ ticket: 'I was charged twice' }],
});

/** A person's decision at a gate, as requests and tools send it. */
export const gateAnswerFields = {
  approved: z.boolean().default(true),
  input: jsonObject.optional().meta({
    description: 'Merged into the run state. It must fit the `input_schema` of the gate',
  }),
  reason: z.string().trim().max(1_000).optional().meta({
    description:
      'The reason: stored with the decision, and shown in the error of a run that it fails',
  }),
} satisfies Record<keyof GateAnswer, z.ZodType>;

/** What the decision about a tool call is bound to. */
export const toolCallDecisionFields = {
  digest: z
    .string()
    .regex(/^sha256:[0-9a-f]{64}$/, 'must be the digest of an open tool call')
    .optional()
    .meta({
      description:
        'Required for a gate of kind `tool_call`: its `digest`, so that exactly the call that was shown is decided',
    }),
  arguments: jsonObject.optional().meta({
    description:
      'Of an approved tool call: the arguments to send instead. They must fit the schema of the tool',
  }),
};

/** The gate to decide. */
export const gateChoiceFields = {
  node_id: z
    .string()
    .min(1)
    .max(100)
    .optional()
    .meta({ description: 'The gate, when several are open; by default the oldest' }),
  step_key: z.string().min(1).max(1_000).optional().meta({
    description:
      "The gate's round, from `pending_gates`: a gate in a loop opens once per iteration",
  }),
};

export const decisionBody = z
  .strictObject({ ...gateAnswerFields, ...gateChoiceFields, ...toolCallDecisionFields })
  .nullish()
  .meta({ examples: [{ approved: true, input: { note: 'fine by me' }, reason: 'as agreed' }] });

/** A key for a request, so that sending it twice starts one run. */
export const idempotencyKeySchema = z
  .string()
  .regex(/^[\x20-\x7e]{1,255}$/, 'must be 1 to 255 printable ASCII characters');

export type RunStatus = z.infer<typeof runStatusSchema>;
export type Trigger = z.infer<typeof triggerSchema>;
export type Failure = z.infer<typeof failureSchema>;
export type PendingGate = z.infer<typeof pendingGateSchema>;
export type RunSummary = z.infer<typeof runSummarySchema>;
export type Run = z.infer<typeof runSchema>;
export type Approval = z.infer<typeof approvalSchema>;

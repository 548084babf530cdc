import { z } from 'zod';
import { errorKinds } from '#shared/graph/caught-error.ts';
import { nodeKinds } from '#shared/graph/kinds.ts';
import { dollars, jsonValue, nextCursor, pageQuery, timestamp } from '#shared/contract/common.ts';
import { decisionSchema, gateDecisionSchema } from '#shared/contract/gates/gate.ts';
import { policyVerdictSchema } from '#shared/contract/policies/governance.ts';
import { stepStatuses } from '#shared/contract/runs/run-kinds.ts';

const stepStatusSchema = z.enum(stepStatuses);

export const usageSchema = z.object({
  input_tokens: z.int(),
  output_tokens: z.int(),
  cached_tokens: z
    .int()
    .optional()
    .meta({ description: 'The part of `input_tokens` that the provider read from its cache' }),
  cache_write_tokens: z.int().optional().meta({
    description: 'The part of `input_tokens` that the provider stored in its cache, at a surcharge',
  }),
  price: z
    .object({
      input_usd_per_million: dollars,
      output_usd_per_million: dollars,
      cached_input_usd_per_million: dollars.optional(),
    })
    .optional()
    .meta({
      description:
        'What the tokens were charged at; missing for an agent with tools, and in runs of 1.0.0',
    }),
});

const attemptOutcomes = ['success', 'failed', 'cancelled', 'interrupted'] as const;

/** One attempt at a step. The costs of all attempts add up to the cost of the step. */
const stepAttemptSchema = z
  .object({
    attempt: z.int(),
    outcome: z.enum(attemptOutcomes).nullable().meta({
      description:
        'Null while it is running. `interrupted`: its worker was shut down or lost, which uses up no retry',
    }),
    started_at: timestamp,
    finished_at: timestamp.nullable(),
    duration_ms: z.int().nullable(),
    error: z.string().nullable(),
    cost_usd: dollars,
  })
  .meta({ id: 'StepAttempt' });

/** A call that a model requested in a turn. */
const toolCallSchema = z
  .object({
    tool: z.string(),
    index: z.int().meta({ description: 'Its number in the turn, from 1' }),
  })
  .meta({ id: 'StepToolCall' });

/** One node in one iteration: its input, its output and its cost. */
export const stepSchema = z
  .object({
    step_key: z.string().meta({
      description: 'Node id and iterations of loops and maps: stable over retries and resumes',
    }),
    node_id: z.string(),
    label: z.string(),
    kind: z.enum(nodeKinds),
    iteration: z
      .array(z.int())
      .meta({ description: 'Iterations of the enclosing loops and maps, outermost first' }),
    attempt: z.int().meta({ description: 'The number of attempts' }),
    status: stepStatusSchema,
    started_at: timestamp,
    finished_at: timestamp.nullable(),
    duration_ms: z.int().nullable(),
    queued_ms: z.int().nullable().optional().meta({ description: 'From ready to started' }),
    retried_ms: z
      .int()
      .nullable()
      .meta({
        description:
          'The part of `duration_ms` before the last attempt: earlier attempts and the delays after them, since the last resume; 0 for a ' +
          'first attempt, null where it was not recorded',
      }),
    attempts: z
      .array(stepAttemptSchema)
      .meta({ description: 'Every attempt, oldest first, including those before a resume' }),
    cost_usd: dollars,
    model: z.string().optional(),
    usage: usageSchema.optional(),
    unpriced: z
      .boolean()
      .optional()
      .meta({ description: 'The model has no price, so the cost is unknown' }),
    cost_estimated: z.boolean().optional().meta({
      description:
        'The provider has not reported the tokens of an answer: the cost includes what its request may have cost at most',
    }),
    input: jsonValue,
    output: jsonValue,
    error: z.string().nullable(),
    error_kind: z
      .enum(errorKinds)
      .optional()
      .meta({
        description:
          'Why its last attempt failed. `timeout`: it took too long, `policy`: refused by a policy, `rejected`: a decision at ' +
          'a gate, `child`: what it started has failed, `connection`: someone has to sign in to a connection, `node`: any other error',
      }),
    caught: z.boolean().optional().meta({
      description: 'It has failed, and its error edges were taken: the run continues',
    }),
    policy: z.array(policyVerdictSchema),
    child_run_id: z.string().optional().meta({
      description: 'For a node of kind `workflow`: the run that the step started',
    }),
    reused_from: z.string().optional().meta({
      description:
        'For a fork: the run that executed the step. Its result was reused, which took no time and cost nothing here',
    }),
    log: z.string().optional().meta({
      description: 'For code: what its last execution has logged, up to 64 kB',
    }),
    paused_child: z.literal(true).optional().meta({
      description: 'The run that the step started is paused: somebody must decide there',
    }),
    parent_step_key: z.string().optional().meta({
      description:
        'For a turn or a call of an agent with tools: the step of the agent. The cost of that step includes it',
    }),
    turn: z.int().optional().meta({
      description: 'For a turn or a call of an agent with tools: the number of the turn, from 1',
    }),
    tool_call: toolCallSchema.optional().meta({ description: 'For a call of an agent with tools' }),
    decision: decisionSchema
      .optional()
      .meta({ description: 'For a gate that was decided and has not opened again since' }),
    decisions: z.array(gateDecisionSchema).optional().meta({
      description: 'For a gate with settings: who has decided what since it opened, oldest first',
    }),
  })
  .meta({ id: 'Step' });

/** How many steps a node has. */
export const stepCountSchema = z
  .object({
    node_id: z.string(),
    label: z.string(),
    kind: z.enum(nodeKinds),
    total: z.int(),
    by_status: z.partialRecord(stepStatusSchema, z.int()),
    caught: z.int().meta({ description: 'How many of the failed ones were caught' }),
  })
  .meta({ id: 'StepCount' });

export const stepListSchema = z
  .object({ steps: z.array(stepSchema), next_cursor: nextCursor })
  .meta({ id: 'StepList' });

export const stepListQuery = z.strictObject({
  node_id: z.string().min(1).max(100).optional(),
  step_key: z.string().min(1).max(1_000).optional(),
  status: stepStatusSchema.optional(),
  ...pageQuery.shape,
});

/** Where an execution can be reset to. */
export const checkpointSchema = z
  .object({
    step_key: z.string(),
    at: timestamp,
    event_id: z.int().nullable().meta({ description: 'Its event in the Temporal history' }),
  })
  .meta({ id: 'Checkpoint' });

export type StepAttempt = z.infer<typeof stepAttemptSchema>;
export type StepCount = z.infer<typeof stepCountSchema>;
export type Step = z.infer<typeof stepSchema>;
export type Checkpoint = z.infer<typeof checkpointSchema>;

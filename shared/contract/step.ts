import { z } from 'zod';
import { nodeKinds } from '../graph/kinds.ts';
import { dollars, jsonValue, timestamp } from './common.ts';
import { policyVerdictSchema } from './governance.ts';

const stepStatuses = ['running', 'success', 'failed', 'paused', 'skipped', 'cancelled'] as const;
const stepStatusSchema = z.enum(stepStatuses);

const usageSchema = z.object({ input_tokens: z.int(), output_tokens: z.int() });

/** What a person said at a gate. */
const decisionSchema = z
  .object({
    approved: z.boolean(),
    by: z
      .string()
      .nullable()
      .meta({ description: 'The name of whoever decided, if they have one' }),
    at: timestamp,
    reason: z.string().nullable(),
  })
  .meta({ id: 'Decision' });

const attemptOutcomes = ['success', 'failed', 'cancelled', 'interrupted'] as const;

/** One attempt at a step. All attempts at a step together cost what the step costs. */
const stepAttemptSchema = z
  .object({
    attempt: z.int(),
    outcome: z.enum(attemptOutcomes).nullable().meta({
      description:
        'Null while it is at work. `interrupted`: its worker was shut down or lost, which uses up no try',
    }),
    started_at: timestamp,
    finished_at: timestamp.nullable(),
    duration_ms: z.int().nullable(),
    error: z.string().nullable(),
    cost_usd: dollars,
  })
  .meta({ id: 'StepAttempt' });

/** One node in one round: what it was given, what it gave, what it cost. */
export const stepSchema = z
  .object({
    step_key: z
      .string()
      .meta({ description: 'Node id and loop rounds: stable over retries and resumes' }),
    node_id: z.string(),
    label: z.string(),
    kind: z.enum(nodeKinds),
    iteration: z
      .array(z.int())
      .meta({ description: 'Rounds of the loops around it, outermost first' }),
    attempt: z.int().meta({ description: 'How many attempts there were' }),
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
          'The part of `duration_ms` that earlier attempts and the pauses after them took, since the last resume; 0 for a ' +
          'first attempt, null where it was not written down',
      }),
    attempts: z
      .array(stepAttemptSchema)
      .meta({ description: 'Every attempt, oldest first, those before a resume too' }),
    cost_usd: dollars,
    model: z.string().optional(),
    usage: usageSchema.optional(),
    unpriced: z
      .boolean()
      .optional()
      .meta({ description: 'The model has no price, so the cost is not known' }),
    input: jsonValue,
    output: jsonValue,
    error: z.string().nullable(),
    policy: z.array(policyVerdictSchema),
    decision: decisionSchema
      .optional()
      .meta({ description: 'Of a gate that was decided and has not been asked again since' }),
  })
  .meta({ id: 'Step' });

/** Where an execution can be taken up again. */
export const checkpointSchema = z
  .object({
    step_key: z.string(),
    at: timestamp,
    event_id: z
      .int()
      .nullable()
      .meta({ description: 'Event of the Temporal history that holds it' }),
  })
  .meta({ id: 'Checkpoint' });

export type StepAttempt = z.infer<typeof stepAttemptSchema>;
export type Step = z.infer<typeof stepSchema>;
export type Checkpoint = z.infer<typeof checkpointSchema>;

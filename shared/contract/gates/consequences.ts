import { z } from 'zod';
import { errorBody, jsonObject } from '#shared/contract/common.ts';
import { staleSchema } from './recheck.ts';
import { countBounds, dollarBounds } from '#shared/contract/bounds.ts';

const deciderSchema = z
  .object({
    node_id: z.string(),
    when: z.enum(['true', 'false', 'error', 'success']).meta({
      description: 'The result of a condition, loop or gate, or how another node ends',
    }),
    expression: z.string().optional().meta({ description: 'Of a condition or loop' }),
  })
  .meta({ id: 'EffectCondition' });

const effectSchema = z
  .object({
    node_id: z.string(),
    step_key: z.string().meta({
      description: 'With `*` for an iteration or item that is not known yet',
      examples: ['pay#2.*'],
    }),
    label: z.string(),
    kind: z.enum(['tool', 'agent', 'workflow']),
    tool: z.string().optional(),
    certainty: z.enum(['certain', 'conditional', 'per_item']).meta({
      description:
        '`certain`: it happens unless the run fails or is cancelled. `conditional`: see `conditions`. `per_item`: for each item of a map or iteration of a loop, see `executions`',
    }),
    conditions: z.array(deciderSchema).meta({ description: 'What decides whether it happens' }),
    executions: countBounds.optional(),
    effect: z.enum(['read', 'write']).meta({
      description: '`write`: it can change data or another system',
    }),
    host: z.string().optional().meta({
      description: 'What it calls; `at_run_time` if it is known when it is executed',
    }),
    may_call: z
      .array(
        z.object({
          tool: z.string(),
          approval: z.string(),
          tool_digest: z.string().nullable().optional().meta({
            description: 'Of a custom tool or a workflow: the digest of what it reaches at present',
          }),
        }),
      )
      .optional()
      .meta({ description: 'For an agent: its tools, and which of their calls need approval' }),
    approval: z.string().optional().meta({
      description:
        'It asks for its own approval first if this expression is true, which is not known yet',
    }),
    arguments: jsonObject.nullable().meta({
      description:
        'Null where a value is not known yet; null as a whole for a caller without the capability approve_gates',
    }),
    items: z
      .object({
        count: z.int(),
        first: z.array(jsonObject),
        last: z.array(jsonObject),
        unknown: z.array(
          z.object({
            path: z.array(z.union([z.string(), z.int()])),
            reads: z.array(z.string()),
          }),
        ),
        digest: z.string(),
      })
      .optional()
      .meta({
        description:
          'For a map with more than 100 known items: their number, the arguments of the first and last ten, which arguments are not known, and a digest over all items, to which the decision is bound',
      }),
    target: z
      .object({ tool_digest: z.string().nullable(), schema_digest: z.string() })
      .optional()
      .meta({
        description:
          'Of a custom tool or a workflow: the digests of what it reaches at present, and of the schema of its arguments. A change of either makes the digest of the gate outdated',
      }),
    unknown: z
      .array(
        z.object({
          path: z.array(z.union([z.string(), z.int()])),
          reads: z.array(z.string()).meta({ description: 'Values of the state' }),
        }),
      )
      .meta({ description: 'The arguments that are not known yet' }),
    problem: z.string().optional().meta({ description: 'Why its arguments cannot be rendered' }),
    cost_usd: dollarBounds.meta({ description: 'Of one execution' }),
  })
  .meta({ id: 'Effect' });

const answerSchema = z
  .object({
    effects: z
      .array(effectSchema)
      .meta({ description: 'What is executed, up to the next decisions' }),
    more: z.int().meta({
      description:
        'How many further effects are possible: behind other gates, or after the map around this one',
    }),
    next_gates: z.array(z.string()).meta({
      description:
        'The ids of the gates reached next, and of the steps that ask for their own approval',
    }),
  })
  .meta({ id: 'AnswerConsequences' });

/** What each answer to a gate sets in motion. */
export const consequencesSchema = z
  .object({
    approve: answerSchema,
    reject: answerSchema,
    timeout: answerSchema.optional().meta({ description: 'For a gate with a deadline' }),
  })
  .meta({ id: 'Consequences' });

/** What a gate shows. */
export const shownSchema = z.object({ digest: z.string(), consequences: consequencesSchema });

/** The response to a decision that does not count, with what the gate shows if that is the reason. */
export const gateChangedSchema = z
  .object({
    detail: errorBody.shape.detail,
    current: shownSchema.optional().meta({
      description:
        'For the `digest` of something else than the gate shows now: what it shows, with the `input` of the decision',
    }),
    code: z.literal('changed').optional().meta({
      description: 'A recheck has found other values: reject the gate, or send `accept_changes`',
    }),
    stale: staleSchema.optional(),
  })
  .meta({ id: 'GateChanged', description: 'The state of the gate does not allow this' });

export type GateConsequences = z.infer<typeof consequencesSchema>;

import { z } from 'zod';
import { jsonValue, timestamp } from '#shared/contract/common.ts';

/** `{}` is the same as `true`. */
export const recheckSetting = z.union([
  z.boolean(),
  z.strictObject({ after_seconds: z.number().min(0).max(31_536_000).optional() }),
]);

const readPath = z.array(z.union([z.string(), z.int()])).meta({
  description: 'Keys and indexes within the output of the step; empty for the whole output',
});

const differenceSchema = z
  .object({
    step_key: z.string(),
    tool: z.string(),
    path: readPath,
    before: jsonValue.meta({
      description:
        'As it was read. A value of more than 1,000 characters is a text with its start. Null for a caller without the capability approve_gates',
    }),
    now: jsonValue.meta({ description: 'As it is now, like `before`' }),
    problem: z
      .string()
      .optional()
      .meta({ description: 'Why the read could not be repeated: then both values are null' }),
    run_id: z.string().nullable().meta({ description: 'The rehearsal that repeated the read' }),
  })
  .meta({ id: 'RecheckDifference' });

export type RecheckDifference = z.infer<typeof differenceSchema>;

export const differencesSchema = z.array(differenceSchema);

/** What a gate with `recheck` depends on. */
const gateRecheckSchema = z
  .object({
    after_seconds: z.number().optional(),
    reads: z
      .array(z.object({ step_key: z.string(), tool: z.string(), paths: z.array(readPath) }))
      .meta({ description: 'The reads that an approval repeats, with what is compared' }),
    not_repeated: z
      .array(
        z.object({
          step_key: z.string(),
          kind: z.enum(['agent', 'tool', 'code', 'workflow']),
        }),
      )
      .meta({
        description:
          'Steps that the gate also depends on, and that are not repeated: agents, runs of workflows, and tools that can change something',
      }),
    at: timestamp.nullable().meta({ description: 'When the reads were repeated last' }),
  })
  .meta({ id: 'GateRecheck' });

export const staleSchema = z
  .object({
    at: timestamp.meta({ description: 'When the reads were repeated' }),
    differences: differencesSchema,
    more: z.int().meta({ description: 'How many further differences there are' }),
  })
  .meta({ id: 'StaleGate' });

/** Whether an approval counts although what the gate shows has changed since. */
export const acceptChangesField = {
  accept_changes: z.boolean().optional().meta({
    description:
      'For a gate that shows `stale`: approves anyway. What was shown is sent; the differences are stored with the decision',
  }),
};

/** Fields of a gate with `recheck`. */
export const recheckFields = {
  recheck: gateRecheckSchema.optional().meta({ description: 'For a gate with `recheck`' }),
  stale: staleSchema.optional().meta({
    description:
      'The last recheck found other values than those that the gate shows. `accept_changes` approves it anyway',
  }),
};

export type GateRecheck = z.infer<typeof gateRecheckSchema>;
export type Stale = z.infer<typeof staleSchema>;

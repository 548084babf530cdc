import { z } from 'zod';
import { offsetQuery, timestamp } from '#shared/contract/common.ts';
import { runStatusSchema } from '#shared/contract/runs/run.ts';

/** Who holds the slots of a key, and who waits. */

export const QUEUE_RUNS = 100;

const placeFields = { run_id: z.string(), status: runStatusSchema, since: timestamp };

export const queueSchema = z
  .object({
    workflow_id: z.string(),
    workflow_name: z.string(),
    for: z.enum(['concurrency', 'rate', 'debounce']),
    key: z.string().meta({ description: 'The filled-in `key` of the limit; empty without one' }),
    limit: z
      .int()
      .nullable()
      .meta({ description: 'Null for `debounce`, and if the limit was removed meanwhile' }),
    in_flight: z.array(z.object(placeFields)).meta({
      description: `For \`concurrency\`: the runs that hold a slot, the first ${QUEUE_RUNS}. One with an end still has a step that a worker executes`,
    }),
    waiting: z
      .array(
        z.object({
          ...placeFields,
          position: z.int(),
          priority: z.int(),
          until: timestamp
            .nullable()
            .meta({ description: 'For `debounce`: when it starts, unless it is triggered again' }),
          deadlocked: z.boolean().meta({
            description:
              'Every run that holds a slot of the key waits for a run that waits like this one: cancel one of them. Only found for keys with up to 100 slots',
          }),
        }),
      )
      .meta({ description: `The runs that wait, in order, the first ${QUEUE_RUNS}` }),
    waiting_count: z.int(),
  })
  .meta({ id: 'RunQueue' });
export type RunQueue = z.infer<typeof queueSchema>;

export const queueListQuery = offsetQuery.extend({
  workflow_id: z.string().min(1).max(100).optional(),
});

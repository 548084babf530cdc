import { z } from 'zod';
import { timestamp } from '#shared/contract/common.ts';

/** What a step of an open run waits for. */
export const waitingSchema = z
  .object({
    node_id: z.string(),
    step_key: z.string(),
    label: z.string(),
    for: z.enum(['time', 'event', 'callback', 'limit']),
    events: z.array(z.string()).meta({ description: 'The names of the events' }),
    since: timestamp,
    until: timestamp.nullable().meta({ description: 'The time, or the deadline' }),
    limit: z
      .object({
        name: z.string().meta({ description: 'The tool or the model' }),
        key: z
          .string()
          .nullable()
          .meta({ description: 'The value of the `key` of the limit, redacted by the policies' }),
        concurrency: z.int().nullable(),
        per_minute: z.int().nullable(),
      })
      .nullable()
      .meta({ description: 'For `limit`: the limit of the policies that has no free call' }),
  })
  .meta({ id: 'Waiting' });
export type Waiting = z.infer<typeof waitingSchema>;

import { z } from 'zod';
import { timestamp } from '#shared/contract/common.ts';

/** Where a run waits because of a limit of its workflow. */
export const queuedSchema = z
  .object({
    for: z.enum(['concurrency', 'rate', 'debounce']),
    key: z.string().meta({ description: 'The filled-in `key` of the limit; empty without one' }),
    position: z.int().meta({ description: '1: it is next. Counted up to 1,000' }),
    until: timestamp.nullable().meta({
      description: 'For `debounce`: when it starts, unless it is triggered again. Otherwise null',
    }),
    length: z.int().meta({ description: 'How many wait with this key. Counted up to 1,000' }),
  })
  .meta({ id: 'Queued' });

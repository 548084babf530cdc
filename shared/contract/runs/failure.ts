import { z } from 'zod';
import { failureKinds } from './run-kinds.ts';

/** Why a run has failed. */
export const failureSchema = z
  .object({
    kind: z.enum(failureKinds),
    node_id: z.string().optional(),
    with_parent: z.boolean().optional().meta({
      description: 'It was cancelled because the run that started it has ended',
    }),
    event_id: z.string().optional().meta({ description: 'The event that cancelled it' }),
  })
  .meta({ id: 'RunFailure' });

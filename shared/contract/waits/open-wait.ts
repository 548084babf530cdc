import { z } from 'zod';
import { nextCursor } from '#shared/contract/common.ts';
import { waitingSchema } from './waiting.ts';

/** A step of an open run that waits for a time, an event or a callback. */
export const openWaitSchema = waitingSchema
  .extend({ run_id: z.string(), workflow_id: z.string(), workflow_name: z.string() })
  .meta({ id: 'OpenWait' });
export type OpenWait = z.infer<typeof openWaitSchema>;

export const openWaitPage = z.object({ waits: z.array(openWaitSchema), next_cursor: nextCursor });

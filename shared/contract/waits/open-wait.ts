import { z } from 'zod';
import { nextCursor, pageQuery } from '#shared/contract/common.ts';
import { waitedFor, waitingSchema } from './waiting.ts';

/** A step of an open run that waits. */
export const openWaitSchema = waitingSchema
  .extend({ run_id: z.string(), workflow_id: z.string(), workflow_name: z.string() })
  .meta({ id: 'OpenWait' });
export type OpenWait = z.infer<typeof openWaitSchema>;

export const openWaitPage = z.object({ waits: z.array(openWaitSchema), next_cursor: nextCursor });

export const waitQuery = pageQuery.extend({
  for: z.enum(waitedFor).optional(),
  member_id: z
    .string()
    .optional()
    .meta({ description: 'Only steps that wait for a sign-in of this member' }),
});
export type WaitQuery = z.infer<typeof waitQuery>;

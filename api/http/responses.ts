import { z } from 'zod';
import { errorBody } from '../../shared/contract/common.ts';
import { type ErrorCode, errorTable } from '../../shared/errors.ts';

/** An answer whose media type depends on the request. */
interface InSeveralForms {
  description: string;
  content: Record<string, { schema: z.ZodType }>;
}

/**
 * The answers of a route: those that succeed, and the codes it refuses with beside those that follow from what it
 * declares (see `openapi/answers.ts`). Errors are typed away, since only the error handler sends them.
 */
export function answers<Success extends Record<number, z.ZodType | InSeveralForms>>(
  success: Success,
  ...refusals: ErrorCode[]
): Success {
  const statuses = refusals.map((code) => errorTable[code].status);
  return { ...Object.fromEntries(statuses.map((status) => [status, errorBody])), ...success };
}

/** The answer of a route that has nothing to say. */
export const nothing = z.undefined().meta({ description: 'Done' });

export const workflowParams = z.strictObject({ id: z.string().min(1) });
export const scheduleParams = z.strictObject({ id: z.string().min(1) });
export const runParams = z.strictObject({ id: z.string().min(1) });
export const templateParams = z.strictObject({ id: z.string().min(1) });
export const endpointParams = z.strictObject({ id: z.string().min(1) });
export const deliveryParams = z.strictObject({
  id: z.string().min(1),
  delivery_id: z.string().min(1),
});

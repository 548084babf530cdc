import { z } from 'zod';
import { errorBody } from '../../shared/contract/common.ts';
import { type ErrorCode, errorTable } from '../../shared/errors.ts';

/** A response whose media type depends on the request. */
interface InSeveralForms {
  description: string;
  content: Record<string, { schema: z.ZodType }>;
}

/**
 * The responses of a route: its successes, and the error codes that do not follow from its other declarations (see
 * `openapi/responses.ts`). Errors are excluded by type, since only the error handler sends them.
 */
export function answers<Success extends Record<number, z.ZodType | InSeveralForms>>(
  success: Success,
  ...refusals: ErrorCode[]
): Success {
  const statuses = refusals.map((code) => errorTable[code].status);
  return { ...Object.fromEntries(statuses.map((status) => [status, errorBody])), ...success };
}

/** The response of a route without content. */
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

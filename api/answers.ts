import { z } from 'zod';
import { errorBody } from '../shared/contract/common.ts';
import { type ErrorCode, errorTable } from '../shared/errors.ts';

/** What any route may answer, whoever asks and whatever for. */
const anyRoute: readonly ErrorCode[] = [
  'invalid',
  'unauthenticated',
  'forbidden',
  'rate_limited',
  'internal',
  'unavailable',
];

/**
 * The answers of a route: those that succeed, and the codes it refuses with beside the ones every route has.
 * Errors are typed away, since only the error handler sends them.
 */
export function answers<Success extends Record<number, z.ZodType>>(
  success: Success,
  ...refusals: ErrorCode[]
): Success {
  const statuses = [...anyRoute, ...refusals].map((code) => errorTable[code].status);
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

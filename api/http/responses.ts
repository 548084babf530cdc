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

const refusedWrites = new Map<z.ZodType, z.ZodType>();

/** The 412 of writes of this record, which shows its current state. */
export function refusedWriteOf(record: z.ZodType): z.ZodType {
  const known = refusedWrites.get(record);
  if (known !== undefined) return known;
  const { id = 'Record' } = record.meta() ?? {};
  const schema = z
    .object({
      detail: errorBody.shape.detail,
      current: record.nullable().meta({
        description: 'As it is now; null when it is gone',
      }),
    })
    .meta({ id: `${id}Changed`, description: 'It is not as `If-Match` says' });
  refusedWrites.set(record, schema);
  return schema;
}

/** The response of a route without content. */
export const nothing = z.undefined().meta({ description: 'Done' });

export const workflowParams = z.strictObject({ id: z.string().min(1) });
export const nodeParams = z.strictObject({ id: z.string().min(1), node_id: z.string().min(1) });
export const scheduleParams = z.strictObject({ id: z.string().min(1) });
export const runParams = z.strictObject({ id: z.string().min(1) });
export const templateParams = z.strictObject({ id: z.string().min(1) });
export const jobParams = z.strictObject({ id: z.string().min(1) });
export const endpointParams = z.strictObject({ id: z.string().min(1) });
export const deliveryParams = z.strictObject({
  id: z.string().min(1),
  delivery_id: z.string().min(1),
});

import { serializerCompiler } from 'fastify-type-provider-zod';
import { z } from 'zod';
import { errorBody } from '#shared/contract/common.ts';
import { forkSchema } from '#shared/contract/forks/fork.ts';
import { nodeTestSchema } from '#shared/contract/workflows/node-test.ts';
import { runSchema, startedRunSchema } from '#shared/contract/runs/run.ts';
import { stepListSchema } from '#shared/contract/steps/step.ts';
import { type ErrorCode, errorTable } from '#shared/errors.ts';
import { jsonOf } from '#shared/values/json-text.ts';

/** A response whose media type depends on the request. */
interface InSeveralForms {
  description: string;
  content: Record<string, { schema: z.ZodType }>;
}

/**
 * The responses of a route: its successes, and the error codes that do not follow from its other declarations (see
 * `openapi/responses.ts`). Errors are excluded by type, since only the error handler sends them.
 */
export function responses<Success extends Record<number, z.ZodType | InSeveralForms>>(
  success: Success,
  ...refusals: ErrorCode[]
): Success {
  const statuses = refusals.map((code) => errorTable[code].status);
  return { ...Object.fromEntries(statuses.map((status) => [status, errorBody])), ...success };
}

const refusedWrites = new Map<z.ZodType, z.ZodType>();

/** The 412 response of writes to this record, which contains its present state. */
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

/** The parameters of a path with one `{id}`. */
export const idParams = z.strictObject({ id: z.string().min(1) });
export const nodeParams = z.strictObject({ id: z.string().min(1), node_id: z.string().min(1) });
export const deliveryParams = z.strictObject({
  id: z.string().min(1),
  delivery_id: z.string().min(1),
});

/**
 * Responses with payloads of steps, which can be megabytes. Their records are built field by field, and the tests check
 * each of them against its schema. Checking them here would mean parsing and serializing all payloads.
 */
const withPayloads = new Set<z.ZodType>([
  runSchema,
  startedRunSchema,
  forkSchema,
  nodeTestSchema,
  stepListSchema,
]);

/** Serializes responses as JSON, checked against the schema of their route. */
export const serializer: typeof serializerCompiler = (route) =>
  withPayloads.has(route.schema as z.ZodType) ? jsonOf : serializerCompiler(route);

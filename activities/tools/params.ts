import { z } from 'zod';
import { type JsonObject, toStorable } from '#shared/json.ts';
import { NodeError } from '#activities/nodes/node.ts';

/** Parses a tool's parameters. Throws a final NodeError that names every invalid parameter. */
export function parseParams<Schema extends z.ZodType>(
  tool: string,
  schema: Schema,
  params: JsonObject,
): z.output<Schema> {
  const result = schema.safeParse(params);
  if (result.success) return result.data;
  const problems = result.error.issues.map((issue) =>
    issue.path.length === 0 ? issue.message : `'${issue.path.join('.')}' ${issue.message}`,
  );
  throw new NodeError(`${tool}: ${problems.join('; ')}`, { retryable: false });
}

/** Parameters for the database: characters that it cannot store are replaced, and null counts as absent. */
export const storable = (params: JsonObject): JsonObject =>
  Object.fromEntries(
    Object.entries(toStorable(params) as JsonObject).filter(([, value]) => value !== null),
  );

/** A field of a query, whose values are texts, as a parameter that can also be a number. */
export const numberOf = <Schema extends z.ZodType>(field: Schema) =>
  z.preprocess((value) => (typeof value === 'number' ? String(value) : value), field);

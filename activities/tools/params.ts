import type { z } from 'zod';
import type { JsonObject } from '../../shared/json.ts';
import { NodeError } from '../nodes/node.ts';

/** Parses a tool's parameters. Throws a final NodeError that names every parameter at fault. */
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

import type { Db } from '#shared/db/pool.ts';
import { readInputSchema } from '#shared/db/workflows/current-graph.ts';
import { AppError } from '#shared/errors.ts';
import type { JsonObject } from '#shared/json.ts';
import { formSchemaProblem, inputUntrusted } from '#shared/platform/threads/untrusted.ts';
import { refusedInput as refusalOf } from '#shared/graph/failure-texts.ts';

/** Checks the `input_schema` of a request. Throws AppError `invalid`. */
export async function requireInputSchema(
  workspaceId: string,
  schema: JsonObject | null | undefined,
): Promise<void> {
  if (schema == null) return;
  const problem = await formSchemaProblem(workspaceId, schema);
  if (problem !== undefined) throw new AppError('invalid', `Invalid body: input_schema ${problem}`);
}

/**
 * Requires that an input that is saved for later runs is valid for the current version. Throws AppError `not_found`,
 * `input_invalid`.
 */
export async function requireFittingInput(
  db: Db,
  scope: { workspaceId: string; workflowId: string },
  input: JsonObject,
): Promise<void> {
  const schema = await readInputSchema(db, scope);
  if (schema === null) return;
  const refusal = await refusedInput(scope.workspaceId, schema, input);
  if (refusal !== undefined) throw refusal;
}

/**
 * The error for an input that does not match the schema, with the path of each problem; undefined when it matches.
 * `owner` is what has the schema: the workflow of a run, or the gate of a decision.
 */
export async function refusedInput(
  workspaceId: string,
  schema: JsonObject,
  input: JsonObject,
  owner: 'workflow' | 'gate' = 'workflow',
): Promise<AppError | undefined> {
  const detail = refusalOf(await inputUntrusted(workspaceId, schema, input), owner);
  return detail === undefined ? undefined : new AppError('input_invalid', detail);
}

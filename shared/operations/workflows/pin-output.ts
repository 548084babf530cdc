import type { Pin } from '#shared/contract/workflows/node-test.ts';
import type { NodeInRun } from '#shared/db/forks/node-steps.ts';
import type { Pool } from '#shared/db/pool.ts';
import { readWithDraft } from '#shared/db/workflows/drafts.ts';
import { savePin } from '#shared/db/workflows/pins.ts';
import { AppError } from '#shared/errors.ts';
import { isObject } from '#shared/graph/json-value.ts';
import type { Json } from '#shared/json.ts';
import type { Actor } from '#shared/people/actor.ts';
import { answerUntrusted } from '#shared/platform/threads/untrusted.ts';

/**
 * Pins the output of a node from a step of a run, or the given output instead. Throws AppError `not_found`,
 * `unprocessable` and `conflict`.
 */
export async function pinOutput(
  db: Pool,
  actor: Actor,
  workflowId: string,
  place: NodeInRun,
  output: Json | undefined,
): Promise<Pin> {
  if (output !== undefined) await requireFitting(db, actor, { workflowId, ...place }, output);
  return savePin(db, actor, workflowId, place, output);
}

/** An agent never returns what its response schema excludes, so no test may start with that. */
async function requireFitting(
  db: Pool,
  { workspaceId }: Actor,
  { workflowId, nodeId }: NodeInRun & { workflowId: string },
  output: Json,
): Promise<void> {
  const { graph, draft } = await readWithDraft(db, { workspaceId, workflowId });
  // A draft may have nodes that are not valid.
  const nodes = ((draft?.graph ?? graph).nodes as Json[]).filter(isObject);
  const schema = nodes.find(({ id }) => id === nodeId)?.['response_schema'];
  if (!isObject(schema)) return;
  const { problem } = await answerUntrusted(workspaceId, schema, output);
  if (problem === undefined) return;
  throw new AppError(
    'unprocessable',
    `The output does not fit the response_schema of node '${nodeId}': ${problem}`,
  );
}

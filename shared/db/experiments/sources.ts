import { z } from 'zod';
import { MAX_EXPERIMENT_RUNS } from '#shared/contract/experiments/experiment.ts';
import { AppError } from '#shared/errors.ts';
import { type Db, sql, statement } from '#shared/db/pool.ts';
import type { WorkflowScope } from '#shared/db/workflows/workflows.ts';

const idRow = z.object({ id: z.string() });

/**
 * The newest runs of a workflow that have ended, without rehearsals. Throws AppError `unprocessable` if there are none.
 */
export async function newestRuns(
  db: Db,
  scope: WorkflowScope,
  wanted: { last: number; status?: 'success' | 'failed' | undefined; since?: string | undefined },
): Promise<readonly string[]> {
  const { status = null, since = null } = wanted;
  const ids = await db.anyFirst(statement(idRow)`
    SELECT id FROM runs
    WHERE workflow_id = ${scope.workflowId} AND workspace_id = ${scope.workspaceId} AND rehearsal IS NULL
      AND status IN ('success', 'failed') AND (${status}::text IS NULL OR status = ${status}::text)
      AND (${since}::timestamptz IS NULL OR created_at >= ${since}::timestamptz)
    ORDER BY created_at DESC, id DESC LIMIT ${Math.min(wanted.last, MAX_EXPERIMENT_RUNS)}::int
  `);
  if (ids.length > 0) return ids;
  throw new AppError(
    'unprocessable',
    'No run fits: the workflow has no run that has ended with this status since then. Widen status or since, or run it first',
  );
}

const namedRow = z.object({
  id: z.string(),
  workflow_id: z.string(),
  status: z.string(),
  rehearsal: z.boolean(),
});

/**
 * The runs with these ids, each once, in the order of the request. Throws AppError `not_found` for a run that does not
 * exist in the workspace, and `unprocessable` for one that cannot be rehearsed here.
 */
export async function namedRuns(
  db: Db,
  { workspaceId, workflowId }: WorkflowScope,
  ids: readonly string[],
): Promise<readonly string[]> {
  const unique = [...new Set(ids)];
  const rows = await db.any(statement(namedRow)`
    SELECT id, workflow_id, status, rehearsal IS NOT NULL AS rehearsal FROM runs
    WHERE id = ANY (${sql.array(unique, 'text')}) AND workspace_id = ${workspaceId}
  `);
  const known = new Map(rows.map((row) => [row.id, row]));
  for (const id of unique) {
    const run = known.get(id);
    if (run === undefined) throw new AppError('not_found', `Run not found: ${id}`);
    const problem = problemOf(run, workflowId);
    if (problem !== undefined) {
      throw new AppError('unprocessable', `Run ${id} cannot be rehearsed here: ${problem}`);
    }
  }
  return unique;
}

function problemOf(run: z.infer<typeof namedRow>, workflowId: string): string | undefined {
  if (run.workflow_id !== workflowId) return 'it is of another workflow; name runs of this one';
  if (run.rehearsal) return 'it is a rehearsal itself; name the run that it rehearses';
  if (run.status === 'success' || run.status === 'failed') return undefined;
  return `it is ${run.status}; wait until it has ended, or leave it out`;
}

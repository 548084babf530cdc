import { listRuns } from '#shared/db/runs/run-list.ts';
import type { RunSummary } from '#shared/contract/runs/run.ts';
import type { Engine } from './engine.ts';

/** A `workflow` node. */
export const call = (id: string, workflow: string, rest: object = {}) =>
  ({ id, kind: 'workflow', workflow, ...rest }) as never;

/** The runs that a run started, oldest first. */
export async function childrenOf(
  { db, actor }: Engine,
  parentRunId: string,
): Promise<RunSummary[]> {
  const { workspaceId } = actor;
  const { runs } = await listRuns(db, { workspaceId, parent_run_id: parentRunId, limit: 200 });
  return runs.reverse();
}

import type { Graph } from '#shared/contract/workflows/graph.ts';
import type { Db } from '#shared/db/pool.ts';
import { readCalledGraphs } from '#shared/db/children/called-workflows.ts';
import { AppError } from '#shared/errors.ts';
import { calledBy, callKey } from '#shared/graph/children/called-workflows.ts';
import type { WeakenedWrite } from '#shared/graph/guards/weakened-writes.ts';
import { weakenedWritesUntrusted } from '#shared/platform/threads/untrusted.ts';

/** A graph of a workflow: a version, or a draft, which has no version. */
export interface Candidate {
  workspaceId: string;
  workflowId: string;
  version?: number | undefined;
  graph: Graph;
}

/**
 * The writes for which a version or draft requires less approval than the current version, and which version that is.
 * Undefined for a workflow that does not exist in the workspace. Throws WorkBusyError.
 */
export async function compareWithCurrent(
  db: Db,
  { workspaceId, workflowId, version, graph }: Candidate,
): Promise<{ current: number; less: WeakenedWrite[] } | undefined> {
  const self = { workflow: workflowId };
  const { [callKey(self)]: current, ...children } = await readCalledGraphs(db, workspaceId, [
    self,
    ...graph.nodes.flatMap(calledBy),
  ]);
  if (current === undefined) return undefined;
  const same = version === current.version;
  const compared = { graph, current: current.graph, children };
  return {
    current: current.version,
    less: same ? [] : await weakenedWritesUntrusted(workspaceId, compared),
  };
}

/** The error for running a version or draft that requires less approval; undefined if it does not. */
export function refusalOf(
  { version }: Pick<Candidate, 'version'>,
  [first, ...others]: readonly WeakenedWrite[],
): AppError | undefined {
  if (first === undefined) return undefined;
  const what = version === undefined ? 'this draft' : `version ${version}`;
  const more = others.length === 0 ? '' : `, and ${others.length} more`;
  return new AppError(
    'forbidden',
    `This action requires the 'publish_workflows' permission: in ${what}, node '${first.label}'${more} can write without ` +
      `${first.guard}, which the current version puts before it. Run the current version, or ask someone with the permission`,
  );
}

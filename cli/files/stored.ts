import type { Client, Workflow } from '#client/index.ts';
import { limitsOrNull, type StoredLimits } from '#shared/contract/limits/limits.ts';

/** A workflow of the workspace with all that a file describes. */
export interface StoredWorkflow extends Workflow {
  /** Null: none. */
  limits: StoredLimits | null;
  limitsEtag: string;
}

/** The workflows of the workspace, newest first. Throws ApiError. */
export async function listStored(client: Client): Promise<StoredWorkflow[]> {
  const listed = await client.listWorkflows({ include: 'limits' });
  return listed.map(({ limits, ...workflow }) => {
    if (limits === undefined) throw new Error('The service has not returned the limits');
    const { etag, ...settings } = limits;
    return { ...workflow, limits: limitsOrNull(settings), limitsEtag: etag };
  });
}

/** Without what only files need. */
export function plainWorkflow(stored: StoredWorkflow): Workflow {
  const { limits: _limits, limitsEtag: _etag, ...workflow } = stored;
  return workflow;
}

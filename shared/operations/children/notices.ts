import { takeNotices } from '#shared/db/children/notices.ts';
import { dispatch } from '#shared/operations/runs/dispatch.ts';
import type { DispatchDeps } from '#shared/operations/runs/executions.ts';

/** Notifies the parent of this run's end or pause. Never rejects: if it fails, the reconciler takes over. */
export async function notifyParent(deps: DispatchDeps, runId: string): Promise<void> {
  try {
    const notices = await takeNotices(deps.db, runId);
    await Promise.all(notices.map((row) => dispatch(deps, row)));
  } catch (error) {
    deps.log.warn({ err: error, runId }, 'could not notify the run that started this one');
  }
}

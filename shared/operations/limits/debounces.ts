import { type DueRun, dueDebounces, startDebounced } from '#shared/db/limits/debounces.ts';
import { abandonRun } from '#shared/db/runs/ends.ts';
import { notifyFrames } from '#shared/db/runs/frames.ts';
import { AppError } from '#shared/errors.ts';
import type { Place } from '#shared/graph/limits/place.ts';
import { eachOf } from '#shared/operations/each-of.ts';
import { dispatch } from '#shared/operations/runs/dispatch.ts';
import type { DispatchDeps } from '#shared/operations/runs/executions.ts';
import { findRunnable } from '#shared/operations/runs/find-runnable.ts';
import { recordRunSpan } from '#shared/operations/runs/run-span.ts';

/** Starts the runs for which no further trigger has come, with the current version of their workflow. */

const BATCH = 50;
const AT_ONCE = 10;

/** Returns how many were due. */
export async function startDueRuns(deps: DispatchDeps): Promise<number> {
  const due = await dueDebounces(deps.db, BATCH);
  await eachOf(due, AT_ONCE, (run) => startDue(deps, run));
  return due.length;
}

async function startDue(deps: DispatchDeps, run: DueRun): Promise<void> {
  const { run_id: runId, workspace_id: workspaceId, workflow_id: workflowId, input } = run;
  const runnable = await findRunnable(deps.db, { workspaceId, workflowId }, true);
  // Its deletion deletes the run.
  if (runnable === undefined) return;
  let place: Place | undefined;
  let refusal = runnable.refusal ?? (await runnable.refuseInput?.(input));
  try {
    const found = (await runnable.limits?.of(input))?.place;
    if (found !== undefined) {
      const { debounce: _debounce, ...rest } = found;
      place = rest;
    }
  } catch (error) {
    if (!(error instanceof AppError)) throw error;
    refusal ??= error;
  }
  const refused = refusal !== undefined;
  const { started, outbox_id: id } = await startDebounced(deps.db, run, runnable, {
    place,
    refused,
  });
  if (started && refusal !== undefined) return end(deps, run, refusal.message);
  if (!started || id === null) return;
  await dispatch(deps, { id, run_id: runId, kind: 'start', payload: {}, attempts: 0 });
}

/** Ends a run that the current version of its workflow does not accept. */
async function end(deps: DispatchDeps, { run_id: runId }: DueRun, reason: string): Promise<void> {
  const ended = await abandonRun(deps.db, {
    runId,
    kind: 'crash',
    error: `The run could not start: ${reason}`,
    alerts: deps.config.alerts.channels.length > 0,
  });
  if (ended === undefined) return;
  await notifyFrames(deps.db, [runId]);
  await recordRunSpan(deps, runId);
}

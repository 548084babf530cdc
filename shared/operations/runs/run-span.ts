import { readEndedRun } from '#shared/db/runs/settlements.ts';
import { toDollars } from '#shared/money/money.ts';
import { runPlaces } from '#shared/platform/tracing/run-places.ts';
import { isTracing, recordSpan } from '#shared/platform/tracing/spans.ts';
import { recordAgentSpans } from './agent-spans.ts';
import type { DispatchDeps } from './executions.ts';

/**
 * Records the span of a run, from its start or last resume to its end, and those of its agents with tools. Only the
 * caller whose change ended the run calls this, after its commit. Never rejects, and does nothing without tracing.
 */
export async function recordRunSpan(
  { db, log }: Pick<DispatchDeps, 'db' | 'log'>,
  runId: string,
): Promise<void> {
  if (!isTracing()) return;
  try {
    const run = await readEndedRun(db, runId);
    if (run === undefined) return;
    const places = runPlaces(runId, run.resumed_count);
    recordSpan({
      name: `invoke_workflow ${run.workflow_name}`,
      kind: 'internal',
      place: places.run,
      parent: places.start,
      startedAt: run.began_ms,
      endedAt: run.finished_ms,
      failed: run.status === 'failed',
      attributes: {
        'gen_ai.operation.name': 'invoke_workflow',
        'gen_ai.agent.name': run.workflow_name,
        'ops.workspace_id': run.workspace_id,
        'ops.workflow_id': run.workflow_id,
        'ops.workflow_version': run.workflow_version,
        'ops.run_id': runId,
        'ops.trigger': run.trigger,
        'ops.status': run.status,
        'ops.resumed_count': run.resumed_count,
        'ops.cost_usd': toDollars(run.cost_micros),
        'error.type': run.failure_kind ?? undefined,
      },
    });
    await recordAgentSpans(db, { ...run, runId });
  } catch (error) {
    log.warn({ err: error, runId }, 'could not record the spans of a run');
  }
}

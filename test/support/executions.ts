import { describeCurrent } from '#shared/operations/runs/executions.ts';
import { type Engine, eventually } from './engine.ts';

/** Whether a run has left its first execution by continuing as new. */
export async function hasContinuedAsNew(engine: Engine, runId: string): Promise<boolean> {
  const handle = engine.deps.temporal.client.workflow.getHandle(runId);
  const { raw, runId: current } = await handle.describe();
  return raw.workflowExecutionInfo?.firstRunId !== current;
}

/** Deletes the execution of an ended run with its history, as Temporal does after the retention time. */
export async function deleteHistory(engine: Engine, runId: string): Promise<void> {
  const current = () => describeCurrent(engine.deps, runId);
  await eventually(async () => (await current())?.open === false);
  const { client, namespace } = engine.deps.temporal;
  await client.workflowService.deleteWorkflowExecution({
    namespace,
    workflowExecution: { workflowId: runId, runId: (await current())?.runId },
  });
  // The server deletes in the background, after it has processed the close.
  await eventually(async () => (await current()) === undefined, 60_000);
}

/** A history as text, with decoded payloads. */
export const readable = (history: object): string =>
  JSON.stringify(history, (key, value: unknown) =>
    key === 'data' && typeof value === 'string' ? Buffer.from(value, 'base64').toString() : value,
  );

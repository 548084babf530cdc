import { setTimeout as sleep } from 'node:timers/promises';
import { isGrpcServiceError } from '@temporalio/client';
import { countOtherSessions, listRunsToStart, queueRestarts } from '#shared/db/runs/restarts.ts';
import { eachOf } from '#shared/operations/each-of.ts';
import { describeCurrent, type DispatchDeps, listOpenExecutions, terminate } from './executions.ts';
import { GRPC_NOT_FOUND } from './resumption.ts';

/** Concurrent calls to Temporal. */
const AT_ONCE = 20;
const REASON = 'after a restore: its run restarts from the ledger';
const DELETED_EVERY_MS = 100;

/**
 * Ends the executions of all runs in Temporal, and queues a start from the ledger for every open run, so that Postgres
 * alone says where runs are. Needed when the two databases are of different moments: an execution then misses signals
 * that Postgres has sent, or has done steps that Postgres does not know. Safe to repeat: the database changes in one
 * transaction, after the executions have ended. Returns how many runs restart. Throws Error while anything else uses the
 * database.
 */
export async function restartRuns(deps: DispatchDeps): Promise<number> {
  const sessions = await countOtherSessions(deps.db);
  if (sessions > 0) {
    throw new Error(
      `${sessions} other sessions use the database: stop every API and worker, close other programs, and run this again`,
    );
  }
  const { open, unsent } = await listRunsToStart(deps.db);
  await eachOf(open, AT_ONCE, (runId) => endExecution(deps, runId));
  // Those of runs that Postgres does not know or that have ended.
  for await (const page of listOpenExecutions(deps)) {
    await eachOf(page, AT_ONCE, ({ runId, execution }) =>
      terminate(deps, runId, execution, REASON),
    );
  }
  await eachOf(unsent, AT_ONCE, (runId) => deleteExecution(deps, runId));
  return queueRestarts(deps.db);
}

async function endExecution(deps: DispatchDeps, runId: string): Promise<void> {
  const current = await deps.temporal.withTimeout(() => describeCurrent(deps, runId));
  if (current?.open !== true) return;
  await deps.temporal.withTimeout(() => terminate(deps, runId, current.runId, REASON));
}

/** The id of a run that Postgres has not started yet must be free, because its start is refused otherwise. */
async function deleteExecution({ temporal }: DispatchDeps, runId: string): Promise<void> {
  const find = () => temporal.withTimeout(() => describeCurrent({ temporal }, runId));
  if ((await find()) === undefined) return;
  const { workflowService } = temporal.client;
  const request = { namespace: temporal.namespace, workflowExecution: { workflowId: runId } };
  try {
    await temporal.withTimeout(() => workflowService.deleteWorkflowExecution(request));
  } catch (error) {
    if (!isGrpcServiceError(error) || (error.code as number) !== GRPC_NOT_FOUND) throw error;
  }
  while ((await find()) !== undefined) await sleep(DELETED_EVERY_MS);
}

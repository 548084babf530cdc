import { setTimeout as sleep } from 'node:timers/promises';
import { isGrpcServiceError } from '@temporalio/client';
import { countOtherSessions, listRunsToStart, queueRestarts } from '#shared/db/runs/restarts.ts';
import type { Db } from '#shared/db/pool.ts';
import { eachOf } from '#shared/operations/each-of.ts';
import { describeCurrent, type DispatchDeps, listOpenExecutions, terminate } from './executions.ts';
import { GRPC_NOT_FOUND } from './resumption.ts';

/** Concurrent calls to Temporal. */
const AT_ONCE = 20;
const REASON = 'after a restore: its run restarts from the ledger';
const DELETED_EVERY_MS = 100;
/** A server that has just started on a busy machine needs seconds for a call, and a restart that fails has to be repeated. */
const CALL_TIMEOUT_MS = 60_000;

/**
 * Ends the executions of all runs in Temporal, and queues a start from the ledger for every open run, so that Postgres
 * alone says where runs are. Needed when the two databases are of different moments: an execution then misses signals
 * that Postgres has sent, or has done steps that Postgres does not know. Safe to repeat: the database changes in one
 * transaction, after the executions have ended. Returns how many runs are open, which all continue when the service starts.
 * Throws Error while anything else uses the database.
 */
export async function restartRuns(deps: DispatchDeps): Promise<number> {
  await requireNoOtherSessions(deps.db);
  const { open, unsent } = await listRunsToStart(deps.db);
  await endExecutions(deps, open, REASON);
  await eachOf(unsent, AT_ONCE, (runId) => deleteExecution(deps, runId));
  await queueRestarts(deps.db);
  return open.length;
}

/** Throws Error while anything else uses the database. */
export async function requireNoOtherSessions(db: Db): Promise<void> {
  const sessions = await countOtherSessions(db);
  if (sessions === 0) return;
  throw new Error(
    `${sessions} other sessions use the database: stop every API and worker, close other programs, and run this again`,
  );
}

/** Ends the executions of these runs, and all others that are open: of runs that Postgres does not know or that have ended. */
export async function endExecutions(
  deps: DispatchDeps,
  runIds: readonly string[],
  reason: string,
): Promise<void> {
  await eachOf(runIds, AT_ONCE, async (runId) => {
    const current = await patiently(deps, () => describeCurrent(deps, runId));
    if (current?.open !== true) return;
    await patiently(deps, () => terminate(deps, runId, current.runId, reason));
  });
  for await (const page of listOpenExecutions(deps)) {
    await eachOf(page, AT_ONCE, ({ runId, execution }) =>
      patiently(deps, () => terminate(deps, runId, execution, reason)),
    );
  }
}

/** The id of a run that Postgres has not started yet must be free, because its start is refused otherwise. */
async function deleteExecution(deps: DispatchDeps, runId: string): Promise<void> {
  const { temporal } = deps;
  const find = () => patiently(deps, () => describeCurrent(deps, runId));
  if ((await find()) === undefined) return;
  const { workflowService } = temporal.client;
  const request = { namespace: temporal.namespace, workflowExecution: { workflowId: runId } };
  try {
    await patiently(deps, () => workflowService.deleteWorkflowExecution(request));
  } catch (error) {
    if (!isGrpcServiceError(error) || (error.code as number) !== GRPC_NOT_FOUND) throw error;
  }
  while ((await find()) !== undefined) await sleep(DELETED_EVERY_MS);
}

const patiently = <T>({ temporal }: DispatchDeps, call: () => Promise<T>): Promise<T> =>
  temporal.withTimeout(call, CALL_TIMEOUT_MS);

import { WorkflowIdReusePolicy, WorkflowNotFoundError } from '@temporalio/client';
import { defineSearchAttributeKey, SearchAttributeType } from '@temporalio/common';
import type { AdmittedRun } from '#shared/db/runs/admission.ts';
import { readDecisions } from '#shared/db/gates/answers.ts';
import type { Pool } from '#shared/db/pool.ts';
import {
  READABLE_TYPE,
  type ResumedSignal,
  RUN_WORKFLOW,
  type RunGraphInput,
  searchAttributes,
  SIGNAL_RESUMED,
} from '#shared/execution.ts';
import type { Config } from '#shared/platform/config.ts';
import type { Logger } from '#shared/platform/logger.ts';
import type { TemporalLink } from '#shared/platform/temporal.ts';
import { runType } from './run-types.ts';
import { keyword, unlessStarted } from '#shared/operations/start-once.ts';

/** The dependencies of dispatching outbox rows. */
export interface DispatchDeps {
  db: Pool;
  temporal: TemporalLink;
  log: Logger;
  config: Config;
  /** Gets how long each run has waited that gets its slot in this process, for the metrics. */
  queueWaited?: ((seconds: number) => void) | undefined;
}

/** Whether an outbox row was dispatched. `wait`: why it cannot be dispatched yet. */
export type Outcome = { done: true; temporalRunId?: string } | { done: false; wait: string };

/**
 * Starts the execution of a run and returns its Temporal run id. Undefined when one already exists; with `fromLedger`,
 * only an open one counts.
 */
export async function startExecution(
  deps: DispatchDeps,
  run: AdmittedRun,
  options: { fromLedger?: boolean },
): Promise<string | undefined> {
  const { temporal, config } = deps;
  const input: RunGraphInput = {
    run_id: run.runId,
    workspace_id: run.workspaceId,
    workflow_id: run.workflowId,
    workflow_version: run.workflowVersion,
    steps_task_queue: temporal.queues.control,
    overflow_task_queue: temporal.queues.overflow,
    limits: {
      steps_in_flight: config.worker.maxStepsInFlightPerRun,
      heartbeat_timeout_ms: config.worker.heartbeatTimeoutMs,
    },
    graph: run.graph,
    input: run.input,
    ...(Object.keys(run.laid).length === 0 ? {} : { laid: run.laid }),
    rehearsal: run.rehearsal,
    ...(run.reuses.length === 0 ? {} : { reuses: [...run.reuses] }),
    ...(options.fromLedger === true || run.forked ? { from_ledger: true } : {}),
  };
  const start = () =>
    temporal.client.workflow.start(config.temporal.readableNames ? runType(run) : RUN_WORKFLOW, {
      workflowId: run.runId,
      taskQueue: temporal.queues.control,
      args: [input],
      priority: { fairnessKey: run.workspaceId },
      workflowTaskTimeout: config.worker.workflowTaskTimeoutMs,
      // A run's id is used once, so that a repeated start finds the first execution. Only a start from the ledger,
      // after its execution has closed, reuses it.
      workflowIdReusePolicy:
        options.fromLedger === true
          ? WorkflowIdReusePolicy.ALLOW_DUPLICATE
          : WorkflowIdReusePolicy.REJECT_DUPLICATE,
      staticSummary: `${run.workflowName} v${run.workflowVersion}`.slice(0, 120),
      staticDetails: details(run),
      typedSearchAttributes: [
        { key: keyword(searchAttributes.workspace), value: run.workspaceId },
        { key: keyword(searchAttributes.workflow), value: run.workflowName },
        { key: keyword(searchAttributes.trigger), value: run.trigger },
        { key: keyword(searchAttributes.status), value: 'running' },
        {
          key: defineSearchAttributeKey(searchAttributes.version, SearchAttributeType.INT),
          value: run.workflowVersion,
        },
      ],
    });
  const handle = await unlessStarted(start);
  return handle?.firstExecutionRunId;
}

function details(run: AdmittedRun): string {
  return [
    `**Workflow** ${run.workflowName} (\`${run.workflowId}\`), version ${run.workflowVersion}`,
    `**Trigger** ${run.trigger}, by ${run.actorName ?? 'no member'}`,
    `**Workspace** \`${run.workspaceId}\``,
  ].join('\n\n');
}

export interface CurrentExecution {
  runId: string;
  status: string;
  open: boolean;
  /** The attempts at its pending workflow task, including timeouts; 0: none is pending. */
  taskAttempts: number;
}

/** The newest execution of a run, or undefined when Temporal has none. */
export async function describeCurrent(
  deps: Pick<DispatchDeps, 'temporal'>,
  runId: string,
): Promise<CurrentExecution | undefined> {
  try {
    const description = await deps.temporal.client.workflow.getHandle(runId).describe();
    return {
      runId: description.runId,
      status: description.status.name,
      open: description.status.name === 'RUNNING',
      taskAttempts: description.raw.pendingWorkflowTask?.attempt ?? 0,
    };
  } catch (error) {
    if (error instanceof WorkflowNotFoundError) return undefined;
    throw error;
  }
}

/**
 * Run ids of up to `limit` executions that were terminated or timed out in the last `withinMs`, newest first. The
 * visibility index lags by about a second and drops deleted executions: it shows which runs to check, not their state.
 */
export async function listTerminated(
  deps: Pick<DispatchDeps, 'temporal'>,
  { withinMs, limit }: { withinMs: number; limit: number },
): Promise<readonly string[]> {
  const { client, namespace, queues } = deps.temporal;
  const query = [
    ...ofThisInstallation(queues.control),
    "ExecutionStatus IN ('Terminated', 'TimedOut')",
    `CloseTime > '${new Date(Date.now() - withinMs).toISOString()}'`,
  ].join(' AND ');
  const { executions } = await client.workflowService.listWorkflowExecutions({
    namespace,
    query,
    pageSize: limit,
  });
  return executions.flatMap(({ execution }) => execution?.workflowId ?? []);
}

/** An open execution of a run, whether or not Postgres knows the run. */
export interface OpenExecution {
  /** Equal to its workflow id. */
  runId: string;
  execution: string;
}

/** The open executions of this installation, page by page. The visibility index lags by about a second. */
export async function* listOpenExecutions({
  temporal: { client, namespace, queues },
}: Pick<DispatchDeps, 'temporal'>): AsyncGenerator<OpenExecution[]> {
  const query = [...ofThisInstallation(queues.control), "ExecutionStatus = 'Running'"].join(
    ' AND ',
  );
  let nextPageToken: Uint8Array | undefined;
  do {
    const page = await client.workflowService.listWorkflowExecutions({
      namespace,
      query,
      pageSize: 500,
      nextPageToken,
    });
    yield page.executions.flatMap(({ execution }) =>
      execution?.workflowId && execution.runId
        ? [{ runId: execution.workflowId, execution: execution.runId }]
        : [],
    );
    nextPageToken = page.nextPageToken.length > 0 ? page.nextPageToken : undefined;
  } while (nextPageToken !== undefined);
}

const ofThisInstallation = (queue: string): string[] => [
  `(WorkflowType = '${RUN_WORKFLOW}' OR WorkflowType STARTS_WITH '${READABLE_TYPE}')`,
  `TaskQueue = '${queue.replaceAll("'", "\\'")}'`,
];

/**
 * Sends an execution all decisions of its run. Signals after the cut of a reset are not in its history, and a closed
 * execution receives nothing. Decisions that it already has change nothing.
 */
export async function announce(
  deps: DispatchDeps,
  runId: string,
  execution: string,
): Promise<Outcome> {
  const message: ResumedSignal = { decisions: await readDecisions(deps.db, runId) };
  try {
    await deps.temporal.client.workflow.getHandle(runId, execution).signal(SIGNAL_RESUMED, message);
  } catch (error) {
    if (!(error instanceof WorkflowNotFoundError)) throw error;
  }
  return { done: true, temporalRunId: execution };
}

/** Terminates an execution that cannot end itself. A closed one does not change. */
export async function terminate(
  { temporal }: Pick<DispatchDeps, 'temporal'>,
  runId: string,
  execution: string,
  reason = 'cannot be replayed',
): Promise<void> {
  try {
    await temporal.client.workflow.getHandle(runId, execution).terminate(reason);
  } catch (error) {
    if (!(error instanceof WorkflowNotFoundError)) throw error;
  }
}

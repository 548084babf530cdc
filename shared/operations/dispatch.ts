import { randomUUID } from 'node:crypto';
import {
  WorkflowExecutionAlreadyStartedError,
  WorkflowIdReusePolicy,
  WorkflowNotFoundError,
} from '@temporalio/client';
import { defineSearchAttributeKey, SearchAttributeType } from '@temporalio/common';
import { z } from 'zod';
import { type Alert, alertEvents } from '../alerts.ts';
import type { AdmittedRun } from '../db/admission.ts';
import { readDecisions } from '../db/gates.ts';
import { readStartable, supersede } from '../db/ledger.ts';
import { complete, isFirst, type OutboxRow, postpone, remember } from '../db/outbox.ts';
import type { Pool } from '../db/pool.ts';
import { hasLiveClaim } from '../db/steps.ts';
import { messageOf } from '../errors.ts';
import {
  ALERT_WORKFLOW,
  ENGINE_VERSION,
  type ResumedSignal,
  RUN_WORKFLOW,
  type RunGraphInput,
  searchAttributes,
  type SendAlertInput,
  SIGNAL_DECISION,
  SIGNAL_RESUMED,
} from '../execution.ts';
import type { JsonObject } from '../json.ts';
import type { Config } from '../platform/config.ts';
import type { Logger } from '../platform/logger.ts';
import type { TemporalLink } from '../platform/temporal.ts';
import { findResetPoint } from './reset-point.ts';

/** What carrying out promises to Temporal takes. */
export interface DispatchDeps {
  db: Pool;
  temporal: TemporalLink;
  log: Logger;
  config: Config;
}

/** `wait`: cannot be done yet, with the reason. */
type Outcome = { done: true; temporalRunId?: string } | { done: false; wait: string };
const DONE: Outcome = { done: true };

/**
 * Carries out one leased outbox row. Every kind may be carried out twice with the effect of once. Returns whether
 * it holds; when it does not, the row is due again later and nothing is lost. Never rejects.
 */
export async function dispatch(
  deps: DispatchDeps,
  row: OutboxRow,
  known?: AdmittedRun,
): Promise<boolean> {
  try {
    const outcome = await deps.temporal.withTimeout(() => carryOut(deps, row, known));
    if (outcome.done) {
      // Nobody waits for this: a row that is left over is carried out once more, to no effect.
      complete(deps.db, row, outcome.temporalRunId).catch((error: unknown) => {
        deps.log.warn({ err: error, runId: row.run_id }, 'could not remove an outbox row');
      });
      return true;
    }
    await postpone(deps.db, row, outcome.wait);
    return false;
  } catch (error) {
    deps.log.warn(
      { runId: row.run_id, kind: row.kind, attempts: row.attempts, err: error },
      'could not reach Temporal; will try again',
    );
    await postpone(deps.db, row, messageOf(error)).catch((failure: unknown) => {
      // Its lease ends by itself.
      deps.log.warn({ err: failure, runId: row.run_id }, 'could not give an outbox row back');
    });
  }
  return false;
}

/**
 * Carries out a row right after its commit, unless an older one of the same run has to go first. Never rejects.
 */
export async function dispatchInOrder(
  deps: DispatchDeps,
  row: OutboxRow,
  first?: boolean,
): Promise<boolean> {
  try {
    if (first ?? (await isFirst(deps.db, row))) return await dispatch(deps, row);
    await postpone(deps.db, row, 'an earlier change of this run goes first');
  } catch (error) {
    // Its lease ends by itself.
    deps.log.warn({ err: error, runId: row.run_id }, 'could not look at the outbox');
  }
  return false;
}

function carryOut(deps: DispatchDeps, row: OutboxRow, known?: AdmittedRun): Promise<Outcome> {
  switch (row.kind) {
    case 'start':
      return start(deps, row.run_id, known);
    case 'decision':
      return signalDecision(deps, row);
    case 'cancel':
      return cancel(deps, row.run_id);
    case 'resume':
      return resume(deps, row);
    case 'alert':
      return alert(deps, row);
  }
}

async function start(deps: DispatchDeps, runId: string, known?: AdmittedRun): Promise<Outcome> {
  const run = known ?? (await readStartable(deps.db, runId));
  if (run === undefined) return DONE;
  // Cancelled before it was started: there is nothing to execute.
  if ('status' in run && (run as { status: string }).status === 'failed') return DONE;
  try {
    return { done: true, temporalRunId: await startExecution(deps, run, {}) };
  } catch (error) {
    if (error instanceof WorkflowExecutionAlreadyStartedError) return DONE;
    throw error;
  }
}

async function startExecution(
  deps: DispatchDeps,
  run: AdmittedRun,
  options: { fromLedger?: boolean },
): Promise<string> {
  const { temporal, config } = deps;
  const input: RunGraphInput = {
    engine_version: ENGINE_VERSION,
    run_id: run.runId,
    workspace_id: run.workspaceId,
    workflow_id: run.workflowId,
    workflow_version: run.workflowVersion,
    steps_task_queue: temporal.queues.steps,
    limits: {
      steps_in_flight: config.worker.maxStepsInFlightPerRun,
      heartbeat_timeout_ms: config.worker.heartbeatTimeoutMs,
    },
    graph: run.graph,
    input: run.input,
    ...(options.fromLedger === true ? { from_ledger: true } : {}),
  };
  const handle = await temporal.client.workflow.start(RUN_WORKFLOW, {
    workflowId: run.runId,
    taskQueue: temporal.queues.control,
    args: [input],
    // A run's id is used once, so that a start that is repeated finds the first; only a start from the ledger,
    // whose execution is known to be closed, uses it again.
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
  return handle.firstExecutionRunId;
}

const keyword = (name: string) => defineSearchAttributeKey(name, SearchAttributeType.KEYWORD);

function details(run: AdmittedRun): string {
  return [
    `**Workflow** ${run.workflowName} (\`${run.workflowId}\`), version ${run.workflowVersion}`,
    `**Trigger** ${run.trigger}, by ${run.actorName ?? 'no member'}`,
    `**Workspace** \`${run.workspaceId}\``,
  ].join('\n\n');
}

/**
 * Tells the execution of a decision. One that closed meanwhile is told nothing: the decision stays in the ledger
 * and is told again after a reset.
 */
async function signalDecision(deps: DispatchDeps, row: OutboxRow): Promise<Outcome> {
  const { input, reason, ...decision } = row.payload;
  // The column keeps what is absent as null; the workflow's history should not.
  return signal(deps, row.run_id, SIGNAL_DECISION, {
    ...decision,
    ...(input == null ? {} : { input }),
    ...(reason == null ? {} : { reason }),
  });
}

async function signal(
  deps: DispatchDeps,
  runId: string,
  name: string,
  payload: unknown,
): Promise<Outcome> {
  try {
    await deps.temporal.client.workflow.getHandle(runId).signal(name, payload);
  } catch (error) {
    if (!(error instanceof WorkflowNotFoundError)) throw error;
  }
  return DONE;
}

async function cancel(deps: DispatchDeps, runId: string): Promise<Outcome> {
  try {
    await deps.temporal.client.workflow.getHandle(runId).cancel();
  } catch (error) {
    if (!(error instanceof WorkflowNotFoundError)) throw error;
  }
  return DONE;
}

const alertPayload = z.discriminatedUnion('event', [
  z.object({
    run_id: z.string(),
    workspace_id: z.string(),
    workflow_name: z.string(),
    event: z.enum(alertEvents),
    text: z.string(),
    node_id: z.string().optional(),
  }),
  z.object({ workspace_id: z.string(), event: z.literal('test'), by: z.string().nullable() }),
]) satisfies z.ZodType<Alert>;

const summaryOf = (alert: Alert): string =>
  alert.event === 'test' ? 'Test alert' : `Run ${alert.event}: ${alert.workflow_name}`;

/** The execution is named by its row, so a row that is carried out twice sends once. */
async function alert(deps: DispatchDeps, row: OutboxRow): Promise<Outcome> {
  const { temporal, config } = deps;
  const { channels } = config.alerts;
  // Switched off since it was queued.
  if (channels.length === 0) return DONE;
  const content = alertPayload.parse(row.payload);
  const input: SendAlertInput = {
    alert: content,
    channels,
    task_queue: temporal.queues.background,
  };
  try {
    await temporal.client.workflow.start(ALERT_WORKFLOW, {
      workflowId: `alert-${row.run_id}-${row.id}`,
      taskQueue: temporal.queues.control,
      args: [input],
      workflowIdReusePolicy: WorkflowIdReusePolicy.REJECT_DUPLICATE,
      staticSummary: summaryOf(content).slice(0, 120),
      typedSearchAttributes: [
        { key: keyword(searchAttributes.workspace), value: content.workspace_id },
      ],
    });
  } catch (error) {
    if (!(error instanceof WorkflowExecutionAlreadyStartedError)) throw error;
  }
  return DONE;
}

/** Which resume of its run it is, and once it is decided what every attempt repeats. */
interface ResumePayload extends JsonObject {
  n: number;
}
interface ResetPlan extends ResumePayload {
  base: string;
  cut: number;
  request_id: string;
}

/**
 * Makes a resumed run go on: resets its closed execution to just before it failed or was cancelled, or, when there
 * is nothing to reset, starts a new one from the ledger. Then tells the new execution every decision there is.
 */
async function resume(deps: DispatchDeps, row: OutboxRow): Promise<Outcome> {
  const { db, temporal } = deps;
  const run = await readStartable(db, row.run_id);
  const { n } = row.payload as ResumePayload;
  // Cancelled, settled or resumed again since: whatever came later has its own row.
  if (run === undefined || run.resumedCount !== n) return DONE;
  if (run.status !== 'running' && run.status !== 'paused') return DONE;
  const current = await describeCurrent(deps, row.run_id);
  const plan = isPlan(row.payload) ? row.payload : undefined;

  if (current !== undefined && plan !== undefined && current.runId !== plan.base) {
    // An earlier attempt's reset or start came through although its answer was lost.
    return announce(deps, row.run_id, current.runId);
  }
  if (current?.open === true) return { done: false, wait: 'the execution has not closed yet' };
  if (await hasLiveClaim(db, row.run_id)) {
    return { done: false, wait: 'a step of the old execution is still at work' };
  }
  const fresh =
    plan ?? (current && !run.fromLedger ? await planReset(deps, row, current.runId) : undefined);
  // Asked once more, under the run's lock: from here on the execution that comes may work for the run.
  if (!(await supersede(db, { runId: row.run_id, execution: current?.runId, n }))) return DONE;
  if (fresh === undefined) {
    const started = await restartFromLedger(deps, row, run, current?.runId);
    return announce(deps, row.run_id, started);
  }
  const { runId } = await temporal.client.workflowService.resetWorkflowExecution({
    namespace: temporal.namespace,
    workflowExecution: { workflowId: row.run_id, runId: fresh.base },
    workflowTaskFinishEventId: fresh.cut as unknown as Long,
    requestId: fresh.request_id,
    reason: 'resumed',
    identity: 'resume',
  });
  return announce(deps, row.run_id, runId);
}

const isPlan = (payload: OutboxRow['payload']): payload is ResetPlan =>
  typeof payload['base'] === 'string';

async function planReset(
  deps: DispatchDeps,
  row: OutboxRow,
  base: string,
): Promise<ResetPlan | undefined> {
  const cut = await findResetPoint(deps.temporal, { workflowId: row.run_id, runId: base });
  if (cut === undefined) return undefined;
  const { n } = row.payload as ResumePayload;
  const plan: ResetPlan = { n, base, cut, request_id: randomUUID() };
  await remember(deps.db, row, plan);
  return plan;
}

/** The workflow id is used again, with a new execution that finds finished steps in the ledger. */
async function restartFromLedger(
  deps: DispatchDeps,
  row: OutboxRow,
  run: AdmittedRun,
  base: string | undefined,
): Promise<string> {
  const { n } = row.payload as ResumePayload;
  await remember(deps.db, row, { n, base: base ?? 'none', cut: 0, request_id: 'ledger' });
  try {
    return await startExecution(deps, run, { fromLedger: true });
  } catch (error) {
    if (!(error instanceof WorkflowExecutionAlreadyStartedError)) throw error;
    return (await describeCurrent(deps, row.run_id))?.runId ?? 'unknown';
  }
}

/** Signals sent after the cut are not in the reset history: the new execution is told all decisions again. */
async function announce(deps: DispatchDeps, runId: string, execution: string): Promise<Outcome> {
  const message: ResumedSignal = { decisions: await readDecisions(deps.db, runId) };
  try {
    await deps.temporal.client.workflow.getHandle(runId, execution).signal(SIGNAL_RESUMED, message);
  } catch (error) {
    if (!(error instanceof WorkflowNotFoundError)) throw error;
  }
  return { done: true, temporalRunId: execution };
}

interface CurrentExecution {
  runId: string;
  status: string;
  open: boolean;
  /** How often its pending workflow task has been tried: more than a few means it cannot be replayed. */
  stuckAttempts: number;
}

/** The newest execution of a run, or undefined when Temporal knows none. */
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
      stuckAttempts: description.raw.pendingWorkflowTask?.attempt ?? 0,
    };
  } catch (error) {
    if (error instanceof WorkflowNotFoundError) return undefined;
    throw error;
  }
}

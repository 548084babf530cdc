import { WorkflowNotFoundError } from '@temporalio/client';
import { z } from 'zod';
import {
  type Alert,
  ALERT_WORKFLOW,
  isMemberAlert,
  type AlertChannel,
  runAlertEvents,
  type SendAlertInput,
} from '#shared/contract/alerts/alerts.ts';
import { alertPercents, budgetWindows } from '#shared/contract/money/budget.ts';
import type { AdmittedRun } from '#shared/db/runs/admission.ts';
import { readDecisions } from '#shared/db/gates/answers.ts';
import { readStartable } from '#shared/db/runs/restart.ts';
import { complete, isFirst, type OutboxRow, postpone } from '#shared/db/runs/outbox.ts';
import { markLost } from '#shared/db/runs/silent.ts';
import { messageOf } from '#shared/errors.ts';
import { channelsOf, targetsOf } from '#shared/operations/alerts/targets.ts';
import { startJobExecution } from '#shared/operations/jobs/dispatch.ts';
import { withoutNulls } from '#shared/graph/gates/gate-decision.ts';
import { SIGNAL_CHILD, SIGNAL_DECISION, SIGNAL_RESUMED, SIGNAL_WAITED } from '#shared/execution.ts';
import { type DispatchDeps, type Outcome, startExecution } from './executions.ts';
import { resume } from './resumption.ts';
import { startOnce } from '#shared/operations/start-once.ts';

const DONE: Outcome = { done: true };

/**
 * Dispatches one leased outbox row. Dispatching any kind twice has the same effect as once. Returns whether it
 * succeeded; otherwise the row is due again later, and nothing is lost. Never rejects.
 */
export async function dispatch(
  deps: DispatchDeps,
  row: OutboxRow,
  known?: AdmittedRun,
): Promise<boolean> {
  try {
    const outcome = await deps.temporal.withTimeout(() => dispatchRow(deps, row, known));
    if (outcome.done) {
      // Not awaited: if the row remains, it is dispatched again without effect.
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
      // The lease of the row expires.
      deps.log.warn({ err: failure, runId: row.run_id }, 'could not release an outbox row');
    });
  }
  return false;
}

/** Dispatches a row right after its commit, unless an older one of the same run must go first. Never rejects. */
export async function dispatchInOrder(
  deps: DispatchDeps,
  row: OutboxRow,
  first?: boolean,
): Promise<boolean> {
  try {
    if (first ?? (await isFirst(deps.db, row))) return await dispatch(deps, row);
    await postpone(deps.db, row, 'an earlier change of this run goes first');
  } catch (error) {
    // The lease of the row expires.
    deps.log.warn({ err: error, runId: row.run_id }, 'could not read the outbox');
  }
  return false;
}

async function dispatchRow(
  deps: DispatchDeps,
  row: OutboxRow,
  known?: AdmittedRun,
): Promise<Outcome> {
  switch (row.kind) {
    case 'start':
      return start(deps, row.run_id, known);
    case 'decision':
      return signal(deps, row, SIGNAL_DECISION, withoutNulls(row.payload));
    case 'continue':
      return signal(deps, row, SIGNAL_RESUMED, {
        decisions: await readDecisions(deps.db, row.run_id),
      });
    case 'cancel':
      return cancel(deps, row.run_id);
    case 'resume':
      return resume(deps, row);
    case 'alert':
      return alert(deps, row);
    case 'child':
      return signal(deps, row, SIGNAL_CHILD, row.payload);
    case 'waited':
      return signal(deps, row, SIGNAL_WAITED, row.payload);
    case 'job':
      return startJob(deps, row);
  }
}

/** The row has the id of the job instead of that of a run. */
async function startJob(deps: DispatchDeps, row: OutboxRow): Promise<Outcome> {
  await startJobExecution(deps, row.run_id);
  return DONE;
}

async function start(deps: DispatchDeps, runId: string, known?: AdmittedRun): Promise<Outcome> {
  const run = known ?? (await readStartable(deps.db, runId));
  if (run === undefined) return DONE;
  // The run was cancelled before it started: there is nothing to execute.
  if ('status' in run && (run as { status: string }).status === 'failed') return DONE;
  const temporalRunId = await startExecution(deps, run, {});
  return temporalRunId === undefined ? DONE : { done: true, temporalRunId };
}

async function signal(
  deps: DispatchDeps,
  row: OutboxRow,
  name: string,
  message: unknown,
): Promise<Outcome> {
  await signalRun(deps, row.run_id, name, message);
  return DONE;
}

/**
 * Sends a signal to the execution, and returns whether it is open. A closed execution receives nothing: the content is in
 * Postgres, and the execution reads it after a reset. If the run is open, the close is not recorded yet: the reconciler
 * checks again after the grace period.
 */
export async function signalRun(
  { db, temporal }: DispatchDeps,
  runId: string,
  name: string,
  message: unknown,
): Promise<boolean> {
  try {
    await temporal.client.workflow.getHandle(runId).signal(name, message);
    return true;
  } catch (error) {
    if (!(error instanceof WorkflowNotFoundError)) throw error;
    await markLost(db, runId, true);
    return false;
  }
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
    workflow_id: z.string().optional(),
    workflow_name: z.string(),
    event: z.enum(runAlertEvents),
    text: z.string(),
    node_id: z.string().optional(),
    step_key: z.string().optional(),
  }),
  z.object({
    run_id: z.string(),
    workspace_id: z.string(),
    workflow_name: z.string(),
    event: z.literal('assigned'),
    text: z.string(),
    node_id: z.string(),
    step_key: z.string(),
    member_id: z.string(),
    by: z.string().nullable(),
  }),
  z.object({
    run_id: z.string(),
    workspace_id: z.string(),
    workflow_name: z.string(),
    event: z.literal('requested'),
    text: z.string(),
    node_id: z.string(),
    step_key: z.string(),
    round: z.number(),
  }),
  z.object({
    event: z.literal('gate'),
    workspace_id: z.string(),
    run_id: z.string(),
    workflow_name: z.string(),
    message_id: z.string(),
    reminds: z.boolean(),
  }),
  z.object({
    event: z.literal('budget'),
    workspace_id: z.string(),
    budget_id: z.string(),
    budget_name: z.string(),
    percent: z.literal([...alertPercents]),
    spent_micros: z.number(),
    limit_micros: z.number(),
    window: z.enum(budgetWindows),
    window_start: z.string().nullable(),
  }),
  z.object({
    event: z.literal('connection'),
    workspace_id: z.string(),
    connection_id: z.string(),
    connection_name: z.string(),
    member_id: z.string().nullable(),
    step: z
      .object({ run_id: z.string(), workflow_name: z.string(), label: z.string() })
      .exactOptional(),
  }),
  z.object({ workspace_id: z.string(), event: z.literal('test'), by: z.string().nullable() }),
]) satisfies z.ZodType<Alert>;

function summaryOf(alert: Alert): string {
  if (alert.event === 'test') return 'Test alert';
  if (alert.event === 'budget') return `Budget at ${alert.percent}%: ${alert.budget_name}`;
  if (alert.event === 'connection') {
    return `${alert.step === undefined ? 'Sign in again' : 'Sign in'}: ${alert.connection_name}`;
  }
  return `Run ${alert.event}: ${alert.workflow_name}`;
}

/** Members get their own alerts by email, even if the workspace gets none. */
async function channelsFor(alert: Alert, { db, config }: DispatchDeps): Promise<AlertChannel[]> {
  const isPersonal =
    isMemberAlert(alert) || (alert.event === 'connection' && alert.member_id !== null);
  if (isPersonal) return config.email.apiKey === undefined ? [] : ['email'];
  if (alert.event === 'gate') return ['slack'];
  return channelsOf(await targetsOf({ db, config }, alert));
}

/** The execution's id comes from its row, so a row that is dispatched twice sends one alert. */
async function alert(deps: DispatchDeps, row: OutboxRow): Promise<Outcome> {
  const { temporal } = deps;
  const content = alertPayload.parse(row.payload);
  const channels = await channelsFor(content, deps);
  // The workspace does not want it, or the channel was disabled after the alert was queued.
  if (channels.length === 0) return DONE;
  const input: SendAlertInput = {
    alert: content,
    channels,
    task_queue: temporal.queues.background,
  };
  await startOnce(temporal, {
    workflow: ALERT_WORKFLOW,
    id: `alert-${row.run_id}-${row.id}`,
    workspaceId: content.workspace_id,
    input,
    summary: summaryOf(content),
  });
  return DONE;
}

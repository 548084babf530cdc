import proto from '@temporalio/proto';
import type { TemporalLink } from '#shared/platform/temporal.ts';
import { announce, type CurrentExecution, type DispatchDeps } from './executions.ts';

const { EventType, WorkflowTaskFailedCause: Cause } = proto.temporal.api.enums.v1;

/** The number of attempts after which a workflow task counts as failing, unless a failure names the cause. */
const MANY_ATTEMPTS = 3;
/** Recorded non-determinism failures before the history counts as not replayable. */
const REPLAY_FAILURES = 3;
/** Events read per check. Longer series of failures are not counted exactly. */
const PAGE_SIZE = 100;
const FIRST_PAUSE_MS = 2_000;
const LONGEST_PAUSE_MS = 600_000;

/** Why a workflow task does not complete, for logs and metrics. */
export const taskFailures = ['replay', 'failure', 'timeout'] as const;
export type TaskFailure = (typeof taskFailures)[number];

interface FailuresOnRecord {
  /** The current workflow code produces different commands than the history contains. */
  replay: number;
  /** Any other failure that the worker reported. */
  failure: number;
  /** No worker responded in time: it was killed, or is too slow. */
  timeout: number;
  /** Milliseconds since 1970; 0: none. */
  latestAt: number;
  latestMessage?: string;
}

export interface TaskLook {
  /** The history cannot be replayed: several consecutive failures show it. */
  unreplayable: boolean;
  /** Set when the task fails and this check should log it. */
  trouble?: TaskFailure;
}

/**
 * Determines why the workflow task of an open execution does not complete, after more than one attempt. A timeout says
 * nothing about the workflow: its workers may have died. Only several non-determinism failures since the last completed
 * task show that the history cannot be replayed.
 *
 * Temporal records the first failure of a series in the history and only counts the others; the SDK does not report
 * them and lets them time out. So this sends the execution a signal without effect: the next attempt is then the first
 * of a series, and its failure is recorded. The delays between such signals double from 4 s to ten minutes.
 */
export async function lookAtTask(
  deps: DispatchDeps,
  runId: string,
  current: CurrentExecution,
): Promise<TaskLook> {
  if (current.taskAttempts <= 1) return { unreplayable: false };
  const execution = { workflowId: runId, runId: current.runId };
  const found = await readFailures(deps.temporal, execution);
  if (found.replay >= REPLAY_FAILURES) return { unreplayable: true, trouble: 'replay' };
  if (found.replay === 0 && current.taskAttempts <= MANY_ATTEMPTS) return { unreplayable: false };
  const count = found.replay + found.failure + found.timeout;
  const pauseMs = Math.min(LONGEST_PAUSE_MS, FIRST_PAUSE_MS * 2 ** Math.min(count, 20));
  if (Date.now() - found.latestAt < pauseMs) return { unreplayable: false };
  await announce(deps, runId, current.runId);
  const trouble = found.replay > 0 ? 'replay' : found.failure > 0 ? 'failure' : 'timeout';
  const { replay, failure, timeout, latestMessage } = found;
  deps.log.warn(
    {
      runId,
      execution: current.runId,
      attempts: current.taskAttempts,
      failures: { replay, failure, timeout },
      reason: latestMessage,
    },
    'a workflow task keeps failing',
  );
  return { unreplayable: false, trouble };
}

/** The failures of workflow tasks since the last completed one. */
async function readFailures(
  link: TemporalLink,
  execution: { workflowId: string; runId: string },
): Promise<FailuresOnRecord> {
  const { history } = await link.client.workflowService.getWorkflowExecutionHistoryReverse({
    namespace: link.namespace,
    execution,
    maximumPageSize: PAGE_SIZE,
  });
  const found: FailuresOnRecord = { replay: 0, failure: 0, timeout: 0, latestAt: 0 };
  for (const event of history?.events ?? []) {
    if (event.eventType === EventType.EVENT_TYPE_WORKFLOW_TASK_COMPLETED) break;
    const trouble = taskFailureOf(event);
    if (trouble === undefined) continue;
    found[trouble] += 1;
    found.latestAt ||= Number(event.eventTime?.seconds ?? 0) * 1000;
    found.latestMessage ??= event.workflowTaskFailedEventAttributes?.failure?.message ?? undefined;
  }
  return found;
}

/** Causes for which the server itself returns a task. They say nothing about the workflow. */
const serversOwn = new Set<number | null | undefined>([
  Cause.WORKFLOW_TASK_FAILED_CAUSE_UNHANDLED_COMMAND,
  Cause.WORKFLOW_TASK_FAILED_CAUSE_RESET_WORKFLOW,
  Cause.WORKFLOW_TASK_FAILED_CAUSE_RESET_STICKY_TASK_QUEUE,
  Cause.WORKFLOW_TASK_FAILED_CAUSE_FAILOVER_CLOSE_COMMAND,
  Cause.WORKFLOW_TASK_FAILED_CAUSE_FORCE_CLOSE_COMMAND,
]);

/** The SDK's text, in case it reports another cause. */
const REPLAY_MESSAGE = /TMPRL1100|non-?determinis/i;

function taskFailureOf(
  event: proto.temporal.api.history.v1.IHistoryEvent,
): TaskFailure | undefined {
  if (event.eventType === EventType.EVENT_TYPE_WORKFLOW_TASK_TIMED_OUT) return 'timeout';
  if (event.eventType !== EventType.EVENT_TYPE_WORKFLOW_TASK_FAILED) return undefined;
  const { cause, failure } = event.workflowTaskFailedEventAttributes ?? {};
  if (serversOwn.has(cause)) return undefined;
  return cause === Cause.WORKFLOW_TASK_FAILED_CAUSE_NON_DETERMINISTIC_ERROR ||
    REPLAY_MESSAGE.test(failure?.message ?? '')
    ? 'replay'
    : 'failure';
}

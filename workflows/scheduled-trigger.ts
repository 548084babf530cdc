import { ApplicationFailure, workflowInfo } from '@temporalio/workflow';
import { defineSearchAttributeKey, SearchAttributeType } from '@temporalio/common';
import type { ScheduleActivities, ScheduledTriggerInput, TickResult } from '#shared/execution.ts';
import { proxyBookkeeping } from './local-attempts.ts';
import { isText, requireInput } from './received.ts';

const inputFields = { workspace_id: isText, schedule_id: isText, cron: isText, timezone: isText };

const schedules = proxyBookkeeping<ScheduleActivities>({ firstRetryMs: 100 });

/** The server sets it on every execution of a schedule: the time when it was due, even if it starts late. */
const dueAt = defineSearchAttributeKey('TemporalScheduledStartTime', SearchAttributeType.DATETIME);

/**
 * One tick of a schedule: starts its run, which is a separate execution, and ends. A tick without a run also succeeds,
 * and returns the reason.
 */
export async function scheduledTrigger(input: ScheduledTriggerInput): Promise<TickResult> {
  requireInput('scheduledTrigger', inputFields, input);
  const due = workflowInfo().typedSearchAttributes.get(dueAt);
  if (due === undefined) throw ApplicationFailure.nonRetryable('Only a schedule may start this');
  return schedules.tickSchedule({ ...input, due_at: due.toISOString() });
}

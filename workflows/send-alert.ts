import { ActivityFailure, ApplicationFailure, proxyActivities } from '@temporalio/workflow';
import type { AlertChannel } from '../shared/alerts.ts';
import type { BackgroundActivities, SendAlertInput } from '../shared/execution.ts';
import { isListOf, isObject, isText, requireInput } from './received.ts';

const inputFields = { task_queue: isText, channels: isListOf(isText), alert: isObject };

/** Tries per channel: with the pauses in between half a minute, then the alert is given up. */
const MAX_ATTEMPTS = 6;

/**
 * Sends one alert over each of its channels, side by side: one that fails keeps no other from being used. The run it
 * tells of knows nothing of it. An alert that could not be delivered shows as a failed execution.
 */
export async function sendAlert(input: SendAlertInput): Promise<{ delivered: AlertChannel[] }> {
  requireInput('sendAlert', inputFields, input);
  const { deliverAlert } = proxyActivities<Pick<BackgroundActivities, 'deliverAlert'>>({
    taskQueue: input.task_queue,
    startToCloseTimeout: '45s',
    heartbeatTimeout: '10s',
    // Of an alert that waited longer than this for a worker nobody wants to hear.
    scheduleToCloseTimeout: '1 day',
    retry: { initialInterval: '1s', backoffCoefficient: 2, maximumAttempts: MAX_ATTEMPTS },
  });
  const results = await Promise.allSettled(
    input.channels.map((channel) => deliverAlert({ alert: input.alert, channel })),
  );
  const failed = results.flatMap((result, index) =>
    result.status === 'rejected' ? [`${input.channels[index]}: ${reasonOf(result.reason)}`] : [],
  );
  if (failed.length > 0) throw ApplicationFailure.nonRetryable(failed.join('; '), 'AlertFailed');
  return { delivered: input.channels };
}

function reasonOf(error: unknown): string {
  const cause = error instanceof ActivityFailure ? error.cause : error;
  return cause instanceof Error ? cause.message : String(cause);
}

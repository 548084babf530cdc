import { ApplicationFailure, proxyActivities } from '@temporalio/workflow';
import type { AlertChannel, SendAlertInput } from '#shared/contract/alerts/alerts.ts';
import type { BackgroundActivities } from '#shared/execution.ts';
import { causeOf } from './cause.ts';
import { isListOf, isObject, isText, requireInput } from './received.ts';

const inputFields = { task_queue: isText, channels: isListOf(isText), alert: isObject };

/** Attempts per channel. With the pauses in between, they take half a minute; then the alert has failed. */
const MAX_ATTEMPTS = 6;

/** People decide in Slack, so what it shows has to become right, also after a longer outage. */
const SLACK_TIMEOUT = '3 days';

/**
 * Sends one alert over all of its channels concurrently, so that a failing channel does not block the others. The run
 * is not affected. An alert that could not be delivered appears as a failed execution.
 */
export async function sendAlert(input: SendAlertInput): Promise<{ delivered: AlertChannel[] }> {
  requireInput('sendAlert', inputFields, input);
  const { deliverAlert } = proxyActivities<Pick<BackgroundActivities, 'deliverAlert'>>({
    taskQueue: input.task_queue,
    startToCloseTimeout: '45s',
    heartbeatTimeout: '10s',
    // An alert that waited longer than this for a worker is out of date.
    scheduleToCloseTimeout: '1 day',
    retry: { initialInterval: '1s', backoffCoefficient: 2, maximumAttempts: MAX_ATTEMPTS },
  });
  const { deliverAlert: deliverLater } = proxyActivities<
    Pick<BackgroundActivities, 'deliverAlert'>
  >({
    taskQueue: input.task_queue,
    startToCloseTimeout: '45s',
    heartbeatTimeout: '10s',
    scheduleToCloseTimeout: SLACK_TIMEOUT,
    retry: { initialInterval: '1s', backoffCoefficient: 2, maximumInterval: '1 minute' },
  });
  const results = await Promise.allSettled(
    input.channels.map((channel) =>
      (channel === 'slack' ? deliverLater : deliverAlert)({ alert: input.alert, channel }),
    ),
  );
  const failed = results.flatMap((result, index) =>
    result.status === 'rejected' ? [`${input.channels[index]}: ${reasonOf(result.reason)}`] : [],
  );
  if (failed.length > 0) throw ApplicationFailure.nonRetryable(failed.join('; '), 'AlertFailed');
  return { delivered: input.channels };
}

function reasonOf(error: unknown): string {
  const cause = causeOf(error);
  return cause instanceof Error ? cause.message : String(cause);
}

import { proxyActivities } from '@temporalio/workflow';
import {
  type DeliverWebhookInput,
  type DeliveryActivities,
  type DeliveryResult,
  MAX_DELIVERY_BACKOFF_MS,
} from '#shared/execution.ts';
import { isAmount, isText, requireInput } from './received.ts';

const inputFields = {
  task_queue: isText,
  backoff_ms: isAmount,
  workspace_id: isText,
  delivery_id: isText,
  round: isAmount,
};

/**
 * One cycle of one delivery. The delivery's row counts the attempts, not the workflow: attempts that failed through no
 * fault of the receiver are retried and not counted. A dead letter appears as a failed execution.
 */
export async function deliverWebhook(input: DeliverWebhookInput): Promise<DeliveryResult> {
  requireInput('deliverWebhook', inputFields, input);
  const { task_queue, backoff_ms, workspace_id, delivery_id, round } = input;
  const { attemptDelivery } = proxyActivities<DeliveryActivities>({
    taskQueue: task_queue,
    startToCloseTimeout: '1 minute',
    heartbeatTimeout: '10s',
    retry: {
      initialInterval: backoff_ms,
      backoffCoefficient: 2,
      maximumInterval: MAX_DELIVERY_BACKOFF_MS,
    },
  });
  return attemptDelivery({ workspace_id, delivery_id, round });
}

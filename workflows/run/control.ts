import { proxyLocalActivities } from '@temporalio/workflow';
import type { ControlActivities } from '../../shared/execution.ts';

/** Bookkeeping never gives up: a long outage of the database must not turn a finished run into a failed one. */
export const control = proxyLocalActivities<ControlActivities>({
  startToCloseTimeout: '15s',
  localRetryThreshold: '10s',
  retry: { initialInterval: '50ms', backoffCoefficient: 2, maximumInterval: '10s' },
});

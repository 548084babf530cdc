import { proxyLocalActivities } from '@temporalio/workflow';
import type { ControlActivities } from '../../shared/execution.ts';

/** Bookkeeping retries forever: a long database outage must not turn a finished run into a failed one. */
export const control = proxyLocalActivities<ControlActivities>({
  startToCloseTimeout: '15s',
  localRetryThreshold: '10s',
  retry: { initialInterval: '50ms', backoffCoefficient: 2, maximumInterval: '10s' },
});

import { proxyLocalActivities, type UntypedActivities, workflowInfo } from '@temporalio/workflow';

/**
 * How long an attempt of a local activity may take, as a share of the workflow task's timeout. At 0.8 of it the SDK
 * ends the task with a heartbeat. A replay does not see a task that ended without any command: it delivers the signals,
 * timers and results of that task together with those of the next one, in another order. So each attempt ends before
 * that, even one that waits for a lock, and its end is a command.
 */
const LONGEST_ATTEMPT = 0.6;

/** The longest attempt of a local activity in this execution, in ms. */
export const longestAttemptMs = (): number => workflowInfo().taskTimeoutMs * LONGEST_ATTEMPT;

/** Single attempts, for a caller that retries them. */
export function proxyAttempts<A = UntypedActivities>(): ReturnType<typeof proxyLocalActivities<A>> {
  return lazily(() =>
    proxyLocalActivities<A>({
      startToCloseTimeout: longestAttemptMs(),
      retry: { maximumAttempts: 1 },
    }),
  );
}

/**
 * Bookkeeping, which is retried forever: a long database outage must not turn a finished run into a failed one. The
 * wait between attempts is a timer, because an attempt that is retried within the task would keep the task open. Only
 * change `attemptMs` if nothing that arrives during an attempt can change what the run does next.
 */
export function proxyBookkeeping<A = UntypedActivities>({
  firstRetryMs,
  attemptMs = longestAttemptMs,
}: {
  firstRetryMs: number;
  attemptMs?: () => number;
}) {
  return lazily(() =>
    proxyLocalActivities<A>({
      startToCloseTimeout: attemptMs(),
      localRetryThreshold: '1ms',
      retry: { initialInterval: firstRetryMs, backoffCoefficient: 2, maximumInterval: '10s' },
    }),
  );
}

/** The task's timeout is only known while an execution runs, but modules are loaded before that. */
const lazily = <Proxied extends object>(proxied: () => Proxied): Proxied =>
  new Proxy({} as Proxied, { get: (_, name) => Reflect.get(proxied(), name) as unknown });

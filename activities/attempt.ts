import { Context } from '@temporalio/activity';
import type { Place } from '#shared/platform/threads/untrusted.ts';

/** One attempt at a step, as Temporal dispatched it, in either lane. */
export interface Attempt {
  /** The Temporal run id of the execution; empty outside an execution. */
  execution: string;
  /** From 1; starts again when a step changes lanes. */
  number: number;
  scheduledAt: Date;
  /** Aborted when the attempt must stop: on a cancel, a worker shutdown or its timeout. */
  signal: AbortSignal;
  /** Where the step's texts can be computed. */
  place: Place;
  /** Whether the step itself is to be cancelled, not just this attempt. */
  isCancelled: () => boolean;
  heartbeat: () => void;
}

/** The attempt of the current activity. */
export function currentAttempt(place: Place = 'here-first'): Attempt {
  const context = Context.current();
  const { info } = context;
  return {
    execution: info.workflowExecution?.runId ?? '',
    number: info.attempt,
    scheduledAt: new Date(info.currentAttemptScheduledTimestampMs),
    signal: context.cancellationSignal,
    place,
    isCancelled: () => context.cancellationDetails?.cancelRequested === true,
    heartbeat: () => context.heartbeat(),
  };
}

/**
 * The attempt of a local activity. It has no heartbeat, stops after `ms`, and cannot compute on a thread. Its signal
 * never means a cancelled step, because a cancelled run sees the cancel after the attempt. Calls `onLate` when it
 * stops. Call `clear` after the attempt.
 */
export function shortAttempt(
  ms: number,
  onLate: () => void,
): { attempt: Attempt; clear: () => void } {
  const attempt = currentAttempt('here');
  const deadline = new AbortController();
  const timer = setTimeout(() => {
    deadline.abort(new Error(`The attempt takes longer than ${ms} ms`));
    onLate();
  }, ms);
  return {
    attempt: {
      ...attempt,
      signal: AbortSignal.any([attempt.signal, deadline.signal]),
      isCancelled: () => false,
      heartbeat: () => undefined,
    },
    clear: () => clearTimeout(timer),
  };
}

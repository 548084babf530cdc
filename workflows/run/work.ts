import type { CancellationScope } from '@temporalio/workflow';
import type { FailedStep, StepCall } from '#shared/execution.ts';
import type { PendingWrites } from '#shared/graph/call-parts.ts';
import type { PreparedStep } from '#shared/graph/prepare/step.ts';
import type { ReadyNode } from '#shared/graph/schedule/scheduler.ts';
import type { Json } from '#shared/json.ts';

/** A step to dispatch, and how its result changes the run. */
export interface Work {
  step: Pick<ReadyNode, 'step_key' | 'iteration'>;
  prepared: PreparedStep;
  call: PendingWrites & Pick<StepCall, 'bound' | 'asks' | 'waited' | 'withdrawn'>;
  succeeded: (output: Json) => void;
  failed: (reason: FailedStep['reason'], error: unknown) => void;
  /** Whether it should still begin; absent: always. */
  wanted?: () => boolean;
}

/** A step that waits for a free call. */
interface QueuedCall {
  work: Work;
  /** Ends the timer; undefined if it tries again at once. */
  timer: CancellationScope | undefined;
}

export interface QueuedCalls {
  open: Map<string, QueuedCall>;
  /** Steps in flight that were woken: the result that says that they wait may arrive after the signal. */
  early: Set<string>;
}

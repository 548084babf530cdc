import { ApplicationFailure, log, TemporalFailure } from '@temporalio/workflow';
import {
  type FailedStep,
  type FailureDetails,
  FAILURE_BUDGET,
  FAILURE_NODE,
  FAILURE_RUN,
  FAILURE_UNRECORDED,
} from '#shared/execution.ts';
import type { ControlStep, ReadyNode, Scheduler } from '#shared/graph/schedule/scheduler.ts';
import type { CaughtError } from '#shared/graph/caught-error.ts';
import { nodeLabel } from '#shared/graph/compile.ts';
import type { JsonObject } from '#shared/json.ts';
import { causeOf } from '#workflows/cause.ts';
import { wholeRun } from './control.ts';
import { complete, noteHandled, pendingWrites, type Run, wake } from './state.ts';
import { show } from './status.ts';

export const text = (error: unknown): string =>
  error instanceof Error ? error.message : String(error);

export function fail(
  run: Run,
  step: Pick<ReadyNode, 'step_key' | 'iteration'>,
  error: string,
  reason: FailedStep['reason'],
  cause?: unknown,
): void {
  run.scheduler.fail(step.step_key);
  if (catchFailure(run, step.step_key, caughtError(error, reason, cause))) return;
  const failed = failedStep(run.scheduler, step, error, reason);
  if (reason === 'budget') failed.evidence = evidenceOf(cause);
  run.failures.set(step.step_key, { step: failed, cause });
  wake(run);
}

/** Takes the error edges of a failed step. Returns false when it has none, or when its error is never caught. */
export function catchFailure(run: Run, stepKey: string, error: CaughtError | undefined): boolean {
  if (!catchKnownFailure(run, stepKey, error)) return false;
  noteHandled(run, stepKey);
  return true;
}

/** Like `catchFailure`, without a number for the error. */
export function catchKnownFailure(
  run: Run,
  stepKey: string,
  error: CaughtError | undefined,
): boolean {
  if (error === undefined || !run.scheduler.catchFailure(stepKey, error)) return false;
  run.finished += 1;
  wake(run);
  return true;
}

/**
 * The error as error edges see it. Undefined for errors that they never catch: a stop by a cap or budget, a cancel, and
 * errors of the infrastructure.
 */
function caughtError(
  message: string,
  reason: FailedStep['reason'],
  error: unknown,
): CaughtError | undefined {
  if (reason === 'budget' || reason === 'unrecorded') return undefined;
  const cause = causeOf(error);
  // An error in this code, such as a template that cannot be rendered with the state.
  if (!(cause instanceof TemporalFailure)) return { message, kind: 'node', attempts: 1 };
  if (!(cause instanceof ApplicationFailure) || cause.type !== FAILURE_NODE) return undefined;
  const { kind = 'node', attempts = 1 } = (cause.details?.[0] ?? {}) as Partial<FailureDetails>;
  return { message, kind, attempts };
}

/** Why a step has failed, by the cause of its failure. The node's own errors are `node`. */
export function reasonOf(cause: unknown): FailedStep['reason'] {
  const type = cause instanceof ApplicationFailure ? cause.type : undefined;
  if (type === FAILURE_BUDGET) return 'budget';
  return type === FAILURE_UNRECORDED ? 'unrecorded' : 'node';
}

function evidenceOf(error: unknown): JsonObject {
  const cause = causeOf(error);
  const details = cause instanceof ApplicationFailure ? cause.details : undefined;
  return (details?.[0] ?? {}) as JsonObject;
}

/** A condition or loop whose expression failed is a failed node. */
export function collectFailed(run: Run, steps: readonly ControlStep[]): void {
  for (const step of steps) {
    if (step.status !== 'failed' || step.caught !== undefined) continue;
    if (run.failures.has(step.step_key)) continue;
    const error = step.error ?? 'failed';
    run.failures.set(step.step_key, { step: failedStep(run.scheduler, step, error, 'node') });
  }
}

/** Like `collectFailed`, for the control steps that wait for a call. */
export function collectFailedControl(run: Run): void {
  const steps = run.scheduler.takeControlSteps();
  collectFailed(run, steps);
  run.scheduler.returnControlSteps(steps);
}

/** Reports failures once nothing is in flight, and then continues or ends the run. */
export async function settleFailures(run: Run): Promise<void> {
  const failed = unrecordedLast([...run.failures.values()].map((failure) => failure.step));
  const call = { ...pendingWrites(run), n: run.failureCount + 1, failed };
  const verdict = await wholeRun.onFailure(call);
  if (verdict.verdict === 'finished') {
    for (const [stepKey, output] of Object.entries(verdict.outputs)) {
      const pause = run.pace.pause();
      if (pause !== undefined) await pause;
      run.failures.delete(stepKey);
      run.scheduler.retry(stepKey);
      complete(run, stepKey, output);
    }
    return;
  }
  run.failureCount += 1;
  if (verdict.verdict === 'fail') {
    show(run, 'failed', verdict.error);
    throw runFailure(run, verdict.error, failed);
  }
  run.failures.clear();
  for (const step of failed) {
    const pause = run.pace.pause();
    if (pause !== undefined) await pause;
    run.scheduler.retry(step.step_key);
  }
  log.info('resumed', { failures: run.failureCount });
}

/**
 * The first failure is the error of the run, and a step without a record may only have been reached because of another
 * failure.
 */
const unrecordedLast = (failed: readonly FailedStep[]): FailedStep[] => [
  ...failed.filter(({ reason }) => reason !== 'unrecorded'),
  ...failed.filter(({ reason }) => reason === 'unrecorded'),
];

function runFailure(run: Run, message: string, failed: readonly FailedStep[]): ApplicationFailure {
  const [first] = run.failures.values();
  return ApplicationFailure.create({
    message,
    type: FAILURE_RUN,
    nonRetryable: true,
    details: [{ failed: failed.map((step) => step.step_key) }],
    cause: first?.cause instanceof Error ? first.cause : undefined,
  });
}

/** A failed step, as in the ledger and the run's error. */
export function failedStep(
  scheduler: Scheduler,
  step: Pick<ReadyNode, 'step_key' | 'iteration'>,
  error: string,
  reason: FailedStep['reason'],
): FailedStep {
  const node = scheduler.node(step.step_key);
  return {
    step_key: step.step_key,
    node_id: node.id,
    label: nodeLabel(node),
    kind: node.kind,
    iteration: step.iteration,
    error,
    reason,
  };
}

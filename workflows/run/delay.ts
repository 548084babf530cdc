import { ApplicationFailure, sleep } from '@temporalio/workflow';
import { FAILURE_NODE } from '#shared/execution.ts';
import type { PendingWrites } from '#shared/graph/call-parts.ts';
import { outputKey } from '#shared/graph/compile.ts';
import type { PreparedStep } from '#shared/graph/prepare/step.ts';
import type { ControlStep, ReadyNode } from '#shared/graph/schedule/scheduler.ts';
import type { Json } from '#shared/json.ts';
import { parseDelay } from '#shared/tools.ts';
import { failStep, follow, nodeWork } from './attempts.ts';
import { callBeside } from './control.ts';
import { handleResult, type Run } from './state.ts';
import { summaryOf } from './step-call.ts';

/** Dispatches a `delay`, which is a server timer: it occupies no worker and survives every restart. */
export function startDelay(
  run: Run,
  step: ReadyNode,
  prepared: PreparedStep,
  call: PendingWrites,
): void {
  const { label, params } = prepared;
  const work = nodeWork(run, step, prepared, call);
  const delay = parseDelay(params);
  if ('error' in delay) {
    const error = ApplicationFailure.nonRetryable(delay.error, FAILURE_NODE);
    handleResult(run, () => failStep(run, work, error));
    return;
  }
  const entry = {
    step_key: step.step_key,
    node_id: step.node_id,
    label,
    kind: 'tool' as const,
    iteration: step.iteration,
    output_key: outputKey(run.scheduler.node(step.step_key)),
  };
  const control: ControlStep[] = [...call.control, { ...entry, status: 'running' }];
  callBeside(
    run,
    ({ recordControlSteps }) => recordControlSteps({ ...call, control }),
    () => follow(run, work, wait(run, entry, delay.seconds)),
    (error) => failStep(run, work, error),
  );
}

async function wait(
  run: Run,
  entry: Omit<ControlStep, 'status'>,
  delayed_seconds: number,
): Promise<Json> {
  const { step_key, label } = entry;
  // A rehearsal does not wait, and a fork does not wait again.
  if (run.input.rehearsal === undefined && !run.input.reuses?.includes(step_key)) {
    const waited = run.ledger?.waited?.[step_key] ?? 0;
    await sleep(Math.max(1, delayed_seconds * 1000 - waited), { summary: summaryOf(label) });
  }
  const output = { delayed_seconds };
  run.scheduler.returnControlSteps([
    ...run.scheduler.takeControlSteps(),
    { ...entry, status: 'success', output },
  ]);
  return output;
}

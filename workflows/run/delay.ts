import { ApplicationFailure, sleep } from '@temporalio/workflow';
import { FAILURE_NODE } from '#shared/execution.ts';
import type { PendingWrites } from '#shared/graph/call-parts.ts';
import { outputKey } from '#shared/graph/compile.ts';
import type { ReadyNode } from '#shared/graph/schedule/scheduler.ts';
import type { Json, JsonObject } from '#shared/json.ts';
import { parseDelay } from '#shared/tools.ts';
import { control } from './control.ts';
import type { Run } from './state.ts';
import { summaryOf } from './step-call.ts';

/** A `delay` is a server timer: it occupies no worker and survives every restart. */
export async function delayStep(
  run: Run,
  step: ReadyNode,
  { label, params, call }: { label: string; params: JsonObject; call: PendingWrites },
): Promise<Json> {
  const delay = parseDelay(params);
  if ('error' in delay) throw ApplicationFailure.nonRetryable(delay.error, FAILURE_NODE);
  const entry = {
    step_key: step.step_key,
    node_id: step.node_id,
    label,
    kind: 'tool' as const,
    iteration: step.iteration,
    output_key: outputKey(run.scheduler.node(step.step_key)),
  };
  await control.recordControlSteps({
    ...call,
    control: [...call.control, { ...entry, status: 'running' }],
  });
  // A rehearsal does not wait, and a fork does not wait again.
  if (run.input.rehearsal === undefined && !run.input.reuses?.includes(step.step_key)) {
    const waited = run.ledger?.waited?.[step.step_key] ?? 0;
    await sleep(Math.max(1, delay.seconds * 1000 - waited), { summary: summaryOf(label) });
  }
  const output = { delayed_seconds: delay.seconds };
  run.scheduler.returnControlSteps([
    ...run.scheduler.takeControlSteps(),
    { ...entry, status: 'success', output },
  ]);
  return output;
}

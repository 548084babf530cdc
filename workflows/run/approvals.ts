import { ApplicationFailure } from '@temporalio/workflow';
import { FAILURE_ASKS, type StepCall } from '#shared/execution.ts';
import { nodeLabel, outputKey } from '#shared/graph/compile.ts';
import type { AskingStep } from '#shared/graph/gates/gate-opening.ts';
import { titleOfCall } from '#shared/graph/gates/title.ts';
import { approvalOf, needsApproval } from '#shared/graph/node-approval.ts';
import type { ReadyNode } from '#shared/graph/schedule/scheduler.ts';
import type { JsonObject } from '#shared/json.ts';
import { SMALL_WORK } from '#shared/values/work-budget.ts';
import { causeOf } from '#workflows/cause.ts';
import { type Run, wake } from './state.ts';

/**
 * Steps of tools and workflows that a person must approve. The worker decides whether a step must ask, since the ledger
 * has its earlier decisions; here, it waits like a gate.
 */

/** What the worker must check before it executes a step. */
export function permissionOf(
  run: Run,
  { step_key: stepKey }: Pick<ReadyNode, 'step_key'>,
  args: JsonObject,
): Pick<StepCall, 'bound' | 'asks'> {
  return {
    ...(run.gates.anyDecided ? { bound: true as const } : {}),
    ...(asks(run, stepKey, args) ? { asks: true as const } : {}),
  };
}

function asks({ scheduler, gates, pace }: Run, stepKey: string, args: JsonObject): boolean {
  const budget = { work: SMALL_WORK };
  try {
    return needsApproval(scheduler.node(stepKey), {
      args,
      state: () => scheduler.state(stepKey),
      asked: gates.asked(stepKey),
      budget,
    });
  } finally {
    pace.add(SMALL_WORK - budget.work);
  }
}

/** What a step asks for, from the failure of its call; undefined when it has failed otherwise. */
export function askingOf(error: unknown): AskingStep | undefined {
  const cause = causeOf(error);
  if (!(cause instanceof ApplicationFailure) || cause.type !== FAILURE_ASKS) return undefined;
  return cause.details?.[0] as AskingStep;
}

/** Waits for a decision about a step. */
export function askFor(run: Run, step: ReadyNode, ask: AskingStep): void {
  const { step_key, iteration } = step;
  const node = run.scheduler.node(step_key);
  const approval = approvalOf(node);
  const settings = ask.settings ?? approval?.settings;
  const title = titleOfCall(ask.call.tool, ask.redacted, approval?.title);
  const caught = run.scheduler.catches(step_key);
  run.gates.reach(step, {
    ...{ step_key, iteration, node_id: node.id, label: nodeLabel(node), round: ask.round },
    ...{ prompt: ask.question, title, fails_on_reject: true, tool_call: ask.call },
    ...{ output_key: outputKey(node), redacted: ask.redacted },
    ...(caught ? { caught_on_reject: true } : {}),
    ...(settings === undefined ? {} : { settings }),
  });
  run.atRest = false;
  wake(run);
}

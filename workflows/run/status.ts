import { continueAsNew, setCurrentDetails, upsertSearchAttributes } from '@temporalio/workflow';
import { defineSearchAttributeKey, SearchAttributeType } from '@temporalio/common';
import { type RunGraphInput, searchAttributes } from '#shared/execution.ts';
import type { JsonObject } from '#shared/json.ts';
import { control, wholeRun } from './control.ts';
import { carriedChildren } from './open-children.ts';
import { pendingWrites, type Run } from './state.ts';

const statusKey = defineSearchAttributeKey(searchAttributes.status, SearchAttributeType.KEYWORD);
const costKey = defineSearchAttributeKey(searchAttributes.cost, SearchAttributeType.DOUBLE);

export interface RunResult {
  run_id: string;
  status: string;
  output: JsonObject;
}

/** Shows the run's status in the Temporal UI. */
export function show(
  run: Run,
  status: string,
  details = `Running, ${run.finished} steps done`,
): void {
  setCurrentDetails(details);
  if (status === run.shownStatus) return;
  run.shownStatus = status;
  upsertSearchAttributes([{ key: statusKey, value: status }]);
}

export async function finish(run: Run): Promise<RunResult> {
  const output = run.scheduler.output();
  const { status, cost_usd } = await wholeRun.settleRun({
    ...pendingWrites(run),
    output: JSON.stringify(output),
    ...run.scheduler.endState(),
  });
  upsertSearchAttributes([
    { key: statusKey, value: status },
    { key: costKey, value: cost_usd },
  ]);
  setCurrentDetails(`Ended as **${status}** after ${run.finished} steps, cost $${cost_usd}`);
  return { run_id: run.input.run_id, status, output };
}

const turnsOf = ({ agents, turns }: Run): Record<string, number> => ({
  ...Object.fromEntries(turns),
  ...Object.fromEntries([...agents].map(([stepKey, { loop }]) => [stepKey, loop.turn])),
});

/** Keeps the history short: a new execution takes over the whole state. Only call it when nothing is in flight. */
export async function carryOn(run: Run): Promise<never> {
  await control.recordControlSteps(pendingWrites(run));
  return continueAsNew<(input: RunGraphInput) => Promise<RunResult>>({
    ...run.input,
    from_ledger: run.replay !== undefined,
    carried: {
      scheduler: run.scheduler.snapshot(),
      ...run.gates.carried(),
      failures: run.failureCount,
      observed: run.observed,
      handled: run.handled,
      ...(run.children.open.size === 0 ? {} : { children: carriedChildren(run.children) }),
      ...(run.agents.size + run.turns.size === 0 ? {} : { turns: turnsOf(run) }),
    },
  });
}

import { workflowInfo } from '@temporalio/workflow';
import { READABLE_TYPE, type RunGraphInput } from '#shared/execution.ts';
import { runGraph } from './run-graph.ts';
import type { RunResult } from './status.ts';

/** Executes every workflow type that is not registered, including those of later releases. */
export async function runOfReadableType(input: RunGraphInput): Promise<RunResult> {
  const { workflowType } = workflowInfo();
  if (workflowType.startsWith(READABLE_TYPE)) return runGraph(input);
  // Fails the task, not the execution, which then waits for a worker that knows the type.
  throw new TypeError(`This worker has no workflow of type '${workflowType}'`);
}

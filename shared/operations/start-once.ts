import { WorkflowExecutionAlreadyStartedError, WorkflowIdReusePolicy } from '@temporalio/client';
import { defineSearchAttributeKey, SearchAttributeType } from '@temporalio/common';
import { searchAttributes } from '#shared/execution.ts';
import type { TemporalLink } from '#shared/platform/temporal.ts';

/** A custom search attribute with one keyword. */
export const keyword = (name: string) =>
  defineSearchAttributeKey(name, SearchAttributeType.KEYWORD);

/** The result of a start, or undefined when the execution already exists, no matter which process started it. */
export async function unlessStarted<T>(start: () => Promise<T>): Promise<T | undefined> {
  try {
    return await start();
  } catch (error) {
    if (error instanceof WorkflowExecutionAlreadyStartedError) return undefined;
    throw error;
  }
}

/** Starts an execution whose id is used once: a repeated start finds the first execution and changes nothing. */
export async function startOnce(
  { client, queues }: TemporalLink,
  execution: { workflow: string; id: string; workspaceId: string; input: object; summary: string },
): Promise<void> {
  const { workflow, id, workspaceId, input, summary } = execution;
  await unlessStarted(() =>
    client.workflow.start(workflow, {
      workflowId: id,
      taskQueue: queues.control,
      args: [input],
      priority: { fairnessKey: workspaceId },
      workflowIdReusePolicy: WorkflowIdReusePolicy.REJECT_DUPLICATE,
      staticSummary: summary.slice(0, 120),
      typedSearchAttributes: [{ key: keyword(searchAttributes.workspace), value: workspaceId }],
    }),
  );
}

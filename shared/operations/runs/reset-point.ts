import proto from '@temporalio/proto';
import type { TemporalLink } from '#shared/platform/temporal.ts';

const { EventType } = proto.temporal.api.enums.v1;

const PAGE_SIZE = 200;
/** A cancel request is near the end of the history: only steps in flight come after it. */
const PAGES_FOR_CANCEL = 10;
const MAX_PAGES = 300;

/**
 * The reset point of a closed execution: the event id of its last completed workflow task or, after a cancel request,
 * of the last one before that request. That task runs again, with all its results. Undefined when no task completed
 * before that point: then there is nothing to reset to.
 */
export async function findResetPoint(
  link: TemporalLink,
  execution: { workflowId: string; runId: string },
): Promise<number | undefined> {
  let nextPageToken: Uint8Array | undefined;
  let candidate: number | undefined;
  for (let page = 0; page < MAX_PAGES; page += 1) {
    const { history, nextPageToken: next } =
      await link.client.workflowService.getWorkflowExecutionHistoryReverse({
        namespace: link.namespace,
        execution,
        maximumPageSize: PAGE_SIZE,
        nextPageToken,
      });
    for (const event of history?.events ?? []) {
      if (event.eventType === EventType.EVENT_TYPE_WORKFLOW_EXECUTION_CANCEL_REQUESTED) {
        candidate = undefined;
      } else if (event.eventType === EventType.EVENT_TYPE_WORKFLOW_TASK_COMPLETED) {
        candidate ??= Number(event.eventId);
      }
    }
    if (next.length === 0) return candidate;
    if (candidate !== undefined && page + 1 >= PAGES_FOR_CANCEL) return candidate;
    nextPageToken = next;
  }
  return candidate;
}

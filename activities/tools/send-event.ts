import type { ToolNode } from '#shared/contract/workflows/graph.ts';
import { eventInput } from '#shared/contract/events/event.ts';
import { insertEvent } from '#shared/db/events/events.ts';
import type { Pool } from '#shared/db/pool.ts';
import type { EventName } from '#shared/db/waits/awaited-events.ts';
import { AppError } from '#shared/errors.ts';
import { type JsonObject, toStorable } from '#shared/json.ts';
import { NodeError, type NodeRunner } from '#activities/nodes/node.ts';
import { parseParams } from './params.ts';

export const sendEventParams = eventInput;

/**
 * `{name, data?, id?}` to `{id, name}`. Without an id, the event has that of the attempt, so a repeated call stores it
 * once. `onEvent` has it compared with the waits and triggers at once, and otherwise a worker does it soon.
 */
export const createSendEvent =
  (db: Pool, onEvent: (name: EventName) => void): NodeRunner<ToolNode> =>
  async ({ params, workspaceId, runId, idempotencyKey }) => {
    const { name, data, id } = parseParams(
      'send_event',
      sendEventParams,
      toStorable(params) as JsonObject,
    );
    const { event } = await insertEvent(db, {
      ...{ workspaceId, name, data, runId, source: 'tool' },
      givenId: id ?? idempotencyKey,
      by: { id: null, name: null },
    }).catch((error: unknown) => {
      throw asNodeError(error);
    });
    onEvent({ workspace_id: workspaceId, name });
    return { output: { id: event.id, name: event.name }, costMicros: 0 };
  };

/** An AppError is an error of the node; other errors are not. */
const asNodeError = (error: unknown): unknown =>
  error instanceof AppError
    ? new NodeError(`send_event: ${error.message}`, {
        retryable: error.code === 'rate_limited' || error.code === 'unavailable',
        cause: error,
      })
    : error;

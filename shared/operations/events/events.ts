import { type NewEvent, insertEvent } from '#shared/db/events/events.ts';
import type { Event } from '#shared/contract/events/event.ts';
import type { DispatchDeps } from '#shared/operations/runs/executions.ts';
import { matchEvents } from '#shared/operations/waits/matching.ts';

/**
 * Stores an event, and then compares it with the waits. If that is interrupted, a worker continues it. `created` false:
 * it was stored before. Throws AppError `idempotency_mismatch`.
 */
export async function sendEvent(
  deps: DispatchDeps,
  event: NewEvent,
): Promise<{ event: Event; created: boolean }> {
  const sent = await insertEvent(deps.db, event);
  const { workspaceId: workspace_id, name } = event;
  matchEvents(deps, { workspace_id, name }).catch((error: unknown) => {
    deps.log.warn(
      { err: error, event: sent.event.id },
      'could not compare an event with the waits',
    );
  });
  return sent;
}

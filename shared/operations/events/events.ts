import { type NewEvent, insertEvent } from '#shared/db/events/events.ts';
import type { Event } from '#shared/contract/events/event.ts';
import type { EventName } from '#shared/db/waits/awaited-events.ts';
import type { Db } from '#shared/db/pool.ts';
import { serviceNamesBehind } from '#shared/db/events/service-events.ts';
import type { Logger } from '#shared/platform/logger.ts';
import type { RunDeps } from '#shared/operations/runs/runs.ts';
import { matchEvents } from '#shared/operations/waits/matching.ts';

/**
 * Stores an event, and then compares it with the waits and triggers. If that is interrupted, a worker continues it. `created` false:
 * it was stored before. Throws AppError `idempotency_mismatch`.
 */
export async function sendEvent(
  deps: RunDeps,
  event: NewEvent,
): Promise<{ event: Event; created: boolean }> {
  const sent = await insertEvent(deps.db, event);
  const { workspaceId: workspace_id, name } = event;
  compareSoon(deps, { workspace_id, name });
  return sent;
}

/**
 * Has the events of a committed change of the data API compared with the waits and triggers. If that is interrupted, a
 * worker does it.
 */
export async function compareChanges(
  { db, log, onEvent }: { db: Db; log: Logger; onEvent: (name: EventName) => void },
  workspaceId: string,
): Promise<void> {
  try {
    for (const name of await serviceNamesBehind(db, workspaceId)) onEvent(name);
  } catch (error) {
    log.warn({ err: error }, 'could not look for events of the data API');
  }
}

/** The same, without waiting for it. */
export const compareChangesSoon = (deps: RunDeps, workspaceId: string): void =>
  void compareChanges({ ...deps, onEvent: (name) => compareSoon(deps, name) }, workspaceId);

/** Compares the stored events of a name with the waits and triggers, without waiting for it. */
export function compareSoon(deps: RunDeps, name: EventName): void {
  matchEvents(deps, name).catch((error: unknown) => {
    deps.log.warn(
      { err: error, event: name.name },
      'could not compare an event with the waits and triggers',
    );
  });
}

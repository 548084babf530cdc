import type { HookEvent } from '#shared/contract/inbound/webhook.ts';
import {
  resendReceived,
  type Resent,
  type SentByHook,
  sendReceived,
} from '#shared/db/inbound/sent.ts';
import { compareSoon } from '#shared/operations/events/events.ts';
import type { RunDeps } from '#shared/operations/runs/runs.ts';

/** Sends what a webhook received as an event, which ends waits and starts runs right after. */
export async function sendFromHook(
  deps: RunDeps,
  received: Parameters<typeof sendReceived>[1],
): Promise<SentByHook> {
  const sent = await sendReceived(deps.db, received);
  compareSoon(deps, { workspace_id: received.workspaceId, name: received.name });
  return sent;
}

/** Sends a received event again. `created` false: with the same id, it was sent before. */
export async function resend(
  deps: RunDeps,
  resent: Resent,
): Promise<{ eventId: string; created: boolean }> {
  const sent = await resendReceived(deps.db, resent);
  compareSoon(deps, { workspace_id: resent.workspaceId, name: resent.name });
  return sent;
}

/** The response to a request that has sent a received event. */
export const hookEventOf = ({
  eventId: event_id,
  created,
}: {
  eventId: string;
  created: boolean;
}): HookEvent =>
  created ? { event_id, status: 'event' } : { event_id, status: 'duplicate', deduplicated: true };

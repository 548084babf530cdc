import type { Actor } from '#shared/people/actor.ts';
import { KEPT_BODY_BYTES, unverifiedReasons } from '#shared/contract/inbound/inbound-event.ts';
import type { Resent } from '#shared/db/inbound/sent.ts';
import { readReplayable, type ReplayableEvent } from '#shared/db/inbound/replays.ts';
import type { Db } from '#shared/db/pool.ts';
import type { RunRequest } from '#shared/db/runs/run-request.ts';
import { conflict } from '#shared/errors.ts';
import type { JsonObject } from '#shared/json.ts';
import { eventIdOf, inputOf } from './event.ts';

export interface ReplayOptions {
  /** Whether an event starts no run if its id has already started one within the webhook's window, or was sent. */
  deduplicate: boolean;
  /** The running job that replays the event, once. */
  jobId?: string | undefined;
  /** The key under which the event is sent once. */
  idempotencyKey?: string | undefined;
}

/** What a replay does: it starts a run, or sends an event if the webhook does that now. */
export type Replay = { run: RunRequest } | { event: Resent };

/**
 * What the replay of an event does, with the same input and under the same conditions. Throws AppError `conflict` for an
 * event that was not stored completely, and `invalid` and `too_large` for a body that is not a valid input.
 */
export async function replayOf(
  actor: Pick<Actor, 'workspaceId' | 'id' | 'name'>,
  event: ReplayableEvent,
  { deduplicate, jobId, idempotencyKey }: ReplayOptions,
): Promise<Replay> {
  const input = await inputOfEvent(event);
  const eventId = event.event_id ?? eventIdOf({}, input, event);
  if (event.sends !== null) {
    const { workflow_id: workflowId } = event;
    const own = deduplicate ? eventId : undefined;
    const once =
      idempotencyKey === undefined
        ? own === undefined
          ? undefined
          : { id: own, scope: workflowId }
        : { id: idempotencyKey, scope: event.id };
    const { workspaceId, id, name } = actor;
    return {
      event: {
        ...{ workspaceId, workflowId, actor: { id, name }, name: event.sends, data: input },
        ...{ inboundEventId: event.id, once, jobId },
      },
    };
  }
  return { run: runOf(actor, event, { input, eventId, deduplicate, jobId }) };
}

function runOf(
  actor: Pick<Actor, 'workspaceId' | 'id' | 'name'>,
  event: ReplayableEvent,
  {
    input,
    eventId,
    deduplicate,
    jobId,
  }: { input: JsonObject; eventId: string | undefined } & ReplayOptions,
): RunRequest {
  const windowSeconds = event.dedup_window_seconds;
  return {
    actor,
    workflowId: event.workflow_id,
    trigger: 'webhook',
    input,
    replay: { eventId: event.id, jobId },
    ...(deduplicate && eventId !== undefined && windowSeconds > 0
      ? { event: { id: eventId, windowSeconds } }
      : {}),
    audit: {
      action: 'webhook_replay',
      details: { inbound_event_id: event.id, ...(jobId === undefined ? {} : { replay_id: jobId }) },
    },
  };
}

async function inputOfEvent(event: ReplayableEvent): Promise<JsonObject> {
  const { body, size, input } = event;
  if (body === null) {
    throw conflict('The body of this event was not kept: its sender must send it again');
  }
  if ((size ?? 0) <= KEPT_BODY_BYTES) {
    const sending = { type: event.content_type ?? undefined, acceptForms: event.accept_forms };
    return inputOf(Buffer.from(body, 'base64'), sending);
  }
  if (input !== null) return input;
  throw conflict(
    `Only the first ${KEPT_BODY_BYTES} bytes of this event were kept: its sender must send it again`,
  );
}

/**
 * What replays one event. Throws AppError `not_found`, `invalid`, and `conflict` for an event that was not
 * stored completely, or whose sender is unknown, unless that is allowed.
 */
export async function requestReplay(
  db: Db,
  actor: Actor,
  id: string,
  options: ReplayOptions & { allow_unverified: boolean },
): Promise<Replay> {
  const event = await readReplayable(db, { workspaceId: actor.workspaceId, id });
  if (!options.allow_unverified && unverifiedReasons.has(event.reason ?? '')) {
    throw conflict(
      'Anyone can have sent this event, because its signature was not valid: check its body, and replay it with allow_unverified',
    );
  }
  return replayOf(actor, event, options);
}

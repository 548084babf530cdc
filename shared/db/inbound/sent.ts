import { z } from 'zod';
import type { Event } from '#shared/contract/events/event.ts';
import { recordAudit } from '#shared/db/audit/audit.ts';
import { auditSent, storeEvent } from '#shared/db/events/events.ts';
import { type Pool, sql, statement, type Tx } from '#shared/db/pool.ts';
import { conflict, notFound } from '#shared/errors.ts';
import type { JsonObject } from '#shared/json.ts';
import type { Actor } from '#shared/people/actor.ts';
import type { ArrivedEvent } from './arrived-event.ts';
import type { SignatureMark } from './webhooks.ts';

/** What inbound webhooks send as events of the workspace, instead of starting runs. */

interface Received {
  workspaceId: string;
  workflowId: string;
  /** The name of the event to send. */
  name: string;
  data: JsonObject;
}

/** The event of a request; `created` false: an earlier request has sent it. */
export type SentByHook =
  | { eventId: string; created: boolean }
  /** The signature has started a run, before the webhook sent events. */
  | { runId: string };

/**
 * Sends what a webhook received, with its entry in the log. Throws AppError `not_found`, and those of `storeEvent`.
 */
export async function sendReceived(
  db: Pool,
  {
    eventId,
    signature,
    arrival,
    ...received
  }: Received & {
    eventId: string | undefined;
    signature: SignatureMark | undefined;
    arrival: ArrivedEvent;
  },
): Promise<SentByHook> {
  const { workflowId, workspaceId } = received;
  return db.transaction(async (tx) => {
    await keepWorkflow(tx, received);
    const used = signature === undefined ? null : await useSignature(tx, workflowId, signature);
    if (used !== null) return used;
    const { event, created } = await storeEvent(tx, {
      ...eventOf(received),
      givenId: eventId,
      idScope: workflowId,
      by: { id: null, name: null },
      inboundEventId: arrival.id,
    });
    if (signature !== undefined) await bindSignature(tx, workflowId, signature, event.id);
    if (!created) return { eventId: event.id, created };
    await auditSent(
      tx,
      { workspaceId, id: null, name: null },
      { id: event.id, details: { name: event.name, workflow_id: workflowId } },
    );
    await tx.query(statement(z.object({}))`
      INSERT INTO inbound_events (id, workflow_id, outcome, status, sent_event_id, event_id, source, headers, size, body)
      VALUES (${arrival.id}, ${workflowId}, 'event', 201, ${event.id}, ${arrival.eventId}, ${arrival.source},
              ${JSON.stringify(arrival.headers)}::json, ${arrival.size},
              ${arrival.body === null ? null : sql.binary(arrival.body)})
    `);
    return { eventId: event.id, created };
  });
}

const eventOf = ({ workspaceId, name, data }: Received) => ({
  ...{ workspaceId, name, data },
  source: 'webhook' as const satisfies Event['source'],
});

/** A workflow that is being deleted sends nothing. */
async function keepWorkflow(tx: Tx, { workspaceId, workflowId }: Received): Promise<void> {
  const row = await tx.maybeOne(statement(z.object({ id: z.string() }))`
    SELECT id FROM workflows WHERE id = ${workflowId} AND workspace_id = ${workspaceId} FOR KEY SHARE
  `);
  if (row === null) throw notFound('Workflow');
}

const usedRow = z.object({ run_id: z.string().nullable(), sent_event_id: z.string().nullable() });

/** Claims a signature, or finds what it has sent or started. Waits for a transaction that has claimed it. */
async function useSignature(
  tx: Tx,
  workflowId: string,
  { hash, signedAt }: SignatureMark,
): Promise<SentByHook | null> {
  const { rowCount } = await tx.query(statement(z.object({}))`
    INSERT INTO webhook_signatures (workflow_id, signature, signed_at)
    VALUES (${workflowId}, ${sql.binary(hash)}, to_timestamp(${signedAt}::bigint)) ON CONFLICT DO NOTHING
  `);
  if (rowCount > 0) return null;
  const used = await tx.maybeOne(statement(usedRow)`
    SELECT run_id, sent_event_id FROM webhook_signatures
    WHERE workflow_id = ${workflowId} AND signature = ${sql.binary(hash)}
  `);
  if (used?.run_id != null) return { runId: used.run_id };
  if (used?.sent_event_id != null) return { eventId: used.sent_event_id, created: false };
  throw conflict('The signature was used: sign the request again');
}

const bindSignature = (
  tx: Tx,
  workflowId: string,
  { hash }: SignatureMark,
  eventId: string,
): Promise<unknown> =>
  tx.query(statement(z.object({}))`
    UPDATE webhook_signatures SET sent_event_id = ${eventId}
    WHERE workflow_id = ${workflowId} AND signature = ${sql.binary(hash)}
  `);

/** A received event to send again. */
export interface Resent extends Received {
  actor: Pick<Actor, 'id' | 'name'>;
  inboundEventId: string;
  /** The id under which the event is sent once, and of whom it is. */
  once: { id: string; scope: string } | undefined;
  /** The running job that replays the event, once. */
  jobId: string | undefined;
}

const replayRow = z.object({ run_id: z.string().nullable(), sent_event_id: z.string().nullable() });

/**
 * Sends a received event again. Throws AppError `not_found`, `conflict` when the job does not run, and those of
 * `storeEvent`.
 */
export async function resendReceived(
  db: Pool,
  { actor, inboundEventId, once, jobId, ...received }: Resent,
): Promise<{ eventId: string; created: boolean }> {
  const { workspaceId, workflowId } = received;
  return db.transaction(async (tx) => {
    await keepWorkflow(tx, received);
    if (jobId !== undefined) {
      const isRunning = await tx.maybeOne(statement(z.object({ id: z.string() }))`
        SELECT id FROM background_jobs
        WHERE id = ${jobId} AND workspace_id = ${workspaceId} AND status = 'running' FOR SHARE
      `);
      if (isRunning === null) throw conflict('The replay is not running');
      // An earlier execution of the page may have sent it.
      const earlier = await tx.maybeOne(statement(replayRow)`
        SELECT run_id, sent_event_id FROM inbound_event_replays WHERE event_id = ${inboundEventId} AND job_id = ${jobId}
      `);
      if (earlier?.sent_event_id != null) return { eventId: earlier.sent_event_id, created: true };
      if (earlier?.run_id != null) throw conflict('The webhook started runs when it was replayed');
    }
    const { event, created } = await storeEvent(tx, {
      ...eventOf(received),
      givenId: once?.id,
      idScope: once?.scope ?? workflowId,
      by: actor,
      inboundEventId,
    });
    if (!created) return { eventId: event.id, created };
    // The entry may be deleted concurrently.
    await tx.query(statement(z.object({}))`
      INSERT INTO inbound_event_replays (event_id, job_id, sent_event_id)
      SELECT e.id, ${jobId ?? null}, ${event.id} FROM inbound_events e WHERE e.id = ${inboundEventId} FOR KEY SHARE
    `);
    await recordAudit(
      tx,
      { ...actor, workspaceId },
      {
        action: 'webhook_replay',
        targetType: 'workflow',
        targetId: workflowId,
        details: {
          ...{ inbound_event_id: inboundEventId, sent_event_id: event.id },
          ...(jobId === undefined ? {} : { replay_id: jobId }),
        },
      },
    );
    return { eventId: event.id, created };
  });
}

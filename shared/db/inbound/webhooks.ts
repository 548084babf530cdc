import type { AuditAction } from '#shared/contract/audit/audit.ts';
import { randomBytes } from 'node:crypto';
import { z } from 'zod';
import { type Actor, requireCapability } from '#shared/people/actor.ts';
import { type WebhookConfigInput, webhookDefaults } from '#shared/contract/inbound/webhook.ts';
import { notFound } from '#shared/errors.ts';
import type { JsonObject } from '#shared/json.ts';
import { recordAudit } from '#shared/db/audit/audit.ts';
import { lockWorkspace } from '#shared/db/people/workspaces.ts';
import { type Db, type Pool, sql, statement, type Tx } from '#shared/db/pool.ts';
import { requireWorkflow, type WorkflowScope } from '#shared/db/workflows/workflows.ts';

const settingsRow = z.object({
  require_signature: z.boolean(),
  timestamp_tolerance_seconds: z.number(),
  dedup_window_seconds: z.number(),
  event_id_field: z.string(),
  event_id_header: z.string().nullable(),
  accept_forms: z.boolean(),
  answer_challenges: z.boolean(),
  event: z.string().nullable(),
});

const webhookRow = settingsRow.extend({ secret: z.string().nullable() });
/** A workflow's webhook. Without a secret, it is disabled. */
export type StoredWebhook = z.infer<typeof webhookRow>;

const columns = sql.fragment`
  secret, require_signature, timestamp_tolerance_seconds, dedup_window_seconds, event_id_field, event_id_header,
  accept_forms, answer_challenges, event`;

/** 16 random bytes as 32 hexadecimal characters. */
const newSecret = (): string => randomBytes(16).toString('hex');

/** Throws AppError `not_found`. */
export async function readWebhook(db: Db, scope: WorkflowScope): Promise<StoredWebhook> {
  await requireWorkflow(db, scope);
  return readStored(db, scope);
}

async function readStored(
  db: Db,
  { workspaceId, workflowId }: WorkflowScope,
): Promise<StoredWebhook> {
  const row = await db.maybeOne(statement(webhookRow)`
    SELECT ${columns} FROM workflow_webhooks
    WHERE workflow_id = ${workflowId} AND workspace_id = ${workspaceId}
  `);
  return row ?? { secret: null, ...webhookDefaults };
}

/** Enables the webhook, or replaces the secret of an enabled one; returns it. Throws AppError `not_found`. */
export async function enableWebhook(db: Pool, actor: Actor, workflowId: string): Promise<string> {
  const secret = newSecret();
  await db.transaction(async (tx) => {
    await lockWorkspace(tx, actor.workspaceId);
    const before = await lockWebhook(tx, actor, workflowId);
    await writeWebhook(tx, { workspaceId: actor.workspaceId, workflowId }, { ...before, secret });
    const action = before.secret === null ? 'webhook_enable' : 'webhook_rotate';
    await auditWebhook(tx, actor, { workflowId, action });
  });
  return secret;
}

/** Deletes the secret and keeps the settings. Has no effect on a disabled one. Throws AppError `not_found`. */
export async function disableWebhook(db: Pool, actor: Actor, workflowId: string): Promise<void> {
  await db.transaction(async (tx) => {
    const before = await lockWebhook(tx, actor, workflowId);
    if (before.secret === null) return;
    const scope = { workspaceId: actor.workspaceId, workflowId };
    await writeWebhook(tx, scope, { ...before, secret: null });
    await auditWebhook(tx, actor, { workflowId, action: 'webhook_disable' });
  });
}

/**
 * Changes the given settings, even of a disabled webhook; returns the webhook. Throws AppError `not_found`, and `forbidden`
 * for a change of what it starts when the actor cannot run workflows.
 */
export async function configureWebhook(
  db: Pool,
  actor: Actor,
  workflowId: string,
  input: WebhookConfigInput,
): Promise<StoredWebhook> {
  return db.transaction(async (tx) => {
    const before = await lockWebhook(tx, actor, workflowId);
    const changed = Object.fromEntries(
      Object.entries(input).filter(([name, value]) => before[name as keyof typeof input] !== value),
    );
    if (Object.keys(changed).length === 0) return before;
    if ('event' in changed) requireCapability(actor, 'run_workflows');
    const after = { ...before, ...changed };
    await writeWebhook(tx, { workspaceId: actor.workspaceId, workflowId }, after);
    await auditWebhook(tx, actor, { workflowId, action: 'webhook_config', details: changed });
    return after;
  });
}

/** Locks the webhook until the transaction ends. Does not block triggers of runs. */
async function lockWebhook(tx: Tx, actor: Actor, workflowId: string): Promise<StoredWebhook> {
  const { workspaceId } = actor;
  const workflow = await tx.maybeOne(statement(z.object({ id: z.string() }))`
    SELECT id FROM workflows WHERE id = ${workflowId} AND workspace_id = ${workspaceId} FOR NO KEY UPDATE
  `);
  if (workflow === null) throw notFound('Workflow');
  return readStored(tx, { workspaceId, workflowId });
}

async function writeWebhook(tx: Tx, scope: WorkflowScope, webhook: StoredWebhook): Promise<void> {
  await tx.query(statement(z.object({}))`
    INSERT INTO workflow_webhooks (workflow_id, workspace_id, ${columns})
    VALUES (${scope.workflowId}, ${scope.workspaceId}, ${webhook.secret}, ${webhook.require_signature},
            ${webhook.timestamp_tolerance_seconds}, ${webhook.dedup_window_seconds}, ${webhook.event_id_field},
            ${webhook.event_id_header}, ${webhook.accept_forms}, ${webhook.answer_challenges}, ${webhook.event})
    ON CONFLICT (workflow_id) DO UPDATE SET (${columns}) = (
      SELECT excluded.secret, excluded.require_signature, excluded.timestamp_tolerance_seconds,
             excluded.dedup_window_seconds, excluded.event_id_field, excluded.event_id_header,
             excluded.accept_forms, excluded.answer_challenges, excluded.event)
  `);
}

const auditWebhook = (
  tx: Tx,
  actor: Actor,
  act: { workflowId: string; action: AuditAction; details?: JsonObject },
): Promise<void> =>
  recordAudit(tx, actor, {
    action: act.action,
    targetType: 'workflow',
    targetId: act.workflowId,
    details: act.details,
  });

/** A stored signature: its SHA-256 and its time, in seconds since 1970. */
export interface SignatureMark {
  hash: Buffer;
  signedAt: number;
}

const receivingRow = webhookRow.extend({
  workspace_id: z.string(),
  /** The run of this event, if one was started within the window. */
  seen_run_id: z.string().nullable(),
  /** The run or the event of this signature, if there is one. */
  signed_run_id: z.string().nullable(),
  signed_event_id: z.string().nullable(),
});
export type ReceivingWebhook = z.infer<typeof receivingRow>;
export type EnabledWebhook = ReceivingWebhook & { secret: string };

/**
 * The webhook of a workflow of any workspace, enabled or not: the caller has only the workflow's id and a secret.
 * Undefined for a workflow whose webhook was never enabled or configured. Includes the runs that this event or
 * signature has already started, so that most duplicates take one statement.
 */
export async function findWebhook(
  db: Db,
  workflowId: string,
  known: { eventId?: string | undefined; signatureHash?: Buffer | undefined } = {},
): Promise<ReceivingWebhook | undefined> {
  const { eventId, signatureHash } = known;
  const row = await db.maybeOne(statement(receivingRow)`
    SELECT h.workspace_id, ${columns}, e.run_id AS seen_run_id, s.run_id AS signed_run_id,
           s.sent_event_id AS signed_event_id
    FROM workflow_webhooks h
    LEFT JOIN webhook_events e ON e.workflow_id = h.workflow_id AND e.event_id = ${eventId ?? null}
      AND h.dedup_window_seconds > 0
      AND e.received_at >= now() - h.dedup_window_seconds * interval '1 second'
    LEFT JOIN webhook_signatures s ON s.workflow_id = h.workflow_id AND h.require_signature
      AND s.signature = ${signatureHash === undefined ? null : sql.binary(signatureHash)}
    WHERE h.workflow_id = ${workflowId}
  `);
  return row ?? undefined;
}

/** Stores the signature of an event that has already started a run. */
export async function rememberSignature(
  db: Db,
  workflowId: string,
  { hash, signedAt }: SignatureMark,
  runId: string,
): Promise<void> {
  await db.query(statement(z.object({}))`
    INSERT INTO webhook_signatures (workflow_id, signature, run_id, signed_at)
    SELECT id, ${sql.binary(hash)}, ${runId}, to_timestamp(${signedAt}::bigint)
    FROM workflows WHERE id = ${workflowId}
    -- It may be deleted concurrently.
    FOR KEY SHARE
    ON CONFLICT DO NOTHING
  `);
}

/** Deletes up to `batch` events that are past the window of their webhook; returns how many. */
export async function dropPastEvents(db: Db, batch: number): Promise<number> {
  const { rowCount } = await db.query(statement(z.object({}))`
    WITH past AS (
      SELECT e.workflow_id, e.event_id
      FROM workflow_webhooks h CROSS JOIN LATERAL (
        SELECT workflow_id, event_id FROM webhook_events
        WHERE workflow_id = h.workflow_id
          AND received_at < now() - h.dedup_window_seconds * interval '1 second'
        ORDER BY received_at LIMIT ${batch} FOR UPDATE SKIP LOCKED
      ) e LIMIT ${batch}
    )
    DELETE FROM webhook_events e USING past
    WHERE e.workflow_id = past.workflow_id AND e.event_id = past.event_id
  `);
  return rowCount;
}

/** Margin beyond the tolerance, because the timestamp is checked by a different clock than the database's. */
const SIGNATURE_MARGIN_SECONDS = 600;

/** Deletes up to `batch` signatures that are too old to be accepted again; returns how many. */
export async function dropPastSignatures(db: Db, batch: number): Promise<number> {
  const { rowCount } = await db.query(statement(z.object({}))`
    WITH past AS (
      SELECT s.workflow_id, s.signature
      FROM workflow_webhooks h CROSS JOIN LATERAL (
        SELECT workflow_id, signature FROM webhook_signatures
        WHERE workflow_id = h.workflow_id
          AND signed_at < now() - (h.timestamp_tolerance_seconds + ${SIGNATURE_MARGIN_SECONDS}::int)
                                  * interval '1 second'
        ORDER BY signed_at LIMIT ${batch} FOR UPDATE SKIP LOCKED
      ) s LIMIT ${batch}
    )
    DELETE FROM webhook_signatures s USING past
    WHERE s.workflow_id = past.workflow_id AND s.signature = past.signature
  `);
  return rowCount;
}

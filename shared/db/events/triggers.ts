import { z } from 'zod';
import { type Actor, requireCapability } from '#shared/people/actor.ts';
import type { OffsetPage } from '#shared/contract/common.ts';
import type {
  EventTrigger,
  EventTriggerInput,
  EventTriggerUpdate,
} from '#shared/contract/events/trigger.ts';
import { withEtag } from '#shared/crypto/etags.ts';
import { newId } from '#shared/crypto/ids.ts';
import { recordAudit } from '#shared/db/audit/audit.ts';
import { offsetClause } from '#shared/db/cursor.ts';
import { requireRoom } from '#shared/db/people/limits.ts';
import { lockWorkspace } from '#shared/db/people/workspaces.ts';
import { type Db, jsonOrNull, type Pool, sql, statement, type Tx } from '#shared/db/pool.ts';
import { storedJson } from '#shared/db/stored-json.ts';
import { excludeMatching, lockName } from '#shared/db/waits/awaited-events.ts';
import { notFound } from '#shared/errors.ts';
import { canonicalJson } from '#shared/graph/diff.ts';
import { equalityOf } from '#shared/graph/waits/equality.ts';
import type { JsonObject } from '#shared/json.ts';

export interface TriggerScope {
  workspaceId: string;
  triggerId: string;
}

const idRow = z.object({ id: z.string() });

const triggerRow = z.object({
  id: z.string(),
  workflow_id: z.string(),
  event: z.string(),
  match: z.string().nullable(),
  input: storedJson<JsonObject>().nullable(),
  enabled: z.boolean(),
  created_at: z.string(),
});

const listedRow = triggerRow.extend({
  last_run_at: z.string().nullable(),
  last_run_id: z.string().nullable(),
  skipped_at: z.string().nullable(),
  skipped_event: z.string().nullable(),
  skip_reason: z.string().nullable(),
});

const columns = sql.fragment`t.id, t.workflow_id, t.event, t.match, t.input, t.enabled, t.created_at`;

/** Triggers `t` with what they did last. */
const listed = sql.fragment`
  SELECT ${columns}, r.created_at AS last_run_at, r.run_id AS last_run_id,
         k.created_at AS skipped_at, k.event_id AS skipped_event, k.refusal AS skip_reason
  FROM event_triggers t
  LEFT JOIN LATERAL (
    SELECT s.created_at, s.run_id FROM event_starts s WHERE s.trigger_id = t.id AND s.run_id IS NOT NULL
    ORDER BY s.created_at DESC LIMIT 1) r ON true
  LEFT JOIN LATERAL (
    SELECT s.created_at, s.event_id, s.refusal FROM event_starts s WHERE s.trigger_id = t.id AND s.refusal IS NOT NULL
    ORDER BY s.created_at DESC LIMIT 1) k ON true`;

function toTrigger(row: z.infer<typeof listedRow>): EventTrigger {
  const { skipped_at: at, skipped_event: event_id, skip_reason: reason, ...rest } = row;
  const last_skip =
    at === null || event_id === null || reason === null ? null : { at, event_id, reason };
  return withEtag({ ...rest, last_skip }, ['last_run_at', 'last_run_id', 'last_skip']);
}

/** The triggers of a workflow, newest first. Throws AppError `not_found` for the workflow. */
export async function listTriggers(
  db: Db,
  { workspaceId, workflowId, ...page }: OffsetPage & { workspaceId: string; workflowId: string },
): Promise<EventTrigger[]> {
  const found = await db.exists(statement(z.object({}))`
    SELECT FROM workflows WHERE id = ${workflowId} AND workspace_id = ${workspaceId}
  `);
  if (!found) throw notFound('Workflow');
  const rows = await db.any(statement(listedRow)`
    ${listed} WHERE t.workflow_id = ${workflowId} AND t.workspace_id = ${workspaceId}
    ORDER BY t.created_at DESC, t.id DESC ${offsetClause(page)}
  `);
  return rows.map(toTrigger);
}

/** Throws AppError `not_found`. */
export async function readTrigger(
  db: Db,
  { workspaceId, triggerId }: TriggerScope,
): Promise<EventTrigger> {
  const row = await db.maybeOne(statement(listedRow)`
    ${listed} WHERE t.id = ${triggerId} AND t.workspace_id = ${workspaceId}
  `);
  if (row === null) throw notFound('Event trigger');
  return toTrigger(row);
}

/**
 * Creates a trigger, for which later events count. Throws AppError `not_found`, `conflict` when there are
 * too many, and `forbidden` for an enabled one when the actor cannot run workflows.
 */
export async function createTrigger(
  db: Pool,
  actor: Actor,
  { workflowId, ...input }: EventTriggerInput & { workflowId: string },
): Promise<EventTrigger> {
  const { workspaceId } = actor;
  const id = newId('eventTrigger');
  return db.transaction(async (tx) => {
    await requireRoom(tx, workspaceId, 'triggers');
    const workflow = await tx.maybeOne(statement(idRow)`
      SELECT id FROM workflows WHERE id = ${workflowId} AND workspace_id = ${workspaceId} FOR SHARE
    `);
    if (workflow === null) throw notFound('Workflow');
    if (input.enabled) requireCapability(actor, 'run_workflows');
    await tx.query(statement(z.object({}))`
      INSERT INTO event_triggers (id, workspace_id, workflow_id, event, match, input, enabled, created_by)
      VALUES (${id}, ${workspaceId}, ${workflowId}, ${input.event}, ${input.match}, ${jsonOrNull(input.input)},
              ${input.enabled}, ${actor.id})
    `);
    if (input.enabled) await awaitEvents(tx, { id, workspaceId, ...input });
    await auditTrigger(tx, actor, 'trigger_create', { id, workflow_id: workflowId, ...input });
    return readTrigger(tx, { workspaceId, triggerId: id });
  });
}

/**
 * Changes the given fields. After a change of the event or of `enabled`, only later events count. Throws AppError
 * `not_found`, and `forbidden` where the change affects runs and the actor cannot run workflows.
 */
export async function updateTrigger(
  db: Pool,
  actor: Actor,
  triggerId: string,
  change: EventTriggerUpdate,
): Promise<void> {
  const { workspaceId } = actor;
  await db.transaction(async (tx) => {
    if (change.enabled === true) await lockWorkspace(tx, workspaceId);
    // Locks the workflow before the trigger, as the workflow's deletion does.
    await tx.query(statement(z.object({}))`
      SELECT FROM event_triggers t JOIN workflows w ON w.id = t.workflow_id
      WHERE t.id = ${triggerId} AND t.workspace_id = ${workspaceId} FOR SHARE OF w
    `);
    const before = await tx.maybeOne(statement(triggerRow)`
      SELECT ${columns} FROM event_triggers t
      WHERE t.id = ${triggerId} AND t.workspace_id = ${workspaceId} FOR NO KEY UPDATE
    `);
    if (before === null) throw notFound('Event trigger');
    const { event, match, input, enabled } = change;
    const after = {
      ...before,
      event: event ?? before.event,
      match: match === undefined ? before.match : match,
      input: input === undefined ? before.input : input,
      enabled: enabled ?? before.enabled,
    };
    const changes = decided(before) !== decided(after);
    if (after.enabled && changes) requireCapability(actor, 'run_workflows');
    // They decide what runs from now on, so they count as starters.
    await tx.query(statement(z.object({}))`
      UPDATE event_triggers SET event = ${after.event}, match = ${after.match}, input = ${jsonOrNull(after.input)},
        enabled = ${after.enabled},
        editors = CASE WHEN ${changes && actor.id !== null} THEN array_append(array_remove(editors, ${actor.id}), ${actor.id})
                       ELSE editors END
      WHERE id = ${triggerId}
    `);
    // Else events that are being compared could be looked for by the values of neither.
    await excludeMatching(tx, { workspace_id: workspaceId, name: after.event });
    const again = after.event !== before.event || !before.enabled;
    if (again || !after.enabled) await forgetEvents(tx, triggerId);
    if (after.enabled) await awaitEvents(tx, { workspaceId, ...after });
    await auditTrigger(tx, actor, 'trigger_update', after);
  });
}

const decided = ({ event, match, input, enabled }: z.infer<typeof triggerRow>): string =>
  canonicalJson({ event, match, input, enabled });

const forgetEvents = (tx: Tx, triggerId: string): Promise<unknown> =>
  tx.query(statement(z.object({}))`DELETE FROM awaited_events WHERE trigger_id = ${triggerId}`);

/** Lets the events after the last one find the trigger. One that was found already keeps its place. */
async function awaitEvents(
  tx: Tx,
  {
    id,
    workspaceId,
    event,
    match,
  }: Pick<EventTrigger, 'id' | 'event' | 'match'> & { workspaceId: string },
): Promise<void> {
  const equality = match === null ? undefined : equalityOf(match, {});
  const { path = '', value = '' } = equality ?? {};
  const last = await lockName(tx, { workspaceId, name: event, path: equality?.path });
  await tx.query(statement(z.object({}))`
    INSERT INTO awaited_events (trigger_id, workspace_id, name, path, value, match, after_seq)
    VALUES (${id}, ${workspaceId}, ${event}, ${path}, ${value}, ${match}, ${last})
    ON CONFLICT (trigger_id) DO UPDATE SET path = excluded.path, value = excluded.value, match = excluded.match
  `);
}

/** Deletes the trigger. Runs that it started continue. Throws AppError `not_found`. */
export async function deleteTrigger(db: Pool, actor: Actor, triggerId: string): Promise<void> {
  await db.transaction(async (tx) => {
    const trigger = await tx.maybeOne(statement(triggerRow)`
      DELETE FROM event_triggers t WHERE t.id = ${triggerId} AND t.workspace_id = ${actor.workspaceId} RETURNING ${columns}
    `);
    if (trigger === null) throw notFound('Event trigger');
    await auditTrigger(tx, actor, 'trigger_delete', trigger);
  });
}

const auditTrigger = (
  tx: Tx,
  actor: Actor,
  action: 'trigger_create' | 'trigger_update' | 'trigger_delete',
  { id, workflow_id, event }: Pick<EventTrigger, 'id' | 'workflow_id' | 'event'>,
): Promise<void> =>
  recordAudit(tx, actor, {
    action,
    targetType: 'workflow',
    targetId: workflow_id,
    details: { trigger_id: id, event },
  });

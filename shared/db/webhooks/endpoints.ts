import { z } from 'zod';
import type { AuditAction } from '#shared/contract/audit/audit.ts';
import type { OffsetPage } from '#shared/contract/common.ts';
import {
  type DataEndpoint,
  type DataEndpointInput,
  dataEndpointSchema,
  type EndpointUpdate,
  isListener,
  runEventTypes,
  SECRET_OVERLAP_HOURS,
} from '#shared/contract/data/outbound.ts';
import { conflict, notFound } from '#shared/errors.ts';
import type { JsonObject } from '#shared/json.ts';
import { withEtag } from '#shared/crypto/etags.ts';
import { newId } from '#shared/crypto/ids.ts';
import { recordAudit } from '#shared/db/audit/audit.ts';
import { offsetClause } from '#shared/db/cursor.ts';
import { type Db, type Pool, sql, statement, type Tx } from '#shared/db/pool.ts';
import type { ReaderScope } from '#shared/db/data/lists.ts';
import { requireRoom } from '#shared/db/people/limits.ts';

/** Concurrent attempts of one endpoint, over all workers. */
const SLOTS = 8;
/** How long a listener stays after its events were last read. */
const LISTENER_KEPT_HOURS = 24;

/**
 * A caller that manages endpoints. A key of the data API sees the endpoints of its mode, without events of runs and
 * listeners; a member sees all. Endpoints of other workspaces are not visible.
 */
export interface EndpointCaller extends ReaderScope {
  /** The member; null for a key. */
  id: string | null;
  /** The name in the audit log. */
  name: string | null;
}

/** Binds a sealed secret to its endpoint: it cannot be opened for another one. */
export const secretContext = (workspaceId: string, endpointId: string): string =>
  `${workspaceId}/${endpointId}/secret`;

const idRow = z.object({ id: z.string() });
/** Deliveries do not change the tag, so their fields are left out. */
const endpointRow = dataEndpointSchema
  .omit({ etag: true })
  .transform((endpoint): DataEndpoint =>
    withEtag(endpoint, ['status', 'consecutive_failures', 'last_delivery_at']),
  );
const endpointColumns = sql.fragment`
  id, is_demo, url, events, status, consecutive_failures, last_delivery_at, created_at`;
/** As `isListener`: no other address begins like this. */
const listener = sql.fragment`starts_with(url, 'listen:')`;
const ofCaller = ({ workspaceId, isDemo }: EndpointCaller) => sql.fragment`
  workspace_id = ${workspaceId} AND (${isDemo ?? null}::boolean IS NULL
    OR is_demo = ${isDemo ?? null} AND NOT events && ${sql.array([...runEventTypes], 'text')}
      AND NOT ${listener})`;

/** Newest first. */
export async function listEndpoints(
  db: Db,
  caller: EndpointCaller,
  page?: OffsetPage,
): Promise<readonly DataEndpoint[]> {
  return db.any(statement(endpointRow)`
    SELECT ${endpointColumns} FROM data_endpoints WHERE ${ofCaller(caller)}
    ORDER BY created_at DESC, id DESC ${offsetClause(page)}
  `);
}

/** Throws AppError `not_found`. */
export async function readEndpoint(
  db: Db,
  caller: EndpointCaller,
  endpointId: string,
): Promise<DataEndpoint> {
  const endpoint = await db.maybeOne(statement(endpointRow)`
    SELECT ${endpointColumns} FROM data_endpoints WHERE id = ${endpointId} AND ${ofCaller(caller)}
  `);
  if (endpoint === null) throw notFound('Webhook endpoint');
  return endpoint;
}

/** Locks the endpoint until the transaction ends. Throws AppError `not_found`. */
export async function lockEndpoint(
  tx: Tx,
  caller: EndpointCaller,
  endpointId: string,
): Promise<DataEndpoint> {
  const endpoint = await tx.maybeOne(statement(endpointRow)`
    SELECT ${endpointColumns} FROM data_endpoints WHERE id = ${endpointId} AND ${ofCaller(caller)}
    FOR NO KEY UPDATE
  `);
  if (endpoint === null) throw notFound('Webhook endpoint');
  return endpoint;
}

/** Throws AppError `conflict` for a listener, to which the service sends nothing. */
export function refuseListener({ url }: Pick<DataEndpoint, 'url'>, remedy: string): void {
  if (isListener(url)) throw conflict(`This endpoint is a listener: ${remedy}`);
}

/**
 * Registers an endpoint. `seal` receives its id and returns the sealed secret. A listener has no slots, so nothing is
 * ever sent to it. Throws AppError `conflict` when there are too many, and the errors of `seal`.
 */
export async function createEndpoint(
  db: Pool,
  caller: EndpointCaller,
  input: DataEndpointInput,
  seal: (endpointId: string) => string,
): Promise<DataEndpoint> {
  const { workspaceId } = caller;
  const { is_demo: isDemo } = input;
  const id = newId('endpoint');
  const secret = seal(id);
  return db.transaction(async (tx) => {
    await requireRoom(tx, workspaceId, 'endpoints', isDemo);
    const endpoint = await tx.one(statement(endpointRow)`
      WITH added AS (
        INSERT INTO data_endpoints (id, workspace_id, is_demo, url, events, secret, created_by)
        VALUES (${id}, ${workspaceId}, ${isDemo}, ${input.url}, ${sql.array(input.events, 'text')}, ${secret},
                ${caller.name})
        RETURNING ${endpointColumns}
      ), permits AS (
        INSERT INTO data_permits (endpoint_id, slot)
        SELECT id, slot FROM added CROSS JOIN generate_series(1, ${isListener(input.url) ? 0 : SLOTS}::int) slot
      )
      SELECT ${endpointColumns} FROM added
    `);
    await auditEndpoint(tx, caller, id, 'data_webhook_create', { events: input.events });
    return endpoint;
  });
}

/**
 * Changes the given fields and records them in the audit log. Pending deliveries go to the new address. Throws AppError
 * `not_found`.
 */
export async function updateEndpoint(
  db: Pool,
  caller: EndpointCaller,
  endpointId: string,
  update: EndpointUpdate,
): Promise<DataEndpoint> {
  return db.transaction(async (tx) => {
    const before = await lockEndpoint(tx, caller, endpointId);
    const after = { ...before, ...update };
    const changed = WRITABLE.filter(
      (field) => JSON.stringify(before[field]) !== JSON.stringify(after[field]),
    );
    if (changed.length === 0) return before;
    const endpoint = await tx.one(statement(endpointRow)`
      UPDATE data_endpoints SET url = ${after.url}, events = ${sql.array(after.events, 'text')}
      WHERE id = ${endpointId} AND workspace_id = ${caller.workspaceId}
      RETURNING ${endpointColumns}
    `);
    const details = { changed, ...(changed.includes('events') ? { events: after.events } : {}) };
    await auditEndpoint(tx, caller, endpointId, 'data_webhook_update', details);
    return endpoint;
  });
}

const WRITABLE = ['url', 'events'] as const;

/**
 * Deletes an endpoint with its pending deliveries; their executions find nothing to deliver and end. Throws AppError
 * `not_found`.
 */
export async function deleteEndpoint(
  db: Pool,
  caller: EndpointCaller,
  endpointId: string,
): Promise<void> {
  await db.transaction(async (tx) => {
    const gone = await tx.maybeOne(statement(idRow)`
      DELETE FROM data_endpoints WHERE id = ${endpointId} AND ${ofCaller(caller)} RETURNING id
    `);
    if (gone === null) throw notFound('Webhook endpoint');
    const pending = await deletePending(tx, caller.workspaceId, endpointId);
    await auditEndpoint(tx, caller, endpointId, 'data_webhook_delete', { pending });
  });
}

/** After the deletion of the endpoint, so that it also finds events that were queued while that waited. */
async function deletePending(tx: Tx, workspaceId: string, endpointId: string): Promise<number> {
  const { rowCount } = await tx.query(statement(z.object({}))`
    DELETE FROM data_deliveries
    WHERE endpoint_id = ${endpointId} AND workspace_id = ${workspaceId} AND status = 'pending'
  `);
  return rowCount;
}

/** Records that the events of a listener were read, so that `deleteIdleListeners` keeps it. */
export async function noteReading(
  db: Db,
  { workspaceId, endpointId }: { workspaceId: string; endpointId: string },
): Promise<void> {
  // Rarely, because each change of the row is a write.
  await db.query(statement(z.object({}))`
    UPDATE data_endpoints SET last_delivery_at = clock_timestamp()
    WHERE id = ${endpointId} AND workspace_id = ${workspaceId} AND ${listener}
      AND (last_delivery_at IS NULL OR last_delivery_at < clock_timestamp() - interval '1 minute')
  `);
}

/** Deletes the listeners whose events no one has read for a day, with those events. Returns how many. */
export async function deleteIdleListeners(db: Pool, workspaceId: string): Promise<number> {
  return db.transaction(async (tx) => {
    const idle = await tx.any(statement(idRow)`
      DELETE FROM data_endpoints
      WHERE workspace_id = ${workspaceId} AND ${listener}
        AND coalesce(last_delivery_at, created_at) < now() - ${LISTENER_KEPT_HOURS}::int * interval '1 hour'
      RETURNING id
    `);
    for (const { id } of idle) {
      const pending = await deletePending(tx, workspaceId, id);
      const sweep = { workspaceId, id: null, name: null };
      await auditEndpoint(tx, sweep, id, 'data_webhook_delete', { pending, idle: true });
    }
    return idle.length;
  });
}

/**
 * Replaces an endpoint's secret. Returns the time until which the previous one also signs. Throws AppError `not_found`.
 */
export async function rotateSecret(
  db: Pool,
  caller: EndpointCaller,
  endpointId: string,
  sealed: string,
): Promise<string> {
  return db.transaction(async (tx) => {
    const rotated = await tx.maybeOne(statement(z.object({ previous_secret_until: z.string() }))`
      UPDATE data_endpoints
      SET previous_secret = secret, secret = ${sealed},
          previous_secret_until = now() + ${SECRET_OVERLAP_HOURS}::int * interval '1 hour'
      WHERE id = ${endpointId} AND ${ofCaller(caller)}
      RETURNING previous_secret_until
    `);
    if (rotated === null) throw notFound('Webhook endpoint');
    await auditEndpoint(tx, caller, endpointId, 'data_webhook_rotate');
    return rotated.previous_secret_until;
  });
}

/** An audit entry about an endpoint, without its address, which may contain a secret. */
export const auditEndpoint = (
  db: Db,
  caller: EndpointCaller,
  endpointId: string,
  action: AuditAction,
  details: JsonObject = {},
): Promise<void> =>
  recordAudit(db, caller, { action, targetType: 'data_webhook', targetId: endpointId, details });

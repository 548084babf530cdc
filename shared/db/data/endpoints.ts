import { z } from 'zod';
import {
  type Endpoint,
  type EndpointInput,
  endpointSchema,
  SECRET_OVERLAP_HOURS,
} from '../../contract/data/outbound.ts';
import { conflict, notFound } from '../../errors.ts';
import type { JsonObject } from '../../json.ts';
import { newId } from '../../platform/ids.ts';
import { recordAudit } from '../audit.ts';
import { type Db, type Pool, sql, type Tx } from '../pool.ts';

/** Of a workspace, and as many again for what is made up. */
const MAX_ENDPOINTS = 50;
/** Attempts of one endpoint that may be under way at once, over all workers. */
export const PERMITS = 8;

/** Whoever calls the data API: endpoints of other workspaces, and those of the other mode, are not there. */
export interface EndpointCaller {
  workspaceId: string;
  isDemo: boolean;
  keyName: string;
}

/** Whose a sealed secret is: it cannot be opened as that of another endpoint. */
export const secretPlace = (workspaceId: string, endpointId: string): string =>
  `${workspaceId}/${endpointId}/secret`;

const idRow = z.object({ id: z.string() });
const endpointColumns = sql.fragment`
  id, url, events, status, consecutive_failures, last_delivery_at, created_at`;

/** All there are, newest first. */
export async function listEndpoints(db: Db, caller: EndpointCaller): Promise<readonly Endpoint[]> {
  return db.any(sql.prepared('data_endpoints_list', endpointSchema)`
    SELECT ${endpointColumns} FROM data_endpoints
    WHERE workspace_id = ${caller.workspaceId} AND is_demo = ${caller.isDemo}
    ORDER BY created_at DESC, id DESC LIMIT ${MAX_ENDPOINTS}
  `);
}

/** Throws AppError `not_found`. */
export async function requireEndpoint(
  db: Db,
  caller: EndpointCaller,
  endpointId: string,
): Promise<void> {
  const found = await db.maybeOne(sql.prepared('data_endpoints_exists', idRow)`
    SELECT id FROM data_endpoints
    WHERE id = ${endpointId} AND workspace_id = ${caller.workspaceId} AND is_demo = ${caller.isDemo}
  `);
  if (found === null) throw notFound('Webhook endpoint');
}

/** The endpoint stays until the transaction ends, and nobody else changes it. Throws AppError `not_found`. */
export async function lockEndpoint(
  tx: Tx,
  caller: EndpointCaller,
  endpointId: string,
): Promise<void> {
  const found = await tx.maybeOne(sql.prepared('data_endpoints_lock', idRow)`
    SELECT id FROM data_endpoints
    WHERE id = ${endpointId} AND workspace_id = ${caller.workspaceId} AND is_demo = ${caller.isDemo}
    FOR NO KEY UPDATE
  `);
  if (found === null) throw notFound('Webhook endpoint');
}

/**
 * Registers an endpoint. `seal` is given its id and returns the secret as it is kept. Throws AppError `conflict` for
 * one too many, and whatever `seal` throws.
 */
export async function createEndpoint(
  db: Pool,
  caller: EndpointCaller,
  input: EndpointInput,
  seal: (endpointId: string) => string,
): Promise<Endpoint> {
  const { workspaceId, isDemo } = caller;
  const id = newId('endpoint');
  const secret = seal(id);
  return db.transaction(async (tx) => {
    // Of two that would be the last one, the second waits here and then finds the first.
    await tx.query(sql.prepared('data_endpoints_in_turn', z.object({}))`
      SELECT FROM workspaces WHERE id = ${workspaceId} FOR NO KEY UPDATE
    `);
    const endpoint = await tx.maybeOne(sql.prepared('data_endpoints_insert', endpointSchema)`
      WITH added AS (
        INSERT INTO data_endpoints (id, workspace_id, is_demo, url, events, secret, created_by)
        SELECT ${id}, ${workspaceId}, ${isDemo}, ${input.url}, ${sql.array(input.events, 'text')}, ${secret},
               ${caller.keyName}
        WHERE (SELECT count(*) FROM data_endpoints
               WHERE workspace_id = ${workspaceId} AND is_demo = ${isDemo}) < ${MAX_ENDPOINTS}::int
        RETURNING ${endpointColumns}
      ), permits AS (
        INSERT INTO data_permits (endpoint_id, slot)
        SELECT id, slot FROM added CROSS JOIN generate_series(1, ${PERMITS}::int) slot
      )
      SELECT ${endpointColumns} FROM added
    `);
    if (endpoint === null) throw conflict(`There are at most ${MAX_ENDPOINTS} webhook endpoints`);
    await auditEndpoint(tx, caller, id, 'data_webhook_create', { events: input.events });
    return endpoint;
  });
}

/**
 * Takes an endpoint away with what is pending for it; its executions find nothing to deliver and end. Throws AppError
 * `not_found`.
 */
export async function deleteEndpoint(
  db: Pool,
  caller: EndpointCaller,
  endpointId: string,
): Promise<void> {
  const { workspaceId, isDemo } = caller;
  await db.transaction(async (tx) => {
    const gone = await tx.maybeOne(sql.prepared('data_endpoints_delete', idRow)`
      DELETE FROM data_endpoints
      WHERE id = ${endpointId} AND workspace_id = ${workspaceId} AND is_demo = ${isDemo}
      RETURNING id
    `);
    if (gone === null) throw notFound('Webhook endpoint');
    // A statement of its own, so that it sees what those had promised whom the deletion waited for.
    const { rowCount } = await tx.query(sql.prepared('data_endpoints_drop_pending', z.object({}))`
      DELETE FROM data_deliveries
      WHERE endpoint_id = ${endpointId} AND workspace_id = ${workspaceId} AND status = 'pending'
    `);
    await auditEndpoint(tx, caller, endpointId, 'data_webhook_delete', { pending: rowCount });
  });
}

/**
 * Gives an endpoint another secret; the one before signs too for a while. Returns until when. Throws AppError
 * `not_found`.
 */
export async function rotateSecret(
  db: Pool,
  caller: EndpointCaller,
  endpointId: string,
  sealed: string,
): Promise<string> {
  const { workspaceId, isDemo } = caller;
  return db.transaction(async (tx) => {
    const rotated = await tx.maybeOne(sql.prepared(
      'data_endpoints_rotate',
      z.object({ previous_secret_until: z.string() }),
    )`
      UPDATE data_endpoints
      SET previous_secret = secret, secret = ${sealed},
          previous_secret_until = now() + ${SECRET_OVERLAP_HOURS}::int * interval '1 hour'
      WHERE id = ${endpointId} AND workspace_id = ${workspaceId} AND is_demo = ${isDemo}
      RETURNING previous_secret_until
    `);
    if (rotated === null) throw notFound('Webhook endpoint');
    await auditEndpoint(tx, caller, endpointId, 'data_webhook_rotate');
    return rotated.previous_secret_until;
  });
}

/** An entry about an endpoint. Without its address, which may hold a secret. */
export const auditEndpoint = (
  db: Db,
  caller: EndpointCaller,
  endpointId: string,
  action: string,
  details: JsonObject = {},
): Promise<void> =>
  recordAudit(
    db,
    { workspaceId: caller.workspaceId, id: null, name: caller.keyName },
    { action, targetType: 'data_webhook', targetId: endpointId, details },
  );

import { z } from 'zod';
import type { Actor } from '#shared/people/actor.ts';
import type { OffsetPage } from '#shared/contract/common.ts';
import {
  type Connection,
  connectionGrants,
  connectionOwners,
} from '#shared/contract/connections/connection.ts';
import { clientAuths } from '#shared/contract/connections/presets.ts';
import { withEtag } from '#shared/crypto/etags.ts';
import { conflict, notFound } from '#shared/errors.ts';
import type { AuditAction } from '#shared/contract/audit/audit.ts';
import type { JsonObject } from '#shared/json.ts';
import { callbackUrl } from '#shared/values/connection-callback.ts';
import { recordAudit } from '#shared/db/audit/audit.ts';
import { offsetClause } from '#shared/db/cursor.ts';
import { requireRoom } from '#shared/db/people/limits.ts';
import { lockWorkspace } from '#shared/db/people/workspaces.ts';
import { type Db, type Pool, sql, statement, type Tx } from '#shared/db/pool.ts';
import { storedJson } from '#shared/db/stored-json.ts';
import { endSlack } from '#shared/db/slack/settings.ts';
import { raiseToolRevision } from '#shared/db/tools/custom-tools.ts';
import { wakeForAccount } from '#shared/db/waits/sign-ins.ts';

export interface ConnectionScope {
  workspaceId: string;
  connectionId: string;
}

/** Who reads a connection, and the address of the service, for its callback. */
export interface ConnectionReader {
  workspaceId: string;
  memberId: string | null;
  publicUrl: string;
}

/** Binds a sealed client secret to its connection. */
export const clientSecretPlace = ({ workspaceId, connectionId }: ConnectionScope): string =>
  `${workspaceId}/connections/${connectionId}/client_secret`;

/** What a connection is set to. */
const settingsRow = z.object({
  id: z.string(),
  name: z.string(),
  preset: z.string().nullable(),
  grant: z.enum(connectionGrants),
  owner: z.enum(connectionOwners),
  issuer: z.string().nullable(),
  names_issuer: z.boolean(),
  authorization_url: z.string().nullable(),
  token_url: z.string(),
  client_id: z.string(),
  sealed_client_secret: z.string().nullable(),
  client_auth: z.enum(clientAuths),
  /** The MCP server that tokens are for (RFC 8707). */
  resource: z.string().nullable(),
  scopes: z.array(z.string()),
  authorization_params: storedJson<Record<string, string>>(),
  allowed_hosts: z.array(z.string()),
  revision: z.number(),
});
export type ConnectionSettings = z.infer<typeof settingsRow>;

const settingColumns = sql.fragment`
  c.id, c.name, c.preset, c.grant_type AS grant, c.owner, c.issuer, c.names_issuer, c.authorization_url, c.token_url,
  c.client_id, c.sealed_client_secret, c.client_auth, c.resource, c.scopes, c.authorization_params, c.allowed_hosts, c.revision`;

const shownRow = settingsRow.extend({
  has_token: z.boolean(),
  needs_sign_in: z.boolean(),
  signed_in_by: z.string().nullable(),
  expires_at: z.string().nullable(),
  last_used_at: z.string().nullable(),
  created_at: z.string(),
  updated_at: z.string(),
});

/** Connections `c` with the tokens of the reader, or of the workspace. */
const shown = ({ workspaceId, memberId }: ConnectionReader) => sql.fragment`
  SELECT ${settingColumns}, t.sealed_access IS NOT NULL AS has_token,
         coalesce(t.needs_sign_in OR (t.expires_at <= now() AND t.sealed_refresh IS NULL), false) AS needs_sign_in,
         t.signed_in_by, CASE WHEN t.sealed_access IS NOT NULL THEN t.expires_at END AS expires_at,
         c.last_used_at, c.created_at, c.updated_at
  FROM connections c
  LEFT JOIN connection_tokens t ON t.connection_id = c.id AND t.revision = c.revision
    AND t.holder = CASE c.owner WHEN 'member' THEN ${memberId ?? '-'} ELSE '' END
  WHERE c.workspace_id = ${workspaceId}`;

function toConnection(row: z.infer<typeof shownRow>, publicUrl: string): Connection {
  const { names_issuer: namesIssuer, has_token, needs_sign_in, ...rest } = row;
  const { sealed_client_secret: _secret, revision: _revision, ...settings } = rest;
  const isProgram = row.grant === 'client_credentials';
  const ends = needs_sign_in && !isProgram;
  return withEtag(
    {
      ...settings,
      callback_url: isProgram ? null : callbackUrl(publicUrl, { id: row.id, namesIssuer }),
      status: ends ? 'needs_sign_in' : has_token ? 'connected' : 'not_signed_in',
    },
    ['callback_url', 'status', 'signed_in_by', 'expires_at', 'last_used_at'],
  );
}

/** Sorted by name. */
export async function listConnections(
  db: Db,
  reader: ConnectionReader,
  page?: OffsetPage,
): Promise<Connection[]> {
  const rows = await db.any(statement(shownRow)`
    ${shown(reader)} ORDER BY c.name ${offsetClause(page)}
  `);
  return rows.map((row) => toConnection(row, reader.publicUrl));
}

/** Throws AppError `not_found`. */
export async function readConnection(
  db: Db,
  reader: ConnectionReader & { connectionId: string },
): Promise<Connection> {
  const row = await db.maybeOne(statement(shownRow)`
    ${shown(reader)} AND c.id = ${reader.connectionId}
  `);
  if (row === null) throw notFound('Connection');
  return toConnection(row, reader.publicUrl);
}

/** Throws AppError `not_found`. */
export async function readConnectionSettings(
  db: Db,
  { workspaceId, connectionId }: ConnectionScope,
): Promise<ConnectionSettings> {
  const row = await db.maybeOne(statement(settingsRow)`
    SELECT ${settingColumns} FROM connections c WHERE c.id = ${connectionId} AND c.workspace_id = ${workspaceId}
  `);
  if (row === null) throw notFound('Connection');
  return row;
}

/** The allowed hosts of these connections, by name. Those that do not exist are missing. */
export async function readConnectionHosts(
  db: Db,
  { workspaceId, names }: { workspaceId: string; names: readonly string[] },
): Promise<ReadonlyMap<string, readonly string[]>> {
  if (names.length === 0) return new Map();
  const hostRow = settingsRow.pick({ name: true, allowed_hosts: true });
  const rows = await db.any(statement(hostRow)`
    SELECT c.name, c.allowed_hosts FROM connections c
    WHERE c.workspace_id = ${workspaceId} AND c.name = ANY (${sql.array(names, 'text')})
  `);
  return new Map(rows.map(({ name, allowed_hosts }) => [name, allowed_hosts]));
}

export type NewConnection = Omit<ConnectionSettings, 'id' | 'revision'>;

/**
 * Creates a connection with this id. Throws AppError `conflict` for a name that exists, and when the workspace has too
 * many.
 */
export async function createConnection(
  db: Pool,
  actor: Actor,
  connectionId: string,
  input: NewConnection,
): Promise<void> {
  const { workspaceId } = actor;
  await db.transaction(async (tx) => {
    await requireRoom(tx, workspaceId, 'connections');
    const taken = await tx.exists(statement(z.object({}))`
      SELECT FROM connections WHERE workspace_id = ${workspaceId} AND name = ${input.name}
    `);
    if (taken) throw conflict(`A connection named '${input.name}' already exists`);
    await raiseToolRevision(tx, workspaceId);
    await tx.query(statement(z.object({}))`
      INSERT INTO connections (id, workspace_id, name, preset, grant_type, owner, issuer, names_issuer, authorization_url,
                               token_url, client_id, sealed_client_secret, client_auth, resource, scopes,
                               authorization_params, allowed_hosts)
      VALUES (${connectionId}, ${workspaceId}, ${input.name}, ${input.preset}, ${input.grant}, ${input.owner},
              ${input.issuer}, ${input.names_issuer}, ${input.authorization_url}, ${input.token_url}, ${input.client_id},
              ${input.sealed_client_secret}, ${input.client_auth}, ${input.resource},
              ${sql.array(input.scopes, 'text')}, ${JSON.stringify(input.authorization_params)}::json, ${sql.array(input.allowed_hosts, 'text')})
    `);
    await auditConnection(
      tx,
      actor,
      'create',
      { id: connectionId, name: input.name },
      shownIn(input),
    );
  });
}

/** A change of a connection: its settings from now on, and whether its tokens and open sign-ins are void. */
export interface ConnectionChange extends ConnectionSettings {
  dropsTokens: boolean;
}

/**
 * Changes a connection to what `change` makes of it, under its lock. Throws AppError `not_found`, and the errors of
 * `change`.
 */
export async function updateConnection(
  db: Pool,
  actor: Actor,
  connectionId: string,
  change: (before: ConnectionSettings) => ConnectionChange,
): Promise<void> {
  const { workspaceId } = actor;
  await db.transaction(async (tx) => {
    await lockWorkspace(tx, workspaceId);
    const before = await tx.maybeOne(statement(settingsRow)`
      SELECT ${settingColumns} FROM connections c
      WHERE c.id = ${connectionId} AND c.workspace_id = ${workspaceId} FOR NO KEY UPDATE
    `);
    if (before === null) throw notFound('Connection');
    const after = change(before);
    await raiseToolRevision(tx, workspaceId);
    await tx.query(statement(z.object({}))`
      UPDATE connections SET
        issuer = ${after.issuer}, names_issuer = ${after.names_issuer}, authorization_url = ${after.authorization_url},
        token_url = ${after.token_url}, client_id = ${after.client_id}, client_auth = ${after.client_auth},
        sealed_client_secret = ${after.sealed_client_secret}, scopes = ${sql.array(after.scopes, 'text')},
        authorization_params = ${JSON.stringify(after.authorization_params)}::json,
        allowed_hosts = ${sql.array(after.allowed_hosts, 'text')},
        revision = revision + ${after.dropsTokens ? 1 : 0}::int, updated_at = now()
      WHERE id = ${connectionId} AND workspace_id = ${workspaceId}
    `);
    if (after.dropsTokens) {
      await endSlack(tx, actor, { connectionId });
      await tx.query(statement(z.object({}))`
        DELETE FROM connection_tokens WHERE connection_id = ${connectionId} AND workspace_id = ${workspaceId}
      `);
    }
    const details = { ...shownIn(after), signed_out: after.dropsTokens };
    await auditConnection(tx, actor, 'update', before, details);
  });
}

/** Deletes a connection with its tokens. Steps that need it fail from now on, also those that wait for a sign-in. Throws AppError `not_found`. */
export async function deleteConnection(
  db: Pool,
  actor: Actor,
  connectionId: string,
): Promise<void> {
  const { workspaceId } = actor;
  const namedRow = settingsRow.pick({ id: true, name: true });
  await db.transaction(async (tx) => {
    await raiseToolRevision(tx, workspaceId);
    await endSlack(tx, actor, { connectionId });
    const deleted = await tx.maybeOne(statement(namedRow)`
      DELETE FROM connections WHERE id = ${connectionId} AND workspace_id = ${workspaceId} RETURNING id, name
    `);
    if (deleted === null) throw notFound('Connection');
    await wakeForAccount(tx, { workspaceId, connectionId });
    await auditConnection(tx, actor, 'delete', deleted, {});
  });
}

const shownIn = (settings: NewConnection): JsonObject => ({
  owner: settings.owner,
  grant: settings.grant,
  issuer: settings.issuer,
  authorization_url: settings.authorization_url,
  token_url: settings.token_url,
  client_id: settings.client_id,
  ...(settings.resource === null ? {} : { resource: settings.resource }),
  scopes: settings.scopes,
  allowed_hosts: settings.allowed_hosts,
});

/** An audit entry about a connection, always without secrets and tokens. */
export const auditConnection = (
  tx: Tx,
  actor: Pick<Actor, 'workspaceId' | 'id' | 'name'>,
  action: AuditAction,
  { id, name }: { id: string; name: string },
  details: JsonObject,
): Promise<void> =>
  recordAudit(tx, actor, {
    action,
    targetType: 'connection',
    targetId: id,
    details: { name, ...details },
  });

import { z } from 'zod';
import type { Actor } from '#shared/people/actor.ts';
import { connectionGrants, connectionOwners } from '#shared/contract/connections/connection.ts';
import { clientAuths } from '#shared/contract/connections/presets.ts';
import { notFound } from '#shared/errors.ts';
import { type Db, type Pool, sql, statement, type Tx } from '#shared/db/pool.ts';
import { endSlack } from '#shared/db/slack/settings.ts';
import { wakeForAccount } from '#shared/db/waits/sign-ins.ts';
import { auditConnection, type ConnectionScope } from './connections.ts';

/** An account of a connection: that of a member, or with null that of the workspace. */
export interface TokenHolder extends ConnectionScope {
  memberId: string | null;
}

/** Binds a sealed token to its account. */
export const tokenPlace = (
  { workspaceId, connectionId, memberId }: TokenHolder,
  kind: 'access' | 'refresh',
): string => `${workspaceId}/connections/${connectionId}/${memberId ?? 'workspace'}/${kind}`;

/** How long before its end a token is refreshed, at most: clocks differ, and requests take time. */
const REFRESH_BEFORE_SECONDS = 60;

const heldRow = z.object({
  id: z.string(),
  name: z.string(),
  grant: z.enum(connectionGrants),
  owner: z.enum(connectionOwners),
  issuer: z.string().nullable(),
  token_url: z.string(),
  client_id: z.string(),
  sealed_client_secret: z.string().nullable(),
  client_auth: z.enum(clientAuths),
  resource: z.string().nullable(),
  scopes: z.array(z.string()),
  allowed_hosts: z.array(z.string()),
  revision: z.number(),
  generation: z.number().nullable(),
  sealed_access: z.string().nullable(),
  sealed_refresh: z.string().nullable(),
  is_due: z.boolean().nullable(),
  has_expired: z.boolean().nullable(),
  needs_sign_in: z.boolean().nullable(),
  signed_in_by: z.string().nullable(),
});

/** A connection with the tokens of an account, as stored. Its generation is null if there are none. */
export type HeldTokens = z.infer<typeof heldRow>;

/** Marks connections as used, to the minute. */
export async function markConnectionsUsed(
  db: Db,
  { workspaceId, names }: { workspaceId: string; names: readonly string[] },
): Promise<void> {
  await db.query(statement(z.object({}))`
    UPDATE connections SET last_used_at = date_trunc('minute', now())
    WHERE workspace_id = ${workspaceId} AND name = ANY (${sql.array(names, 'text')})
      AND last_used_at IS DISTINCT FROM date_trunc('minute', now())
  `);
}

/**
 * The connection with this name and the tokens of the member, or of the workspace if it owns the connection. Undefined
 * if it does not exist.
 */
export async function readHeldTokens(
  db: Db,
  wanted: { workspaceId: string; name: string; memberId: string | null },
): Promise<HeldTokens | undefined> {
  const { workspaceId, name, memberId } = wanted;
  const row = await db.maybeOne(statement(heldRow)`
    SELECT c.id, c.name, c.grant_type AS grant, c.owner, c.issuer, c.token_url, c.client_id, c.sealed_client_secret,
           c.client_auth, c.resource, c.scopes, c.allowed_hosts, c.revision, t.generation, t.sealed_access, t.sealed_refresh,
           t.refresh_at <= now() AS is_due, t.expires_at <= now() AS has_expired, t.needs_sign_in, t.signed_in_by
    FROM connections c
    LEFT JOIN connection_tokens t ON t.connection_id = c.id AND t.revision = c.revision
      AND t.holder = CASE c.owner WHEN 'member' THEN ${memberId ?? '-'} ELSE '' END
    WHERE c.workspace_id = ${workspaceId} AND c.name = ${name}
  `);
  return row ?? undefined;
}

/** The owners of these connections, by name. */
export async function readConnectionOwners(
  db: Db,
  { workspaceId, names }: { workspaceId: string; names: readonly string[] },
): Promise<ReadonlyMap<string, HeldTokens['owner']>> {
  const ownerRow = heldRow.pick({ name: true, owner: true });
  const rows = await db.any(statement(ownerRow)`
    SELECT c.name, c.owner FROM connections c
    WHERE c.workspace_id = ${workspaceId} AND c.name = ANY (${sql.array(names, 'text')})
  `);
  return new Map(rows.map(({ name, owner }) => [name, owner]));
}

/**
 * Locks the row of an account's tokens until the transaction ends; a program's own is created first. Of several
 * processes that want to refresh a token, one has the lock, and the others then find another generation.
 */
export async function lockTokens(tx: Tx, holder: TokenHolder, revision: number): Promise<void> {
  const { workspaceId, connectionId, memberId } = holder;
  if (memberId === null) {
    await tx.query(statement(z.object({}))`
      INSERT INTO connection_tokens AS t (connection_id, workspace_id, revision)
      SELECT c.id, c.workspace_id, c.revision FROM connections c
      WHERE c.id = ${connectionId} AND c.workspace_id = ${workspaceId} AND c.revision = ${revision}
        AND c.grant_type = 'client_credentials'
      ON CONFLICT (connection_id, holder) DO UPDATE SET
        revision = excluded.revision, generation = t.generation + 1, sealed_access = NULL, sealed_refresh = NULL
      WHERE t.revision < excluded.revision
    `);
  }
  await tx.query(statement(z.object({}))`
    SELECT FROM connection_tokens
    WHERE connection_id = ${connectionId} AND workspace_id = ${workspaceId} AND holder = ${memberId ?? ''} FOR UPDATE
  `);
}

/** Sealed tokens of an account, as a service has just issued them. */
export interface IssuedTokens {
  access: string;
  /** Undefined: the present one stays valid. */
  refresh: string | undefined;
  /** In seconds; undefined if the service does not say. */
  expiresIn: number | undefined;
}

/** The tokens of a sign-in, with what the service said about it. */
export interface SignedInTokens extends IssuedTokens {
  scopes: readonly string[] | undefined;
  teamId: string | undefined;
}

/** Stores refreshed tokens in the locked row, as the next generation. */
export async function storeRefreshed(
  tx: Tx,
  { workspaceId, connectionId, memberId }: TokenHolder,
  revision: number,
  { access, refresh, expiresIn }: IssuedTokens,
): Promise<void> {
  const seconds = expiresIn ?? null;
  await tx.query(statement(z.object({}))`
    UPDATE connection_tokens SET
      generation = generation + 1, sealed_access = ${access}, sealed_refresh = coalesce(${refresh ?? null}, sealed_refresh),
      expires_at = clock_timestamp() + ${seconds}::float8 * interval '1 s',
      refresh_at = clock_timestamp() + ${dueAfter(seconds)}::float8 * interval '1 s', needs_sign_in = false
    WHERE connection_id = ${connectionId} AND workspace_id = ${workspaceId} AND holder = ${memberId ?? ''}
      AND revision = ${revision}
  `);
}

const dueAfter = (seconds: number | null): number | null =>
  seconds === null ? null : seconds - Math.min(REFRESH_BEFORE_SECONDS, seconds / 2);

/** Deletes the tokens in the locked row, because the service no longer accepts them. */
export async function requireSignIn(
  tx: Tx,
  { workspaceId, connectionId, memberId }: TokenHolder,
): Promise<void> {
  await tx.query(statement(z.object({}))`
    UPDATE connection_tokens SET
      generation = generation + 1, sealed_access = NULL, sealed_refresh = NULL, expires_at = NULL, refresh_at = NULL,
      needs_sign_in = true
    WHERE connection_id = ${connectionId} AND workspace_id = ${workspaceId} AND holder = ${memberId ?? ''}
  `);
}

/**
 * Stores the tokens of a sign-in, with its audit entry, and wakes the steps that wait for it. False if the connection was changed since it began, so that
 * nothing is stored.
 */
export async function storeSignIn(
  db: Pool,
  actor: Pick<Actor, 'workspaceId' | 'name'> & { id: string },
  {
    id: connectionId,
    name,
    revision,
    owner,
  }: Pick<HeldTokens, 'id' | 'name' | 'revision' | 'owner'>,
  { access, refresh, expiresIn, scopes, teamId }: SignedInTokens,
): Promise<boolean> {
  const { workspaceId } = actor;
  const memberId = owner === 'member' ? actor.id : null;
  const seconds = expiresIn ?? null;
  return db.transaction(async (tx) => {
    const stored = await tx.maybeOne(statement(z.object({ holder: z.string() }))`
      INSERT INTO connection_tokens AS t (connection_id, workspace_id, revision, member_id, signed_in_by, generation,
                                          sealed_access, sealed_refresh, expires_at, refresh_at, team_id, granted_scopes)
      SELECT c.id, c.workspace_id, c.revision, ${memberId}, ${actor.id}, 1, ${access}, ${refresh ?? null},
             now() + ${seconds}::float8 * interval '1 s', now() + ${dueAfter(seconds)}::float8 * interval '1 s',
             ${teamId ?? null}, ${scopes === undefined ? null : sql.array([...scopes], 'text')}
      FROM connections c WHERE c.id = ${connectionId} AND c.workspace_id = ${workspaceId} AND c.revision = ${revision}
      FOR SHARE
      ON CONFLICT (connection_id, holder) DO UPDATE SET
        revision = excluded.revision, signed_in_by = excluded.signed_in_by, generation = t.generation + 1,
        sealed_access = excluded.sealed_access, sealed_refresh = excluded.sealed_refresh,
        expires_at = excluded.expires_at, refresh_at = excluded.refresh_at, needs_sign_in = false,
        team_id = excluded.team_id, granted_scopes = excluded.granted_scopes
      RETURNING t.holder
    `);
    if (stored === null) return false;
    if (memberId === null) await endSlack(tx, actor, { connectionId, keeps: teamId });
    if (memberId !== null) await wakeForAccount(tx, { workspaceId, connectionId, memberId });
    await auditConnection(tx, actor, 'connect', { id: connectionId, name }, { owner });
    return true;
  });
}

/** Deletes the tokens of an account, and its open sign-ins. Throws AppError `not_found` for the connection. */
export async function deleteTokens(
  db: Pool,
  actor: Actor,
  { connectionId, memberId }: Pick<TokenHolder, 'connectionId' | 'memberId'>,
): Promise<void> {
  const { workspaceId } = actor;
  await db.transaction(async (tx) => {
    const connection = await tx.maybeOne(statement(
      heldRow.pick({ id: true, name: true, owner: true }),
    )`
      SELECT id, name, owner FROM connections WHERE id = ${connectionId} AND workspace_id = ${workspaceId} FOR SHARE
    `);
    if (connection === null) throw notFound('Connection');
    await tx.query(statement(z.object({}))`
      DELETE FROM connection_sign_ins
      WHERE connection_id = ${connectionId} AND workspace_id = ${workspaceId}
        AND (${memberId}::text IS NULL OR member_id = ${memberId})
    `);
    if (memberId === null) await endSlack(tx, actor, { connectionId });
    await tx.query(statement(z.object({}))`
      DELETE FROM connection_tokens
      WHERE connection_id = ${connectionId} AND workspace_id = ${workspaceId} AND holder = ${memberId ?? ''}
    `);
    await auditConnection(tx, actor, 'disconnect', connection, { owner: connection.owner });
  });
}

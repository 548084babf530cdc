import { z } from 'zod';
import {
  type Authorization,
  type AuthorizationQuery,
  authorizationSchema,
} from '#shared/contract/authorizations/authorization.ts';
import {
  hashAuthorizationSecret,
  newAuthorizationSecret,
} from '#shared/crypto/authorization-tokens.ts';
import { newId } from '#shared/crypto/ids.ts';
import { type AuditEntry, recordAudit } from '#shared/db/audit/audit.ts';
import { offsetClause } from '#shared/db/cursor.ts';
import { lockMembership, requireAtLeast } from '#shared/db/people/standing.ts';
import { type Db, type Pool, sql, statement, type Tx } from '#shared/db/pool.ts';
import { conflict, forbiddenWithout, notFound } from '#shared/errors.ts';
import { type Actor, requireCapability } from '#shared/people/actor.ts';
import { roles, without } from '#shared/people/capabilities.ts';
import { allBut, capabilitiesFor, type Scope } from '#shared/people/scopes.ts';

/** How long a client has to exchange a code. */
const CODE_SECONDS = 60;
const MAX_PER_MEMBER = 100;

const columns = sql.fragment`
  a.id, a.client_id, a.client_name, a.client_host, a.client_verified, a.member_id, m.name AS member_name, a.scopes,
  a.capabilities, a.created_at, a.last_used_at`;

/** With a token that can still be used, or a code that can still be exchanged. Others are left for the sweep. */
const isLive = sql.fragment`
  (EXISTS (SELECT FROM authorization_tokens t WHERE t.authorization_id = a.id AND t.expires_at > now() AND t.used_at IS NULL)
   OR EXISTS (SELECT FROM authorization_codes c WHERE c.authorization_id = a.id AND c.expires_at > now()))`;

/** Authorizations of the actor or, with `manage_api_keys`, of all members, newest first. */
export async function listAuthorizations(
  db: Db,
  actor: Actor,
  { of, ...page }: AuthorizationQuery,
): Promise<readonly Authorization[]> {
  if (of === 'workspace') requireCapability(actor, 'manage_api_keys');
  const all = of === 'workspace';
  return db.any(statement(authorizationSchema)`
    SELECT ${columns} FROM authorizations a JOIN members m ON m.id = a.member_id AND m.workspace_id = a.workspace_id
    WHERE a.workspace_id = ${actor.workspaceId} AND (${all} OR a.member_id = ${actor.id}) AND ${isLive}
    ORDER BY a.created_at DESC, a.id DESC ${offsetClause(page)}
  `);
}

/** A client as the member saw it. */
export interface SeenClient {
  id: string;
  name: string;
  host: string;
  verified: boolean;
}

interface Grant {
  client: SeenClient;
  scopes: readonly Scope[];
  resource: string;
  redirectUri: string;
  codeChallenge: string;
}

const memberRow = z.object({
  role: z.enum(roles),
  overrides: z.record(z.string(), z.boolean().nullable()),
});

/**
 * Stores what a member grants to a client, never more than they have, and returns it with the code for the client.
 * Throws AppError `forbidden` without `view`, `conflict` for too many authorizations.
 */
export async function grantAuthorization(
  db: Pool,
  actor: Actor & { id: string },
  { client, scopes, resource, redirectUri, codeChallenge }: Grant,
): Promise<{ authorization: Authorization; code: string }> {
  const id = newId('authorization');
  const code = newAuthorizationSecret('code');
  return db.transaction(async (tx) => {
    // Locked, so that a removal or a concurrent grant comes before or after this one.
    const member = await tx.maybeOne(statement(memberRow)`
      SELECT role, overrides FROM members
      WHERE id = ${actor.id} AND workspace_id = ${actor.workspaceId} AND status = 'active' FOR NO KEY UPDATE
    `);
    const held = member === null ? [] : capabilitiesFor(scopes, member);
    if (!held.includes('view')) throw forbiddenWithout('view');
    await requireRoomFor(tx, actor);
    await tx.query(statement(z.object({}))`
      INSERT INTO authorizations (id, workspace_id, member_id, client_id, client_name, client_host, client_verified, scopes,
                                  capabilities, resource)
      VALUES (${id}, ${actor.workspaceId}, ${actor.id}, ${client.id}, ${client.name}, ${client.host}, ${client.verified},
              ${sql.array([...scopes], 'text')}, ${sql.array(held, 'text')}, ${resource})
    `);
    await tx.query(statement(z.object({}))`
      INSERT INTO authorization_codes (code_hash, authorization_id, redirect_uri, code_challenge, expires_at)
      VALUES (${sql.binary(hashAuthorizationSecret(code))}, ${id}, ${redirectUri}, ${codeChallenge},
              now() + ${CODE_SECONDS}::int * interval '1 second')
    `);
    await tx.query(statement(z.object({}))`
      UPDATE oauth_clients SET used_at = now() WHERE id = ${client.id}
    `);
    const authorization = await tx.one(statement(authorizationSchema)`
      SELECT ${columns} FROM authorizations a JOIN members m ON m.id = a.member_id AND m.workspace_id = a.workspace_id
      WHERE a.id = ${id} AND a.workspace_id = ${actor.workspaceId}
    `);
    await auditAuthorization(tx, actor, 'authorize', authorization);
    return { authorization, code };
  });
}

async function requireRoomFor(tx: Tx, { id, workspaceId }: Actor): Promise<void> {
  const n = await tx.oneFirst(statement(z.object({ n: z.number() }))`
    SELECT count(*) AS n FROM authorizations a
    WHERE a.member_id = ${id} AND a.workspace_id = ${workspaceId} AND ${isLive}
  `);
  if (n < MAX_PER_MEMBER) return;
  throw conflict(`A member authorizes at most ${MAX_PER_MEMBER} clients; revoke some first`);
}

const endedRow = authorizationSchema.pick({
  id: true,
  client_id: true,
  client_name: true,
  client_host: true,
  member_id: true,
  scopes: true,
});
export type EndedAuthorization = z.infer<typeof endedRow>;

/**
 * Ends an authorization with all of its tokens, effective for the next request: the actor's own or, with
 * `manage_api_keys`, one of another member. Throws AppError `not_found`, and `forbidden` for one with more permissions
 * than the actor.
 */
export async function revokeAuthorization(db: Pool, actor: Actor, id: string): Promise<void> {
  const { workspaceId } = actor;
  await db.transaction(async (tx) => {
    const found = await tx.maybeOne(statement(
      memberRow.extend({ member_id: z.string(), capabilities: z.array(z.string()) }),
    )`
      SELECT a.member_id, a.capabilities, m.role, m.overrides
      FROM authorizations a JOIN members m ON m.id = a.member_id AND m.workspace_id = a.workspace_id
      WHERE a.id = ${id} AND a.workspace_id = ${workspaceId}
    `);
    if (found === null) throw notFound('Authorization');
    if (found.member_id !== actor.id) {
      const revoker = await lockMembership(tx, actor, 'manage_api_keys');
      const overrides = without(found.overrides, allBut(found.capabilities));
      requireAtLeast(revoker, { role: found.role, overrides });
    }
    const ended = await deleteAuthorization(tx, { workspaceId, id });
    if (ended !== undefined) await auditAuthorization(tx, actor, 'authorization_revoke', ended);
  });
}

/** Deletes an authorization with its code and tokens; undefined if it has already ended. */
export async function deleteAuthorization(
  tx: Tx,
  { workspaceId, id }: { workspaceId: string; id: string },
): Promise<EndedAuthorization | undefined> {
  const row = await tx.maybeOne(statement(endedRow)`
    DELETE FROM authorizations WHERE id = ${id} AND workspace_id = ${workspaceId}
    RETURNING id, client_id, client_name, client_host, member_id, scopes
  `);
  return row ?? undefined;
}

/** Deletes a batch of ended codes and tokens, and of the authorizations that have none left. Returns how many. */
export async function deleteEndedAuthorizations(db: Pool, batch: number): Promise<number> {
  const { rowCount: codes } = await db.query(statement(z.object({}))`
    DELETE FROM authorization_codes WHERE code_hash IN (
      SELECT code_hash FROM authorization_codes WHERE expires_at < now() - interval '1 hour' LIMIT ${batch}::int)
  `);
  const { rowCount: tokens } = await db.query(statement(z.object({}))`
    DELETE FROM authorization_tokens WHERE token_hash IN (
      SELECT token_hash FROM authorization_tokens WHERE expires_at < now() LIMIT ${batch}::int)
  `);
  const { rowCount: authorizations } = await db.query(statement(z.object({}))`
    DELETE FROM authorizations WHERE id IN (
      SELECT a.id FROM authorizations a
      WHERE a.created_at < now() - interval '1 hour'
        AND NOT EXISTS (SELECT FROM authorization_tokens t WHERE t.authorization_id = a.id)
        AND NOT EXISTS (SELECT FROM authorization_codes c WHERE c.authorization_id = a.id)
      LIMIT ${batch}::int)
  `);
  return codes + tokens + authorizations;
}

export const auditAuthorization = (
  tx: Tx,
  actor: Parameters<typeof recordAudit>[1],
  action: Extract<AuditEntry['action'], 'authorize' | `authorization_${string}`>,
  { id, client_id, client_name, client_host, member_id, scopes }: EndedAuthorization,
): Promise<void> =>
  recordAudit(tx, actor, {
    action,
    targetType: 'authorization',
    targetId: id,
    details: { client_id, client_name, client_host, member_id, scopes },
  });

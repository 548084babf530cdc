import { z } from 'zod';
import type { Actor } from '#shared/people/actor.ts';
import { roles, without } from '#shared/people/capabilities.ts';
import { allBut, decisions } from '#shared/people/scopes.ts';
import { type Db, sql, statement } from '#shared/db/pool.ts';

const overrides = z.record(z.string(), z.boolean().nullable());

const keyRow = z.object({
  key_id: z.string(),
  key_name: z.string(),
  workspace_id: z.string(),
  role: z.enum(roles),
  member_id: z.string().nullable(),
  member_name: z.string().nullable(),
  overrides: overrides.nullable(),
  decide: z.boolean(),
});

const keyColumns = sql.fragment`
  k.id AS key_id, k.name AS key_name, k.workspace_id, coalesce(m.role, k.role) AS role, m.id AS member_id, m.name AS member_name,
  m.overrides, k.decide`;
const validKeys = sql.fragment`api_keys k
  LEFT JOIN members m ON m.id = k.member_id AND m.workspace_id = k.workspace_id AND m.status = 'active'
  WHERE k.revoked_at IS NULL AND (k.member_id IS NULL OR m.id IS NOT NULL)`;

/**
 * The holder of a valid key, by the SHA-256 of its secret: its member with their current capabilities or, for an
 * unlinked key, no member and the defaults of its own role. Undefined for other keys. Looked up only by the hash: with
 * 200 random bits the lookup time reveals nothing. A single read, so that a revocation applies to the next request.
 */
export async function findKeyHolder(
  db: Db,
  secretHash: Buffer,
): Promise<{ keyId: string; actor: Actor } | undefined> {
  const row = await db.maybeOne(statement(keyRow)`
    SELECT ${keyColumns} FROM ${validKeys} AND k.secret_hash = ${sql.binary(secretHash)}
  `);
  return row === null ? undefined : { keyId: row.key_id, actor: keyActor(row) };
}

/** The actors of those of these keys that are valid now, by id. */
export async function findKeyActors(
  db: Db,
  keyIds: readonly string[],
): Promise<Map<string, Actor>> {
  const rows = await db.any(statement(keyRow)`
    SELECT ${keyColumns} FROM ${validKeys} AND k.id = ANY(${sql.array(keyIds, 'text')})
  `);
  return new Map(rows.map((row) => [row.key_id, keyActor(row)]));
}

function keyActor(row: z.infer<typeof keyRow>): Actor {
  const withheld = row.decide ? [] : decisions;
  return {
    workspaceId: row.workspace_id,
    id: row.member_id,
    name: row.member_name ?? row.key_name,
    role: row.role,
    overrides: without(row.overrides ?? {}, withheld),
    ...(row.decide ? {} : { withheld }),
  };
}

const tokenRow = z.object({
  authorization_id: z.string(),
  client_name: z.string(),
  capabilities: z.array(z.string()),
  workspace_id: z.string(),
  member_id: z.string(),
  member_name: z.string(),
  role: z.enum(roles),
  overrides,
});

/**
 * The holder of a valid access token for `resource`, by the SHA-256 of the token: its member, with what they granted of
 * what they can do now. Undefined for other tokens.
 */
export async function findTokenHolder(
  db: Db,
  tokenHash: Buffer,
  resource: string,
): Promise<{ authorizationId: string; client: string; actor: Actor } | undefined> {
  const row = await db.maybeOne(statement(tokenRow)`
    SELECT a.id AS authorization_id, a.client_name, a.capabilities, a.workspace_id, m.id AS member_id,
           m.name AS member_name, m.role, m.overrides
    FROM authorization_tokens t
    JOIN authorizations a ON a.id = t.authorization_id AND a.resource = ${resource}
    JOIN members m ON m.id = a.member_id AND m.workspace_id = a.workspace_id AND m.status = 'active'
    WHERE t.token_hash = ${sql.binary(tokenHash)} AND t.kind = 'access' AND t.expires_at > now()
  `);
  if (row === null) return undefined;
  const withheld = allBut(row.capabilities);
  return {
    authorizationId: row.authorization_id,
    client: row.client_name,
    actor: {
      workspaceId: row.workspace_id,
      id: row.member_id,
      name: row.member_name,
      role: row.role,
      overrides: without(row.overrides, withheld),
      withheld,
    },
  };
}

const sessionRow = z.object({
  id: z.string(),
  workspace_id: z.string(),
  name: z.string(),
  role: z.enum(roles),
  overrides,
  session_epoch: z.number(),
});

/**
 * Active members with the epoch of their sessions, by id; removed members are missing. A token of another epoch is
 * invalid.
 */
export async function findSessionHolders(
  db: Db,
  memberIds: readonly string[],
): Promise<Map<string, { epoch: number; actor: Actor }>> {
  const rows = await db.any(statement(sessionRow)`
    SELECT id, workspace_id, name, role, overrides, session_epoch FROM members
    WHERE id = ANY(${sql.array(memberIds, 'text')}) AND status = 'active'
  `);
  return new Map(
    rows.map((row) => [
      row.id,
      {
        epoch: row.session_epoch,
        actor: {
          workspaceId: row.workspace_id,
          id: row.id,
          name: row.name,
          role: row.role,
          overrides: row.overrides,
        },
      },
    ]),
  );
}

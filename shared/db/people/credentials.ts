import { z } from 'zod';
import type { Actor } from '#shared/people/actor.ts';
import { roles } from '#shared/people/capabilities.ts';
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
});

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
    SELECT k.id AS key_id, k.name AS key_name, k.workspace_id, coalesce(m.role, k.role) AS role,
           m.id AS member_id, m.name AS member_name, m.overrides
    FROM api_keys k
    LEFT JOIN members m ON m.id = k.member_id AND m.workspace_id = k.workspace_id AND m.status = 'active'
    WHERE k.secret_hash = ${sql.binary(secretHash)} AND k.revoked_at IS NULL
      AND (k.member_id IS NULL OR m.id IS NOT NULL)
  `);
  if (row === null) return undefined;
  return {
    keyId: row.key_id,
    actor: {
      workspaceId: row.workspace_id,
      id: row.member_id,
      name: row.member_name ?? row.key_name,
      role: row.role,
      overrides: row.overrides ?? {},
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

import { z } from 'zod';
import type { Actor } from '../actor.ts';
import { roles } from '../capabilities.ts';
import { newId } from '../platform/ids.ts';
import { type Db, type Pool, sql } from './pool.ts';

/** Whoever creates the default workspace takes this lock in turn. The number is arbitrary and only has to stay. */
const DEFAULT_WORKSPACE_LOCK = 7_203_118;

const ownerRow = z.object({
  workspace_id: z.string(),
  id: z.string(),
  name: z.string(),
  role: z.enum(roles),
  overrides: z.record(z.string(), z.boolean().nullable()),
});

/**
 * Makes sure there is a workspace `Default` with its owner, and returns its id. The default workspace is the oldest
 * one. Any number of processes may call this at once; a later change of `ownerEmail` changes nothing.
 */
export async function ensureDefaultWorkspace(
  db: Pool,
  owner: { ownerEmail: string },
): Promise<string> {
  return db.transaction(async (tx) => {
    await tx.query(sql.prepared(
      'workspace_lock_default',
      z.object({ pg_advisory_xact_lock: z.unknown() }),
    )`
      SELECT pg_advisory_xact_lock(${DEFAULT_WORKSPACE_LOCK})
    `);
    const existing = await tx.maybeOneFirst(sql.prepared(
      'workspace_default',
      z.object({ id: z.string() }),
    )`
      SELECT id FROM workspaces ORDER BY created_at, id LIMIT 1
    `);
    if (existing !== null) return existing;
    const id = newId('workspace');
    await tx.query(sql.prepared('workspace_insert', z.object({}))`
      INSERT INTO workspaces (id, name) VALUES (${id}, 'Default')
    `);
    await tx.query(sql.prepared('workspace_insert_owner', z.object({}))`
      INSERT INTO members (id, workspace_id, name, email, role, status, is_owner)
      VALUES (${newId('member')}, ${id}, 'Owner', ${owner.ownerEmail}, 'admin', 'active', true)
    `);
    return id;
  });
}

/** The owner of the default workspace as an actor, or undefined before there is one. */
export async function readDefaultOwner(db: Db): Promise<Actor | undefined> {
  const row = await db.maybeOne(sql.prepared('workspace_default_owner', ownerRow)`
    SELECT m.workspace_id, m.id, m.name, m.role, m.overrides
    FROM (SELECT id FROM workspaces ORDER BY created_at, id LIMIT 1) w
    JOIN members m ON m.workspace_id = w.id AND m.is_owner
  `);
  if (row === null) return undefined;
  return {
    workspaceId: row.workspace_id,
    id: row.id,
    name: row.name,
    role: row.role,
    overrides: row.overrides,
  };
}

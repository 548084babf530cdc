import { z } from 'zod';
import type { Actor } from '#shared/people/actor.ts';
import { roles } from '#shared/people/capabilities.ts';
import {
  type Workspace,
  workspaceSchema,
  type WorkspaceUpdate,
} from '#shared/contract/people/workspace.ts';
import { emailTaken, notFound } from '#shared/errors.ts';
import { type PlanName, planNames } from '#shared/people/plans.ts';
import { withEtag } from '#shared/crypto/etags.ts';
import { newId } from '#shared/crypto/ids.ts';
import { recordAudit } from '#shared/db/audit/audit.ts';
import { type Db, type Pool, statement, type Tx } from '#shared/db/pool.ts';
import { dropSignUp } from './sign-ins.ts';

/** Serializes the creation of the default workspace. The number is arbitrary and must not change. */
const DEFAULT_WORKSPACE_LOCK = 7_203_118;

const ownerRow = z.object({
  workspace_id: z.string(),
  id: z.string(),
  name: z.string(),
  role: z.enum(roles),
  overrides: z.record(z.string(), z.boolean().nullable()),
});

/**
 * Ensures that there is a workspace `Default` with its owner, and returns its id. The default workspace is the oldest
 * one. Safe with concurrent processes; a later change of `ownerEmail` has no effect.
 */
export async function ensureDefaultWorkspace(
  db: Pool,
  owner: { ownerEmail: string },
): Promise<string> {
  return db.transaction(async (tx) => {
    await tx.query(statement(z.object({ pg_advisory_xact_lock: z.unknown() }))`
      SELECT pg_advisory_xact_lock(${DEFAULT_WORKSPACE_LOCK})
    `);
    const existing = await tx.maybeOneFirst(statement(z.object({ id: z.string() }))`
      SELECT id FROM workspaces ORDER BY created_at, id LIMIT 1
    `);
    if (existing !== null) return existing;
    const id = newId('workspace');
    await tx.query(statement(z.object({}))`
      INSERT INTO workspaces (id, name) VALUES (${id}, 'Default')
    `);
    await tx.query(statement(z.object({}))`
      INSERT INTO members (id, workspace_id, name, email, role, status, is_owner)
      VALUES (${newId('member')}, ${id}, 'Owner', ${owner.ownerEmail}, 'admin', 'active', true)
    `);
    return id;
  });
}

/**
 * Creates another workspace with an owner who can sign in. Returns its id. Throws AppError `invalid` when the email
 * belongs to a member of any workspace.
 */
export async function createWorkspace(
  db: Pool,
  { name, owner }: { name: string; owner: { name: string; email: string; passwordHash: string } },
): Promise<string> {
  const id = newId('workspace');
  return db.transaction(async (tx) => {
    await tx.query(statement(z.object({}))`
      INSERT INTO workspaces (id, name) VALUES (${id}, ${name})
    `);
    await dropSignUp(tx, { email: owner.email, unlessOf: id });
    const { rowCount } = await tx.query(statement(z.object({}))`
      INSERT INTO members (id, workspace_id, name, email, role, status, is_owner, password_hash)
      VALUES (${newId('member')}, ${id}, ${owner.name}, ${owner.email}, 'admin', 'active', true, ${owner.passwordHash})
      ON CONFLICT (lower(email)) DO NOTHING
    `);
    if (rowCount === 0) throw emailTaken();
    await recordAudit(
      tx,
      { workspaceId: id, id: null, name: 'operator' },
      { action: 'create', targetType: 'workspace', targetId: id, details: { owner: owner.email } },
    );
    return id;
  });
}

/** The owner of the default workspace as an actor, or undefined before there is one. */
export async function readDefaultOwner(db: Db): Promise<Actor | undefined> {
  const row = await db.maybeOne(statement(ownerRow)`
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

export const readWorkspaceName = (db: Db, workspaceId: string): Promise<string> =>
  db.oneFirst(statement(z.object({ name: z.string() }))`
    SELECT name FROM workspaces WHERE id = ${workspaceId}
  `);

export const readPlan = (db: Db, workspaceId: string): Promise<PlanName> =>
  db.oneFirst(statement(z.object({ plan: z.enum(planNames) }))`
    SELECT plan FROM workspaces WHERE id = ${workspaceId}
  `);

const workspaceRow = workspaceSchema.omit({ etag: true, invitations_by_email: true });

/** `member_count` includes members in every status. */
export async function readWorkspace(
  db: Db,
  workspaceId: string,
  invitationsByEmail: boolean,
): Promise<Workspace> {
  const row = await db.maybeOne(statement(workspaceRow)`
    SELECT w.id, w.name, w.plan, w.created_at,
           (SELECT count(*) FROM members m WHERE m.workspace_id = w.id) AS member_count,
           EXISTS (SELECT FROM examples_made e WHERE e.workspace_id = w.id) AS has_examples
    FROM workspaces w WHERE w.id = ${workspaceId}
  `);
  if (row === null) throw notFound('Workspace');
  return withEtag({ ...row, invitations_by_email: invitationsByEmail }, [
    'member_count',
    'has_examples',
    'invitations_by_email',
  ]);
}

const settingsRow = z.object({ name: z.string(), plan: z.enum(planNames) });

/** Serializes changes of the workspace's settings and members. Throws AppError `not_found`. */
export async function lockWorkspace(
  tx: Tx,
  workspaceId: string,
): Promise<z.infer<typeof settingsRow>> {
  const row = await tx.maybeOne(statement(settingsRow)`
    SELECT name, plan FROM workspaces WHERE id = ${workspaceId} FOR NO KEY UPDATE
  `);
  if (row === null) throw notFound('Workspace');
  return row;
}

/** An unchanged value writes no audit entry. */
export async function updateWorkspace(
  db: Pool,
  actor: Actor,
  { name }: WorkspaceUpdate,
): Promise<void> {
  const { workspaceId } = actor;
  await db.transaction(async (tx) => {
    const before = await lockWorkspace(tx, workspaceId);
    if (before.name === name) return;
    await tx.query(statement(z.object({}))`
      UPDATE workspaces SET name = ${name} WHERE id = ${workspaceId}
    `);
    await recordAudit(tx, actor, {
      action: 'update',
      targetType: 'workspace',
      targetId: workspaceId,
      details: { changed: ['name'], name: { from: before.name, to: name } },
    });
  });
}

/** Takes effect immediately. If the plan does not change, no audit entry is written. */
export async function changePlan(db: Pool, actor: Actor, plan: PlanName): Promise<void> {
  const { workspaceId } = actor;
  await db.transaction(async (tx) => {
    const before = await lockWorkspace(tx, workspaceId);
    if (before.plan === plan) return;
    await tx.query(statement(z.object({}))`
      UPDATE workspaces SET plan = ${plan} WHERE id = ${workspaceId}
    `);
    await recordAudit(tx, actor, {
      action: 'plan_change',
      targetType: 'workspace',
      targetId: workspaceId,
      details: { from: before.plan, to: plan },
    });
  });
}

import { z } from 'zod';
import type { Actor } from '../actor.ts';
import {
  capabilities,
  type Capability,
  type CapabilityOverrides,
  holds,
  type Role,
  roles,
} from '../capabilities.ts';
import type {
  InviteInput,
  Member,
  MemberDetail,
  MemberStatus,
  OverridesChange,
} from '../contract/member.ts';
import { AppError, emailTaken, notFound } from '../errors.ts';
import type { JsonObject } from '../json.ts';
import { newId, randomText } from '../platform/ids.ts';
import { recordAudit } from './audit.ts';
import { memberColumns, memberRow, type MemberRow, readMember, toMember } from './members.ts';
import { type Pool, sql, type Tx } from './pool.ts';
import { requireAtLeast, takeTurn } from './standing.ts';
import { lockWorkspace } from './workspaces.ts';
import { requireRoom } from './room.ts';

/**
 * Who is a member, and as what. Every change holds the workspace's row first, so that changes of one workspace take
 * their turn, and decides on rows read after that, also on what the actor may still do. Who is changed may hold no more
 * than whoever changes them, before and after. What holds after each change: an active admin holds everything that any
 * admin held before, and the owner is an active admin.
 */

/** Characters of 5 random bits each. */
const INVITE_CODE_LENGTH = 32;

const nothing = z.object({});

/** Adds an invited member with the code to accept with, to be mailed if `mail` says so. Throws AppError `invalid`. */
export async function inviteMember(
  db: Pool,
  actor: Actor,
  { name, email, role }: InviteInput,
  { mail }: { mail: boolean },
): Promise<Member> {
  return db.transaction(async (tx) => {
    const manager = await takeTurn(tx, actor, 'manage_members');
    requireAtLeast(manager, { role, overrides: {} });
    await requireRoom(tx, manager.workspaceId, 'members');
    const row = await tx.maybeOne(sql.prepared('membership_invite', memberRow)`
      INSERT INTO members AS m (id, workspace_id, name, email, role, status, invite_code, invite_mail_due_at)
      VALUES (${newId('member')}, ${manager.workspaceId}, ${name}, ${email}, ${role}, 'invited',
              ${`inv_${randomText(INVITE_CODE_LENGTH)}`}, CASE WHEN ${mail} THEN now() END)
      ON CONFLICT (lower(email)) DO NOTHING
      RETURNING ${memberColumns}
    `);
    if (row === null) throw emailTaken();
    await audit(tx, manager, 'invite', row.id, { name, email, role });
    return toMember(row, { inviteCode: true });
  });
}

/** Lets a pending member in. Throws AppError `not_found`, `invalid` when the member is not pending. */
export async function approveMember(
  db: Pool,
  actor: Actor,
  memberId: string,
): Promise<MemberDetail> {
  return db.transaction(async (tx) => {
    const manager = await takeTurn(tx, actor, 'manage_members');
    const { name, email, status, role, overrides } = await holdMember(tx, manager, memberId);
    if (status !== 'pending') throw new AppError('invalid', 'The member is not pending');
    requireAtLeast(manager, { role, overrides });
    await tx.query(sql.prepared('membership_approve', nothing)`
      UPDATE members SET status = 'active' WHERE id = ${memberId} AND workspace_id = ${manager.workspaceId}
    `);
    await audit(tx, manager, 'approve_member', memberId, { name, email, role });
    return readMember(tx, manager, memberId);
  });
}

/** The role that the member has already leaves no trace. Throws AppError `not_found`, `invalid` of the last admin. */
export async function changeRole(
  db: Pool,
  actor: Actor,
  memberId: string,
  role: Role,
): Promise<MemberDetail> {
  return db.transaction(async (tx) => {
    const manager = await takeTurn(tx, actor, 'manage_members');
    const before = await holdMember(tx, manager, memberId);
    if (before.role !== role) {
      const after = { ...before, role };
      requireAtLeast(manager, before);
      requireAtLeast(manager, after);
      const successor = await requireSuccessor(tx, {
        before,
        after,
        refusal: 'lose the admin role',
      });
      await tx.query(sql.prepared('membership_change_role', nothing)`
        UPDATE members SET role = ${role}, is_owner = is_owner AND ${role === 'admin'}
        WHERE id = ${memberId} AND workspace_id = ${manager.workspaceId}
      `);
      await audit(tx, manager, 'role_change', memberId, { from: before.role, to: role });
      if (successor !== undefined) {
        await passOwnership(tx, manager, { from: memberId, to: successor });
      }
    }
    return readMember(tx, manager, memberId);
  });
}

/**
 * Merges overrides; null clears one. What is the same as before leaves no trace. Throws AppError `not_found`, `invalid`
 * of the last admin.
 */
export async function changeOverrides(
  db: Pool,
  actor: Actor,
  memberId: string,
  change: OverridesChange,
): Promise<MemberDetail> {
  return db.transaction(async (tx) => {
    const manager = await takeTurn(tx, actor, 'manage_members');
    const before = await holdMember(tx, manager, memberId);
    const changed = changedOverrides(before.overrides, change);
    if (changed.length > 0) {
      const overrides = merged(before.overrides, change);
      const after = { ...before, overrides };
      requireAtLeast(manager, before);
      requireAtLeast(manager, after);
      const lost = lostCapabilities(before, after).join("' and '");
      await requireSuccessor(tx, { before, after, refusal: `be denied '${lost}'` });
      await tx.query(sql.prepared('membership_change_overrides', nothing)`
        UPDATE members SET overrides = ${JSON.stringify(overrides)}::jsonb
        WHERE id = ${memberId} AND workspace_id = ${manager.workspaceId}
      `);
      const details = { changed: Object.fromEntries(changed) };
      await audit(tx, manager, 'permissions_change', memberId, details);
    }
    return readMember(tx, manager, memberId);
  });
}

/**
 * Removes a member of any status, which withdraws an invitation and refuses a sign-up. Their sessions end, their keys
 * are revoked, their name stays in the audit log. Throws AppError `not_found`, `invalid` of the last admin.
 */
export async function removeMember(db: Pool, actor: Actor, memberId: string): Promise<void> {
  await db.transaction(async (tx) => {
    const manager = await takeTurn(tx, actor, 'manage_members');
    const before = await holdMember(tx, manager, memberId);
    requireAtLeast(manager, before);
    const successor = await requireSuccessor(tx, {
      before,
      after: undefined,
      refusal: 'be removed',
    });
    await tx.query(sql.prepared('membership_remove', nothing)`
      DELETE FROM members WHERE id = ${memberId} AND workspace_id = ${manager.workspaceId}
    `);
    const { name, email, role } = before;
    await audit(tx, manager, 'remove', memberId, { name, email, role });
    await revokeKeysOf(tx, manager, before);
    if (successor !== undefined) {
      await passOwnership(tx, manager, { from: memberId, to: successor });
    }
  });
}

/** The member as it is until this change is over: an invitation is not accepted meanwhile. */
async function holdMember(tx: Tx, manager: Operator, memberId: string): Promise<MemberRow> {
  const row = await tx.maybeOne(sql.prepared('membership_hold', memberRow)`
    SELECT ${memberColumns} FROM members m
    WHERE m.id = ${memberId} AND m.workspace_id = ${manager.workspaceId} FOR UPDATE
  `);
  if (row === null) throw notFound('Member');
  return row;
}

function changedOverrides(
  before: CapabilityOverrides,
  change: OverridesChange,
): [string, { from: boolean | null; to: boolean | null }][] {
  const names = Object.keys(change) as Capability[];
  return names
    .map((name) => ({ name, from: before[name] ?? null, to: change[name] ?? null }))
    .filter(({ from, to }) => from !== to)
    .map(({ name, from, to }) => [name, { from, to }]);
}

const merged = (before: CapabilityOverrides, change: OverridesChange): CapabilityOverrides =>
  Object.fromEntries(
    Object.entries({ ...before, ...change }).filter(([, value]) => typeof value === 'boolean'),
  );

/** What whoever takes over has to hold in any case, for the workspace not to be locked out of itself. */
const adminNeeds = ['manage_members', 'manage_workspace'] as const satisfies Capability[];

interface Standing {
  role: Role;
  status: MemberStatus;
  overrides: CapabilityOverrides;
}

const isActiveAdmin = ({ role, status }: Standing): boolean =>
  role === 'admin' && status === 'active';

const namesHeldBy = (member: Standing): Capability[] => {
  const names = Object.keys(capabilities) as Capability[];
  return names.filter((name) => holds(member.role, member.overrides, name));
};

/** What an active admin holds and would not hold as one any more; of anybody else nothing. */
const lostCapabilities = (before: Standing, after: Standing | undefined): Capability[] =>
  isActiveAdmin(before)
    ? namesHeldBy(before).filter(
        (name) =>
          after === undefined || !isActiveAdmin(after) || !holds(after.role, after.overrides, name),
      )
    : [];

/**
 * An active admin loses something only while another one holds all that they held, who can give it back: since nobody
 * gives more than they hold, what no admin holds would be gone for good. Returns who takes over when the owner stops
 * being an admin: of those others whoever has been a member longest. Undefined when ownership stays. Throws AppError
 * `invalid` when there is nobody.
 */
async function requireSuccessor(
  tx: Tx,
  change: { before: MemberRow; after: Standing | undefined; refusal: string },
): Promise<string | undefined> {
  const { before, after } = change;
  const ownerLeaves = before.is_owner && after?.role !== 'admin';
  if (!ownerLeaves && lostCapabilities(before, after).length === 0) return undefined;
  const needed = new Set([...adminNeeds, ...namesHeldBy(before)]);
  const successor = await tx.maybeOneFirst(sql.prepared(
    'membership_successor',
    z.object({ id: z.string() }),
  )`
    SELECT id FROM members
    WHERE workspace_id = ${before.workspace_id} AND id <> ${before.id} AND status = 'active' AND role = 'admin'
      AND NOT EXISTS (
        SELECT FROM jsonb_each(overrides) AS o (name, value)
        WHERE o.value = 'false' AND o.name = ANY(${sql.array([...needed], 'text')}))
    ORDER BY created_at, id LIMIT 1
  `);
  if (successor === null) {
    throw new AppError('invalid', `The last active admin cannot ${change.refusal}`);
  }
  return ownerLeaves ? successor : undefined;
}

/**
 * Makes an active member the owner on the operator's behalf: an admin without overrides. For a workspace in which nobody
 * can give back what was taken away. `email` of nobody: the owner of the default workspace. Returns who it is, or
 * undefined where no active member has the e-mail.
 */
export async function restoreOwner(
  db: Pool,
  email: string | undefined,
): Promise<{ id: string; email: string; workspaceId: string } | undefined> {
  return db.transaction(async (tx) => {
    const chosen = await tx.maybeOne(sql.prepared('membership_find_for_restore', chosenRow)`
      SELECT id, workspace_id FROM members
      WHERE status = 'active' AND CASE WHEN ${email ?? null}::text IS NULL
        THEN is_owner AND workspace_id = (SELECT id FROM workspaces ORDER BY created_at, id LIMIT 1)
        ELSE lower(email) = lower(${email ?? null}) END
    `);
    if (chosen === null) return undefined;
    const { id: memberId, workspace_id: workspaceId } = chosen;
    await lockWorkspace(tx, workspaceId);
    const operator: Operator = { workspaceId, id: null, name: 'operator' };
    const before = await holdMember(tx, operator, memberId);
    const from = await tx.maybeOneFirst(sql.prepared(
      'membership_drop_owner',
      z.object({ id: z.string() }),
    )`
      UPDATE members SET is_owner = false WHERE workspace_id = ${workspaceId} AND is_owner RETURNING id
    `);
    await tx.query(sql.prepared('membership_restore_owner', nothing)`
      UPDATE members SET role = 'admin', overrides = '{}', is_owner = true
      WHERE id = ${memberId} AND workspace_id = ${workspaceId}
    `);
    await audit(tx, operator, 'owner_restore', memberId, {
      role: before.role,
      overrides: before.overrides as JsonObject,
      owner_before: from,
    });
    return { id: memberId, email: before.email, workspaceId };
  });
}

const chosenRow = z.object({ id: z.string(), workspace_id: z.string() });

/** Whoever has the database and the command line. */
type Operator = Pick<Actor, 'workspaceId' | 'id' | 'name'>;

/** The row of the owner before is gone, or no owner's any more. */
async function passOwnership(
  tx: Tx,
  manager: Actor,
  ids: { from: string; to: string },
): Promise<void> {
  await tx.query(sql.prepared('membership_pass_ownership', nothing)`
    UPDATE members SET is_owner = true WHERE id = ${ids.to} AND workspace_id = ${manager.workspaceId}
  `);
  await audit(tx, manager, 'owner_change', ids.to, ids);
}

const revokedKey = z.object({
  id: z.string(),
  name: z.string(),
  prefix: z.string(),
  role: z.enum(roles),
  member_id: z.string(),
});

/** After the member is gone: a key that is being made for them meanwhile is in the table by then, or is refused. */
async function revokeKeysOf(tx: Tx, manager: Actor, member: MemberRow): Promise<void> {
  // In one order with whoever else holds several keys.
  const keys = await tx.any(sql.prepared('membership_revoke_keys', revokedKey)`
    WITH held AS MATERIALIZED (
      SELECT id FROM api_keys
      WHERE member_id = ${member.id} AND workspace_id = ${manager.workspaceId} AND revoked_at IS NULL
      ORDER BY id FOR NO KEY UPDATE
    )
    UPDATE api_keys k SET revoked_at = now() FROM held WHERE k.id = held.id
    RETURNING k.id, k.name, k.prefix, k.member_id, ${member.role} AS role
  `);
  for (const { id, ...details } of keys) {
    await recordAudit(tx, manager, {
      action: 'revoke',
      targetType: 'api_key',
      targetId: id,
      details,
    });
  }
}

const audit = (
  tx: Tx,
  manager: Operator,
  action:
    | 'invite'
    | 'invite_renew'
    | 'approve_member'
    | 'role_change'
    | 'permissions_change'
    | 'remove'
    | 'owner_change'
    | 'owner_restore',
  targetId: string,
  details: JsonObject,
): Promise<void> => recordAudit(tx, manager, { action, targetType: 'member', targetId, details });

import { z } from 'zod';
import type { Actor } from '../../actor.ts';
import {
  capabilities,
  type Capability,
  type CapabilityOverrides,
  firstLacking,
  gainedCapabilities,
  heldCapabilities,
  holds,
  type Role,
  roles,
} from '../../capabilities.ts';
import type {
  InviteInput,
  Member,
  MemberDetail,
  MemberStatus,
  OverridesChange,
  PermissionsChange,
  RoleChange,
} from '../../contract/member.ts';
import { AppError, emailTaken, notFound } from '../../errors.ts';
import type { JsonObject } from '../../json.ts';
import { newId } from '../../crypto/ids.ts';
import { recordAudit } from '../audit/audit.ts';
import { type InviteRules, newInviteCode, replaceInviteCode } from './invite-codes.ts';
import { memberColumns, memberRow, type MemberRow, readMember, toMember } from './members.ts';
import { type Pool, sql, type Tx } from '../pool.ts';
import { dropSignUp } from './sign-ins.ts';
import { requireAtLeast, lockMembership } from './standing.ts';
import { lockWorkspace } from './workspaces.ts';
import { requireRoom } from './limits.ts';

/**
 * Membership. Every change locks the workspace's row first, so that changes of one workspace are serialized, and
 * decides on rows read after that, including the actor's own capabilities. The actor must hold every capability of the
 * changed member, before and after. Two invariants hold after each change: some active admin holds everything that any
 * admin held before, and the owner is an active admin.
 */

const nothing = z.object({});

/**
 * Adds an invited member with an invitation code, which is emailed where email is configured. A pending sign-up in
 * another workspace with that address is dropped. Throws AppError `invalid`.
 */
export async function inviteMember(
  db: Pool,
  actor: Actor,
  { name, email, role }: InviteInput,
  rules: InviteRules,
): Promise<Member> {
  return db.transaction(async (tx) => {
    const manager = await lockMembership(tx, actor, 'manage_members');
    requireAtLeast(manager, { role, overrides: {} });
    await requireRoom(tx, manager.workspaceId, 'members');
    await dropSignUp(tx, { email, unlessOf: manager.workspaceId });
    const id = newId('member');
    const { code, hash, sealed, plain } = newInviteCode(id, rules);
    const row = await tx.maybeOne(sql.prepared('membership_invite', memberRow)`
      INSERT INTO members AS m (id, workspace_id, name, email, role, status, invite_code, invite_code_hash,
                                invite_code_sealed, invite_expires_at, invite_mail_due_at)
      VALUES (${id}, ${manager.workspaceId}, ${name}, ${email}, ${role}, 'invited', ${plain}, ${sql.binary(hash)},
              ${sealed}, now() + ${rules.ttlMs}::float8 * interval '1 ms', CASE WHEN ${rules.mail} THEN now() END)
      ON CONFLICT (lower(email)) DO NOTHING
      RETURNING ${memberColumns}
    `);
    if (row === null) throw emailTaken();
    await audit(tx, manager, 'invite', row.id, { name, email, role });
    return toMember(row, code);
  });
}

/**
 * Replaces the code of an invitation: the previous code becomes invalid, and the new one is emailed where email is
 * configured. After an approved sign-up, the code is only emailed. Throws AppError `not_found`, or `invalid` when the
 * member needs no code.
 */
export async function renewInvite(
  db: Pool,
  actor: Actor,
  memberId: string,
  rules: InviteRules,
): Promise<MemberDetail> {
  return db.transaction(async (tx) => {
    const manager = await lockMembership(tx, actor, 'manage_members');
    const member = await holdMember(tx, manager, memberId);
    const { status, has_code, name, email, role } = member;
    if (status !== 'invited' && !(has_code && rules.mail)) {
      throw new AppError('invalid', 'The member is not invited');
    }
    requireAtLeast(manager, member);
    const issued = await replaceInviteCode(tx, memberId, rules);
    await audit(tx, manager, 'invite_renew', memberId, { name, email, role });
    return readMember(tx, manager, memberId, { sealer: rules.sealer, issued });
  });
}

/**
 * Approves a pending member. Their address is not verified yet: where email is configured, the password of the sign-up
 * is dropped, and a code to choose one is sent to the address. Throws AppError `not_found`, or `invalid` when the
 * member is not pending.
 */
export async function approveMember(
  db: Pool,
  actor: Actor,
  memberId: string,
  rules: InviteRules,
): Promise<MemberDetail> {
  return db.transaction(async (tx) => {
    const manager = await lockMembership(tx, actor, 'manage_members');
    const { name, email, status, role, overrides } = await holdMember(tx, manager, memberId);
    if (status !== 'pending') throw new AppError('invalid', 'The member is not pending');
    requireAtLeast(manager, { role, overrides });
    await tx.query(sql.prepared('membership_approve', nothing)`
      UPDATE members
      SET status = 'active', password_hash = CASE WHEN NOT ${rules.mail} THEN password_hash END
      WHERE id = ${memberId} AND workspace_id = ${manager.workspaceId}
    `);
    if (rules.mail) await replaceInviteCode(tx, memberId, rules);
    const address = rules.mail ? 'code_mailed' : 'not_checked';
    await audit(tx, manager, 'approve_member', memberId, { name, email, role, address });
    return readMember(tx, manager, memberId, rules);
  });
}

/** Does nothing if the member already has the role. Throws AppError `not_found`, or `invalid` for the last admin. */
export async function changeRole(
  db: Pool,
  actor: Actor,
  memberId: string,
  { role, keep_keys }: RoleChange,
  rules: InviteRules,
): Promise<MemberDetail> {
  return db.transaction(async (tx) => {
    const manager = await lockMembership(tx, actor, 'manage_members');
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
      const { issued, renewed } = await guardGain(tx, manager, { before, after, keep_keys, rules });
      await audit(tx, manager, 'role_change', memberId, {
        from: before.role,
        to: role,
        ...renewed,
      });
      if (successor !== undefined) {
        await passOwnership(tx, manager, { from: memberId, to: successor });
      }
      return readMember(tx, manager, memberId, { sealer: rules.sealer, issued });
    }
    return readMember(tx, manager, memberId, rules);
  });
}

/**
 * Merges overrides; null clears one. Unchanged overrides leave no audit entry. Throws AppError `not_found`, or
 * `invalid` for the last admin.
 */
export async function changeOverrides(
  db: Pool,
  actor: Actor,
  memberId: string,
  { overrides: change, keep_keys }: PermissionsChange,
  rules: InviteRules,
): Promise<MemberDetail> {
  return db.transaction(async (tx) => {
    const manager = await lockMembership(tx, actor, 'manage_members');
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
      const { issued, renewed } = await guardGain(tx, manager, { before, after, keep_keys, rules });
      const details = { changed: Object.fromEntries(changed), ...renewed };
      await audit(tx, manager, 'permissions_change', memberId, details);
      return readMember(tx, manager, memberId, { sealer: rules.sealer, issued });
    }
    return readMember(tx, manager, memberId, rules);
  });
}

/**
 * Removes a member of any status, which withdraws an invitation and rejects a sign-up. Their sessions end, their keys
 * are revoked, and their name stays in the audit log. Throws AppError `not_found`, or `invalid` for the last admin.
 */
export async function removeMember(db: Pool, actor: Actor, memberId: string): Promise<void> {
  await db.transaction(async (tx) => {
    const manager = await lockMembership(tx, actor, 'manage_members');
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

/** Locks the member, so that an invitation is not accepted during the change. */
async function holdMember(tx: Tx, manager: Operator, memberId: string): Promise<MemberRow> {
  const row = await tx.maybeOne(sql.prepared('membership_hold', memberRow)`
    SELECT ${memberColumns} FROM members m
    WHERE m.id = ${memberId} AND m.workspace_id = ${manager.workspaceId} FOR UPDATE
  `);
  if (row === null) throw notFound('Member');
  return row;
}

/**
 * Keeps gained capabilities from other people. An invitation gets a new code, because the previous code was issued for
 * less. Keys whose makers lack the gained capabilities are revoked, unless `keep_keys`. Returns the new code, and the
 * details for the audit entry.
 */
async function guardGain(
  tx: Tx,
  manager: Operator,
  change: {
    before: MemberRow;
    after: Pick<MemberRow, 'role' | 'overrides'>;
    keep_keys: boolean;
    rules: InviteRules;
  },
): Promise<{ issued?: string; renewed?: JsonObject }> {
  const { before, after } = change;
  if (before.status === 'invited' && isGain(gainOf(before, after))) {
    const issued = await replaceInviteCode(tx, before.id, change.rules);
    return { issued, renewed: { invite_code: 'renewed' } };
  }
  if (!change.keep_keys) await revokeOutgrownKeys(tx, manager, before, after);
  return {};
}

type Held = Pick<MemberRow, 'role' | 'overrides'>;

const gainOf = (before: Held, after: Held) =>
  gainedCapabilities(
    heldCapabilities(before.role, before.overrides),
    heldCapabilities(after.role, after.overrides),
  );
const isGain = (gained: ReturnType<typeof gainOf>): boolean => Object.values(gained).includes(true);

/**
 * The maker of a key knows its secret. When a member gains capabilities, this revokes their linked keys, except those
 * that the member made and those whose makers hold everything that was gained.
 */
async function revokeOutgrownKeys(
  tx: Tx,
  manager: Operator,
  before: MemberRow,
  after: Held,
): Promise<void> {
  const gained = gainOf(before, after);
  if (!isGain(gained)) return;
  const keys = await lockKeysOfOthers(tx, before);
  const outgrown = keys.filter(
    ({ maker }) => maker === null || firstLacking(maker, gained) !== undefined,
  );
  await revokeKeys(tx, manager, {
    ids: outgrown.map(({ id }) => id),
    role: after.role,
    reason: 'its member gained permissions that its maker lacks',
  });
}

const keyOfOtherRow = z.object({
  id: z.string(),
  maker: z
    .object({
      role: z.enum(roles),
      overrides: z.record(z.string(), z.boolean().nullable()),
    })
    .nullable(),
});

/**
 * Keys linked to the member that another member made, with the current role and overrides of their makers; null for a
 * removed maker.
 */
const lockKeysOfOthers = async (
  tx: Tx,
  { id, workspace_id }: MemberRow,
): Promise<readonly z.infer<typeof keyOfOtherRow>[]> =>
  tx.any(sql.prepared('membership_keys_of_others', keyOfOtherRow)`
    SELECT k.id, CASE WHEN maker.id IS NOT NULL
      THEN json_build_object('role', maker.role, 'overrides', maker.overrides) END AS maker
    FROM api_keys k
    LEFT JOIN members maker
      ON maker.id = k.created_by AND maker.workspace_id = k.workspace_id AND maker.status = 'active'
    WHERE k.member_id = ${id} AND k.workspace_id = ${workspace_id} AND k.revoked_at IS NULL
      AND k.created_by IS DISTINCT FROM ${id}
    ORDER BY k.id FOR NO KEY UPDATE OF k
  `);

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

/** A new owner must hold these, so that the workspace is not locked out. */
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

/** The capabilities that an active admin would lose; empty for other members. */
const lostCapabilities = (before: Standing, after: Standing | undefined): Capability[] =>
  isActiveAdmin(before)
    ? namesHeldBy(before).filter(
        (name) =>
          after === undefined || !isActiveAdmin(after) || !holds(after.role, after.overrides, name),
      )
    : [];

/**
 * An active admin can lose capabilities only while another admin holds all of them and can restore them: nobody can
 * grant more than they hold, so a capability that no admin holds would be lost. Returns the new owner when the owner
 * stops being an admin: the admin who has been a member longest. Undefined when ownership stays. Throws AppError
 * `invalid` when there is no such admin.
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
 * Makes an active member the owner on the operator's behalf: an admin without overrides. For a workspace in which no
 * admin can restore a capability. Without `email`: the owner of the default workspace. Returns the new owner, or
 * undefined when no active member has the email address.
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
    await revokeOutgrownKeys(tx, operator, before, { role: 'admin', overrides: {} });
    await audit(tx, operator, 'owner_restore', memberId, {
      role: before.role,
      overrides: before.overrides as JsonObject,
      owner_before: from,
    });
    return { id: memberId, email: before.email, workspaceId };
  });
}

const chosenRow = z.object({ id: z.string(), workspace_id: z.string() });

/** Someone with access to the database and the command line. */
type Operator = Pick<Actor, 'workspaceId' | 'id' | 'name'>;

/** Expects that the previous owner's row is deleted or no longer the owner's. */
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
  member_id: z.string(),
});

/** Runs after the member is deleted: a key that is being created for them is in the table by then, or is refused. */
async function revokeKeysOf(tx: Tx, manager: Operator, member: MemberRow): Promise<void> {
  // In the same order as other statements that lock several keys.
  const ids = await tx.anyFirst(sql.prepared('membership_keys_of', z.object({ id: z.string() }))`
    SELECT id FROM api_keys
    WHERE member_id = ${member.id} AND workspace_id = ${manager.workspaceId} AND revoked_at IS NULL
    ORDER BY id FOR NO KEY UPDATE
  `);
  await revokeKeys(tx, manager, { ids, role: member.role });
}

/** Revokes locked keys, with an audit entry each. `role` is the role of the member they are linked to. */
async function revokeKeys(
  tx: Tx,
  manager: Operator,
  { ids, role, reason }: { ids: readonly string[]; role: Role; reason?: string },
): Promise<void> {
  if (ids.length === 0) return;
  const keys = await tx.any(sql.prepared('membership_revoke_keys', revokedKey)`
    UPDATE api_keys SET revoked_at = now()
    WHERE id = ANY(${sql.array([...ids], 'text')}) AND workspace_id = ${manager.workspaceId}
    RETURNING id, name, prefix, member_id
  `);
  for (const { id, ...details } of keys) {
    await recordAudit(tx, manager, {
      action: 'revoke',
      targetType: 'api_key',
      targetId: id,
      details: { ...details, role, ...(reason === undefined ? {} : { reason }) },
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

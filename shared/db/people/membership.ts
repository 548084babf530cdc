import type { Actor } from '#shared/people/actor.ts';
import type { Capability, CapabilityOverrides } from '#shared/people/capabilities.ts';
import type {
  InviteInput,
  Member,
  MemberDetail,
  OverridesChange,
  PermissionsChange,
  RoleChange,
} from '#shared/contract/people/member.ts';
import { AppError, emailTaken } from '#shared/errors.ts';
import { newId } from '#shared/crypto/ids.ts';
import { type InviteRules, newInviteCode, replaceInviteCode } from './invite-codes.ts';
import { memberColumns, memberRow, readMember, toMember } from './members.ts';
import { type Pool, sql, statement } from '#shared/db/pool.ts';
import { dropSignUp } from './sign-ins.ts';
import { lockMembership, requireAtLeast } from './standing.ts';
import { requireRoom } from './limits.ts';
import { wakeForAccount } from '#shared/db/waits/sign-ins.ts';
import { lostCapabilities, passOwnership, requireSuccessor } from './succession.ts';
import { guardGain, revokeKeysOf } from './member-keys.ts';
import { audit, holdMember, nothing } from './held-member.ts';

/**
 * Membership. Every change locks the workspace's row first, so that changes of one workspace are serialized, and
 * decides on rows read after that, including the actor's own capabilities. The actor must hold every capability of the
 * changed member, before and after. Two invariants hold after each change: some active admin holds everything that any
 * admin held before, and the owner is an active admin.
 */

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
    const row = await tx.maybeOne(statement(memberRow)`
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
    await tx.query(statement(nothing)`
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

/** Does nothing if the member already has the role. Throws AppError `not_found`, and `invalid` for the last admin. */
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
      await tx.query(statement(nothing)`
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
      await tx.query(statement(nothing)`
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
    await tx.query(statement(nothing)`
      DELETE FROM members WHERE id = ${memberId} AND workspace_id = ${manager.workspaceId}
    `);
    await wakeForAccount(tx, { workspaceId: manager.workspaceId, memberId });
    const { name, email, role } = before;
    await audit(tx, manager, 'remove', memberId, { name, email, role });
    await revokeKeysOf(tx, manager, before);
    if (successor !== undefined) {
      await passOwnership(tx, manager, { from: memberId, to: successor });
    }
  });
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

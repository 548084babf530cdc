import { z } from 'zod';
import type { Actor } from '#shared/people/actor.ts';
import {
  capabilities,
  type Capability,
  type CapabilityOverrides,
  holds,
  type Role,
} from '#shared/people/capabilities.ts';
import type { MemberStatus } from '#shared/contract/people/member.ts';
import { AppError } from '#shared/errors.ts';
import type { JsonObject } from '#shared/json.ts';
import type { MemberRow } from './members.ts';
import { type Pool, sql, statement, type Tx } from '#shared/db/pool.ts';
import { lockWorkspace } from './workspaces.ts';
import { audit, holdMember, nothing, type Operator } from './held-member.ts';
import { revokeOutgrownKeys } from './member-keys.ts';

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
export const lostCapabilities = (before: Standing, after: Standing | undefined): Capability[] =>
  isActiveAdmin(before)
    ? namesHeldBy(before).filter(
        (name) =>
          after === undefined || !isActiveAdmin(after) || !holds(after.role, after.overrides, name),
      )
    : [];

/**
 * An active admin can lose capabilities only while another admin holds all of them and can restore them: no one can
 * grant more than they hold, so a capability that no admin holds would be lost. When the owner stops being an admin,
 * returns the new owner: the admin who has been a member longest. Undefined when ownership stays. Throws AppError
 * `invalid` when there is no such admin.
 */
export async function requireSuccessor(
  tx: Tx,
  change: { before: MemberRow; after: Standing | undefined; refusal: string },
): Promise<string | undefined> {
  const { before, after } = change;
  const ownerLeaves = before.is_owner && after?.role !== 'admin';
  if (!ownerLeaves && lostCapabilities(before, after).length === 0) return undefined;
  const needed = new Set([...adminNeeds, ...namesHeldBy(before)]);
  const successor = await tx.maybeOneFirst(statement(z.object({ id: z.string() }))`
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
 * On the operator's behalf, makes an active member the owner, as an admin without overrides, for a workspace in which
 * no admin can restore a capability. Without `email`: the owner of the default workspace. Returns the new owner, or
 * undefined when no active member has the email address.
 */
export async function restoreOwner(
  db: Pool,
  email: string | undefined,
): Promise<{ id: string; email: string; workspaceId: string } | undefined> {
  return db.transaction(async (tx) => {
    const chosen = await tx.maybeOne(statement(chosenRow)`
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
    const from = await tx.maybeOneFirst(statement(z.object({ id: z.string() }))`
      UPDATE members SET is_owner = false WHERE workspace_id = ${workspaceId} AND is_owner RETURNING id
    `);
    await tx.query(statement(nothing)`
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

/** Call this after the previous owner's row was deleted or is no longer the owner's. */
export async function passOwnership(
  tx: Tx,
  manager: Actor,
  ids: { from: string; to: string },
): Promise<void> {
  await tx.query(statement(nothing)`
    UPDATE members SET is_owner = true WHERE id = ${ids.to} AND workspace_id = ${manager.workspaceId}
  `);
  await audit(tx, manager, 'owner_change', ids.to, ids);
}

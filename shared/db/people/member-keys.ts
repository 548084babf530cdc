import { z } from 'zod';
import {
  firstLacking,
  gainedCapabilities,
  heldCapabilities,
  type Role,
  roles,
} from '#shared/people/capabilities.ts';
import type { JsonObject } from '#shared/json.ts';
import { recordAudit } from '#shared/db/audit/audit.ts';
import { type InviteRules, replaceInviteCode } from './invite-codes.ts';
import type { MemberRow } from './members.ts';
import { sql, statement, type Tx } from '#shared/db/pool.ts';
import type { Operator } from './held-member.ts';

/**
 * Keeps other people from using capabilities that a member gains. An invitation gets a new code, because the previous
 * one was issued for fewer capabilities. Keys whose makers lack the gained capabilities are revoked, unless
 * `keep_keys`. Returns the new code, and the details for the audit entry.
 */
export async function guardGain(
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
export async function revokeOutgrownKeys(
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
 * Keys linked to the member that another member made, with their makers' current role and overrides; null for a removed
 * maker.
 */
const lockKeysOfOthers = async (
  tx: Tx,
  { id, workspace_id }: MemberRow,
): Promise<readonly z.infer<typeof keyOfOtherRow>[]> =>
  tx.any(statement(keyOfOtherRow)`
    SELECT k.id, CASE WHEN maker.id IS NOT NULL
      THEN json_build_object('role', maker.role, 'overrides', maker.overrides) END AS maker
    FROM api_keys k
    LEFT JOIN members maker
      ON maker.id = k.created_by AND maker.workspace_id = k.workspace_id AND maker.status = 'active'
    WHERE k.member_id = ${id} AND k.workspace_id = ${workspace_id} AND k.revoked_at IS NULL
      AND k.created_by IS DISTINCT FROM ${id}
    ORDER BY k.id FOR NO KEY UPDATE OF k
  `);

const revokedKey = z.object({
  id: z.string(),
  name: z.string(),
  prefix: z.string(),
  member_id: z.string(),
});

/**
 * Call this after the member was deleted: then a key that is being created for them either already exists, or is
 * refused.
 */
export async function revokeKeysOf(tx: Tx, manager: Operator, member: MemberRow): Promise<void> {
  // In the same order as all statements that lock several keys.
  const ids = await tx.anyFirst(statement(z.object({ id: z.string() }))`
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
  const keys = await tx.any(statement(revokedKey)`
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

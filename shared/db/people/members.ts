import { z } from 'zod';
import type { Actor } from '#shared/people/actor.ts';
import {
  capabilities,
  type Capability,
  type CapabilityOverrides,
  firstLacking,
  heldCapabilities,
  holds,
  type Role,
  roles,
} from '#shared/people/capabilities.ts';
import type { OffsetPage } from '#shared/contract/common.ts';
import { type Member, type MemberDetail, memberStatuses } from '#shared/contract/people/member.ts';
import { notFound } from '#shared/errors.ts';
import { etagOf } from '#shared/crypto/etags.ts';
import type { Sealer } from '#shared/crypto/sealing.ts';
import { offsetClause } from '#shared/db/cursor.ts';
import { openInviteCode } from './invite-codes.ts';
import { type Db, sql, statement } from '#shared/db/pool.ts';

/** The columns of a member, from `members` as `m`. */
export const memberColumns = sql.fragment`
  m.id, m.workspace_id, m.name, m.email, m.role, m.status, m.overrides, m.is_owner, m.invite_code_sealed,
  m.invite_code_hash IS NOT NULL AS has_code, m.invite_expires_at, m.created_at`;

export const memberRow = z.object({
  id: z.string(),
  workspace_id: z.string(),
  name: z.string(),
  email: z.string(),
  role: z.enum(roles),
  status: z.enum(memberStatuses),
  overrides: z.record(z.string(), z.boolean().nullable()),
  is_owner: z.boolean(),
  invite_code_sealed: z.string().nullable(),
  /** The member can be claimed with a code, or could be until it expired. */
  has_code: z.boolean(),
  invite_expires_at: z.string().nullable(),
  created_at: z.string(),
});
export type MemberRow = z.infer<typeof memberRow>;

/**
 * A member as the API shows it, with the code that can be shown; the code gives access to the account. The tag is the
 * same with and without the code, and changes with the permissions, which only the detail view has.
 */
export function toMember(row: MemberRow, code?: string): Member {
  const { id, name, email, role, status, is_owner, created_at } = row;
  const invited = status === 'invited';
  const member = {
    id,
    name,
    email,
    role,
    status,
    is_owner,
    invite_code: (invited ? code : undefined) ?? null,
    invite_expires_at: invited ? row.invite_expires_at : null,
    created_at,
  };
  const etag = etagOf({ ...member, capabilities: settingsOf(role, row.overrides) }, [
    'invite_code',
  ]);
  return { ...member, etag };
}

/**
 * An invite code grants its member's permissions. So it is only shown to members who can invite and hold all of these
 * permissions: otherwise `manage_members` alone could take over the invitation of an admin.
 */
const maySeeInviteCode = (viewer: Pick<Actor, 'role' | 'overrides'>, row: MemberRow): boolean =>
  holds(viewer.role, viewer.overrides, 'manage_members') &&
  firstLacking(viewer, heldCapabilities(row.role, row.overrides)) === undefined;

/** The code of an open invitation, for members who can see it. */
function shownCode(viewer: Actor, row: MemberRow, sealer: Sealer | undefined): string | undefined {
  const { status, invite_expires_at: expires } = row;
  const open = status === 'invited' && expires !== null && Date.parse(expires) > Date.now();
  if (!open || !maySeeInviteCode(viewer, row)) return undefined;
  return openInviteCode(row.id, row.invite_code_sealed, sealer);
}

/** A page of the members of the viewer's workspace, in any status, in the order in which they joined. */
export async function listMembers(
  db: Db,
  viewer: Actor,
  page: OffsetPage,
  sealer: Sealer | undefined,
): Promise<Member[]> {
  const rows = await db.any(statement(memberRow)`
    SELECT ${memberColumns} FROM members m WHERE m.workspace_id = ${viewer.workspaceId}
    ORDER BY m.created_at, m.id ${offsetClause(page)}
  `);
  return rows.map((row) => toMember(row, shownCode(viewer, row, sealer)));
}

const detailRow = memberRow.extend({ api_key_count: z.number() });

/**
 * A member with their permissions and the reasons for them. `issued`: a new code, which is shown to its creator even
 * without a key to seal it. Throws AppError `not_found`.
 */
export async function readMember(
  db: Db,
  viewer: Actor,
  memberId: string,
  { sealer, issued }: { sealer: Sealer | undefined; issued?: string | undefined },
): Promise<MemberDetail> {
  const row = await db.maybeOne(statement(detailRow)`
    SELECT ${memberColumns},
           (SELECT count(*) FROM api_keys k
            WHERE k.member_id = m.id AND k.workspace_id = m.workspace_id AND k.revoked_at IS NULL) AS api_key_count
    FROM members m WHERE m.id = ${memberId} AND m.workspace_id = ${viewer.workspaceId}
  `);
  if (row === null) throw notFound('Member');
  return {
    ...toMember(row, issued ?? shownCode(viewer, row, sealer)),
    capabilities: settingsOf(row.role, row.overrides),
    api_key_count: row.api_key_count,
  };
}

function settingsOf(role: Role, overrides: CapabilityOverrides): MemberDetail['capabilities'] {
  const names = Object.keys(capabilities) as Capability[];
  const settings = names.map((name) => [
    name,
    {
      default: holds(role, {}, name),
      override: overrides[name] ?? null,
      effective: holds(role, overrides, name),
    },
  ]);
  return Object.fromEntries(settings) as MemberDetail['capabilities'];
}

import { z } from 'zod';
import { roles } from '../capabilities.ts';
import { type Member, memberStatuses } from '../contract/member.ts';
import { sql } from './pool.ts';

/** The columns of a member, from `members` as `m`. */
export const memberColumns = sql.fragment`
  m.id, m.workspace_id, m.name, m.email, m.role, m.status, m.overrides, m.is_owner, m.invite_code, m.created_at`;

export const memberRow = z.object({
  id: z.string(),
  workspace_id: z.string(),
  name: z.string(),
  email: z.string(),
  role: z.enum(roles),
  status: z.enum(memberStatuses),
  overrides: z.record(z.string(), z.boolean().nullable()),
  is_owner: z.boolean(),
  invite_code: z.string().nullable(),
  created_at: z.string(),
});
export type MemberRow = z.infer<typeof memberRow>;

/** A member as the API shows it. The invite code is as good as the account: only who may invite sees it. */
export function toMember(row: MemberRow, show: { inviteCode: boolean }): Member {
  const { id, name, email, role, status, is_owner, created_at } = row;
  return {
    id,
    name,
    email,
    role,
    status,
    is_owner,
    invite_code: show.inviteCode ? row.invite_code : null,
    created_at,
  };
}

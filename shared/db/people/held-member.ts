import { z } from 'zod';
import type { Actor } from '#shared/people/actor.ts';
import { notFound } from '#shared/errors.ts';
import type { JsonObject } from '#shared/json.ts';
import { recordAudit } from '#shared/db/audit/audit.ts';
import { memberColumns, memberRow, type MemberRow } from './members.ts';
import { statement, type Tx } from '#shared/db/pool.ts';

export const nothing = z.object({});

/** Locks the member, so that an invitation is not accepted during the change. */
export async function holdMember(tx: Tx, manager: Operator, memberId: string): Promise<MemberRow> {
  const row = await tx.maybeOne(statement(memberRow)`
    SELECT ${memberColumns} FROM members m
    WHERE m.id = ${memberId} AND m.workspace_id = ${manager.workspaceId} FOR UPDATE
  `);
  if (row === null) throw notFound('Member');
  return row;
}

/** Someone with access to the database and the command line. */
export type Operator = Pick<Actor, 'workspaceId' | 'id' | 'name'>;

export const audit = (
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

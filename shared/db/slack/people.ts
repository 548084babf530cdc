import { z } from 'zod';
import {
  ASKED_HOURS,
  type OwnSlackAccount,
  slackAccountSchema,
  type SlackAccountInput,
} from '#shared/contract/slack/account.ts';
import { recordAudit } from '#shared/db/audit/audit.ts';
import { type Db, type Pool, sql, statement, type Tx } from '#shared/db/pool.ts';
import { conflict } from '#shared/errors.ts';
import type { Actor } from '#shared/people/actor.ts';
import { roles } from '#shared/people/capabilities.ts';

const memberRow = z.object({
  id: z.string(),
  name: z.string(),
  role: z.enum(roles),
  overrides: z.record(z.string(), z.boolean().nullable()),
});

/** The active member with this email, in any case; undefined if there is none. */
export async function findMemberByEmail(
  db: Db,
  { workspaceId, email }: { workspaceId: string; email: string },
): Promise<z.infer<typeof memberRow> | undefined> {
  const row = await db.maybeOne(statement(memberRow)`
    SELECT id, name, role, overrides FROM members
    WHERE workspace_id = ${workspaceId} AND lower(email) = lower(${email}) AND status = 'active'
  `);
  return row ?? undefined;
}

/** A user of Slack who has the email of a member. */
interface Claim {
  workspaceId: string;
  memberId: string;
  teamId: string;
  userId: string;
  name: string;
}

/** Whether the member has confirmed this account. If not, they can now. */
export async function isConfirmedOrAsks(
  db: Db,
  { workspaceId, memberId, teamId, userId, name }: Claim,
): Promise<boolean> {
  const asks = await db.maybeOne(statement(z.object({ member_id: z.string() }))`
    INSERT INTO slack_people AS p (workspace_id, member_id, asked_team_id, asked_user_id, asked_name, asked_at)
    VALUES (${workspaceId}, ${memberId}, ${teamId}, ${userId}, ${name}, now())
    ON CONFLICT (member_id) DO UPDATE
      SET asked_team_id = excluded.asked_team_id, asked_user_id = excluded.asked_user_id,
          asked_name = excluded.asked_name, asked_at = excluded.asked_at
      WHERE (p.team_id, p.user_id) IS DISTINCT FROM (excluded.asked_team_id, excluded.asked_user_id)
    RETURNING member_id
  `);
  return asks === null;
}

const isAsked = sql.fragment`asked_at > now() - ${ASKED_HOURS}::int * interval '1 hour'`;

const confirmedRow = slackAccountSchema.shape.confirmed.unwrap();
const askedRow = slackAccountSchema.shape.asked.unwrap();

/** The account that decides as the member in Slack, and the one that wants to. */
export async function readSlackAccount(
  db: Db,
  { workspaceId, memberId }: { workspaceId: string; memberId: string },
): Promise<OwnSlackAccount> {
  const [confirmed, asked] = await Promise.all([
    db.maybeOne(statement(confirmedRow)`
      SELECT team_id, user_id, name, confirmed_at FROM slack_people
      WHERE member_id = ${memberId} AND workspace_id = ${workspaceId} AND confirmed_at IS NOT NULL
    `),
    db.maybeOne(statement(askedRow)`
      SELECT asked_team_id AS team_id, asked_user_id AS user_id, asked_name AS name, asked_at FROM slack_people
      WHERE member_id = ${memberId} AND workspace_id = ${workspaceId} AND ${isAsked}
    `),
  ]);
  return { confirmed, asked };
}

/**
 * Confirms the account that wanted to decide as the member; it replaces an earlier one. Throws AppError `conflict` if this
 * account has not asked, or too long ago.
 */
export async function confirmSlackAccount(
  db: Pool,
  actor: Actor & { id: string },
  { team_id, user_id }: SlackAccountInput,
): Promise<OwnSlackAccount> {
  const { id: memberId, workspaceId } = actor;
  return db.transaction(async (tx) => {
    const confirmed = await tx.maybeOne(statement(z.object({ name: z.string() }))`
      UPDATE slack_people
      SET team_id = asked_team_id, user_id = asked_user_id, name = asked_name, confirmed_at = now(),
          asked_team_id = NULL, asked_user_id = NULL, asked_name = NULL, asked_at = NULL
      WHERE member_id = ${memberId} AND workspace_id = ${workspaceId}
        AND asked_team_id = ${team_id} AND asked_user_id = ${user_id} AND ${isAsked}
      RETURNING name
    `);
    if (confirmed !== null) {
      await audit(tx, actor, 'slack_confirm', { team_id, user_id, name: confirmed.name });
    }
    const own = await readSlackAccount(tx, { workspaceId, memberId });
    const isOwn = own.confirmed?.team_id === team_id && own.confirmed.user_id === user_id;
    if (confirmed !== null || isOwn) return own;
    throw conflict(
      `This account has not asked in the last ${ASKED_HOURS} hours; click a button in Slack with it first`,
    );
  });
}

/** Forgets the account of a member: nothing decides as them in Slack. */
export async function removeSlackAccount(db: Pool, actor: Actor & { id: string }): Promise<void> {
  const { id: memberId, workspaceId } = actor;
  const removedRow = z.object({
    team_id: z.string().nullable(),
    user_id: z.string().nullable(),
    name: z.string().nullable(),
  });
  await db.transaction(async (tx) => {
    const removed = await tx.maybeOne(statement(removedRow)`
      DELETE FROM slack_people WHERE member_id = ${memberId} AND workspace_id = ${workspaceId}
      RETURNING team_id, user_id, name
    `);
    if (removed !== null && removed.user_id !== null) {
      await audit(tx, actor, 'slack_remove', removed);
    }
  });
}

const audit = (
  tx: Tx,
  actor: Actor & { id: string },
  action: 'slack_confirm' | 'slack_remove',
  details: Record<string, string | null>,
): Promise<void> =>
  recordAudit(tx, actor, { action, targetType: 'member', targetId: actor.id, details });

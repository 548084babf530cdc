import { z } from 'zod';
import { type Db, sql, statement } from '#shared/db/pool.ts';

/**
 * Invitations that wait for their email, in `members.invite_mail_due_at`, which is cleared when the invitation is
 * mailed, accepted or withdrawn.
 */

/** Lease of an invitation, longer than sending an email can take. */
const LEASE_MS = 60_000;
const FIRST_PAUSE_MS = 10_000;

const dueRow = z.object({
  member_id: z.string(),
  email: z.string(),
  /** Whether the member signed up and was then approved. */
  approved: z.boolean(),
  /** The sealed code, or the plain code where no key is configured. */
  sealed_code: z.string().nullable(),
  plain_code: z.string().nullable(),
  /** Identifies the code without revealing it. */
  issue: z.string(),
  workspace_name: z.string(),
  attempt: z.number(),
});
/** `attempt` counts from 1. */
export type DueInvitation = z.infer<typeof dueRow>;

const issue = sql.fragment`encode(substring(m.invite_code_hash FOR 8), 'hex')`;

/** Leases up to `limit` due invitations. Those of a dead process are due again when its lease expires. */
export async function takeDueInvitations(db: Db, limit: number): Promise<readonly DueInvitation[]> {
  return db.any(statement(dueRow)`
    UPDATE members m SET invite_mail_due_at = now() + ${LEASE_MS}::int * interval '1 ms',
                         invite_mail_attempts = m.invite_mail_attempts + 1
    FROM workspaces w
    WHERE w.id = m.workspace_id AND m.id IN (
      SELECT id FROM members WHERE invite_mail_due_at <= now() AND invite_code_hash IS NOT NULL
      ORDER BY invite_mail_due_at LIMIT ${limit} FOR UPDATE SKIP LOCKED)
    RETURNING m.id AS member_id, m.email, m.status = 'active' AS approved, m.invite_code_sealed AS sealed_code,
              m.invite_code AS plain_code, ${issue} AS issue, w.name AS workspace_name,
              m.invite_mail_attempts AS attempt
  `);
}

/** Ends the email of an invitation, because it was sent or has failed permanently. A newer code is still due. */
export async function endInvitationMail(db: Db, due: DueInvitation): Promise<void> {
  await db.query(statement(z.object({}))`
    UPDATE members m SET invite_mail_due_at = NULL, invite_code = NULL
    WHERE m.id = ${due.member_id} AND ${issue} = ${due.issue}
  `);
}

/** Makes the email due again after a delay that doubles from ten seconds, unless the invitation has ended. */
export async function postponeInvitationMail(
  db: Db,
  { member_id, attempt, issue: mailed }: DueInvitation,
): Promise<void> {
  const pauseMs = FIRST_PAUSE_MS * 2 ** (attempt - 1);
  await db.query(statement(z.object({}))`
    UPDATE members m SET invite_mail_due_at = now() + ${pauseMs}::int * interval '1 ms'
    WHERE m.id = ${member_id} AND m.invite_mail_due_at IS NOT NULL AND ${issue} = ${mailed}
  `);
}

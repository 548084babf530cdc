import { z } from 'zod';
import type { AcceptInviteInput, SignupInput } from '#shared/contract/people/session.ts';
import { AppError } from '#shared/errors.ts';
import { newId } from '#shared/crypto/ids.ts';
import { recordAudit } from '#shared/db/audit/audit.ts';
import { hashInviteCode } from './invite-codes.ts';
import { memberColumns, memberRow, type MemberRow } from './members.ts';
import { type Db, type Pool, sql, statement, type Tx } from '#shared/db/pool.ts';

/** Maximum pending sign-ups of the installation, since signing up needs no authentication. */
const MAX_PENDING = 1_000;
/** Maximum pending sign-ups from one network, so that none can block the others. */
const MAX_PENDING_PER_NETWORK = 50;

const accountColumns = sql.fragment`${memberColumns}, m.password_hash, m.session_epoch`;
const accountRow = memberRow.extend({
  password_hash: z.string().nullable(),
  session_epoch: z.number(),
});
export type Account = z.infer<typeof accountRow>;

const nothing = z.object({});

const withoutCode = sql.fragment`
  invite_code = NULL, invite_code_hash = NULL, invite_code_sealed = NULL, invite_expires_at = NULL,
  invite_mail_due_at = NULL`;

/** The account of an email address, in any letter case. */
export async function findAccount(db: Db, email: string): Promise<Account | undefined> {
  const row = await db.maybeOne(statement(accountRow)`
    SELECT ${accountColumns} FROM members m WHERE lower(m.email) = lower(${email})
  `);
  return row ?? undefined;
}

/** The account of an active member. */
export async function readAccount(db: Db, memberId: string): Promise<Account | undefined> {
  const row = await db.maybeOne(statement(accountRow)`
    SELECT ${accountColumns} FROM members m WHERE m.id = ${memberId} AND m.status = 'active'
  `);
  return row ?? undefined;
}

/**
 * Adds a viewer who waits for approval to the default workspace. Undefined when the email already belongs to a member
 * of any workspace and status. Throws AppError `rate_limited` for every caller when too many sign-ups are pending.
 */
export async function signUp(
  db: Pool,
  {
    name,
    email,
    passwordHash,
    network,
  }: Omit<SignupInput, 'password'> & { passwordHash: string; network: string },
): Promise<MemberRow | undefined> {
  return db.transaction(async (tx) => {
    await requireNetworkRoom(tx, network);
    // Checked first, even for known addresses. Concurrent sign-ups may exceed the limit slightly.
    const waiting = await tx.oneFirst(statement(z.object({ n: z.number() }))`
      SELECT count(*) AS n FROM (SELECT FROM members WHERE status = 'pending' LIMIT ${MAX_PENDING}) p
    `);
    if (waiting >= MAX_PENDING) {
      throw new AppError('rate_limited', 'Too many sign-ups wait for approval; try again later');
    }
    const workspaceId = await tx.oneFirst(statement(z.object({ id: z.string() }))`
      SELECT id FROM workspaces ORDER BY created_at, id LIMIT 1
    `);
    const row = await tx.maybeOne(statement(memberRow)`
      INSERT INTO members AS m (id, workspace_id, name, email, role, status, password_hash, signup_network)
      VALUES (${newId('member')}, ${workspaceId}, ${name}, ${email}, 'viewer', 'pending', ${passwordHash}, ${network})
      ON CONFLICT (lower(email)) DO NOTHING
      RETURNING ${memberColumns}
    `);
    if (row === null) return undefined;
    await auditOwnAction(tx, row, 'signup');
    return row;
  });
}

/**
 * Serializes the sign-ups from a network, so that concurrent ones stay within the limit. Throws AppError
 * `rate_limited`.
 */
async function requireNetworkRoom(tx: Tx, network: string): Promise<void> {
  await tx.query(statement(nothing)`
    SELECT pg_advisory_xact_lock(hashtextextended(${`signup ${network}`}, 0))::text
  `);
  const waiting = await tx.oneFirst(statement(z.object({ n: z.number() }))`
    SELECT count(*) AS n FROM members WHERE status = 'pending' AND signup_network = ${network}
  `);
  if (waiting >= MAX_PENDING_PER_NETWORK) {
    throw new AppError(
      'rate_limited',
      'Too many sign-ups from this network wait for approval; try again after an administrator has reviewed them',
    );
  }
}

/**
 * Removes a pending sign-up when the address gets an account in another way: anyone can sign up with any address, and
 * must not block it. A sign-up in the workspace `unlessOf` stays, because it can be approved there.
 */
export async function dropSignUp(
  tx: Tx,
  { email, unlessOf }: { email: string; unlessOf: string },
): Promise<void> {
  const row = await tx.maybeOne(statement(memberRow)`
    DELETE FROM members m
    WHERE lower(m.email) = lower(${email}) AND m.status = 'pending' AND m.workspace_id <> ${unlessOf}
    RETURNING ${memberColumns}
  `);
  if (row === null) return;
  await recordAudit(
    tx,
    { workspaceId: row.workspace_id, id: null, name: null },
    {
      action: 'remove',
      targetType: 'member',
      targetId: row.id,
      details: { name: row.name, email: row.email, role: row.role, reason: 'address_invited' },
    },
  );
}

/** Whether an invitation with this code is open. */
export async function isInvited(db: Db, inviteCode: string): Promise<boolean> {
  return db.exists(statement(nothing)`
    SELECT FROM members
    WHERE invite_code_hash = ${sql.binary(hashInviteCode(inviteCode))} AND invite_expires_at > now()
      AND password_hash IS NULL
  `);
}

/**
 * Redeems a code once: an invited member becomes active, an approved sign-up gets the password. Undefined when the code
 * belongs to no waiting member, or has expired.
 */
export async function acceptInvite(
  db: Pool,
  {
    invite_code,
    name,
    passwordHash,
  }: Omit<AcceptInviteInput, 'password'> & { passwordHash: string },
): Promise<Account | undefined> {
  return db.transaction(async (tx) => {
    const row = await tx.maybeOne(statement(accountRow)`
      UPDATE members m
      SET status = 'active', ${withoutCode}, password_hash = ${passwordHash},
          name = coalesce(${name ?? null}::text, m.name)
      WHERE m.invite_code_hash = ${sql.binary(hashInviteCode(invite_code))} AND m.invite_expires_at > now()
        AND m.password_hash IS NULL
      RETURNING ${accountColumns}
    `);
    if (row === null) return undefined;
    await auditOwnAction(tx, row, 'accept_invite');
    return row;
  });
}

/**
 * Sets a new password and ends every session, including the current one. Undefined when that session has already ended,
 * as after a concurrent change.
 */
export async function changePassword(
  db: Pool,
  change: { memberId: string; epoch: number; passwordHash: string },
): Promise<Account | undefined> {
  return db.transaction(async (tx) => {
    const row = await tx.maybeOne(statement(accountRow)`
      UPDATE members m SET password_hash = ${change.passwordHash}, session_epoch = m.session_epoch + 1
      WHERE m.id = ${change.memberId} AND m.session_epoch = ${change.epoch} AND m.status = 'active'
      RETURNING ${accountColumns}
    `);
    if (row === null) return undefined;
    await auditOwnAction(tx, row, 'password_change');
    return row;
  });
}

/**
 * Sets the password of an active member on the operator's behalf and ends their sessions. `onlyFirst` keeps an existing
 * password. Returns whether it was set.
 */
export async function setPassword(
  db: Pool,
  set: { memberId: string; passwordHash: string; onlyFirst: boolean },
): Promise<boolean> {
  return db.transaction(async (tx) => {
    const row = await tx.maybeOne(statement(memberRow)`
      UPDATE members m SET password_hash = ${set.passwordHash}, session_epoch = m.session_epoch + 1, ${withoutCode}
      WHERE m.id = ${set.memberId} AND m.status = 'active' AND (NOT ${set.onlyFirst} OR m.password_hash IS NULL)
      RETURNING ${memberColumns}
    `);
    if (row === null) return false;
    await recordAudit(
      tx,
      { workspaceId: row.workspace_id, id: null, name: 'operator' },
      { action: 'password_set', targetType: 'member', targetId: row.id },
    );
    return true;
  });
}

const auditOwnAction = (
  tx: Tx,
  member: MemberRow,
  action: 'signup' | 'accept_invite' | 'password_change',
): Promise<void> =>
  recordAudit(
    tx,
    { workspaceId: member.workspace_id, id: member.id, name: member.name },
    { action, targetType: 'member', targetId: member.id, details: { email: member.email } },
  );

const ownerRow = z.object({
  id: z.string(),
  email: z.string(),
  has_password: z.boolean(),
  session_epoch: z.number(),
  workspace_id: z.string(),
});

/** The owner of the default workspace. */
export async function readOwnerAccount(
  db: Db,
): Promise<
  | { id: string; email: string; workspaceId: string; hasPassword: boolean; sessionEpoch: number }
  | undefined
> {
  const row = await db.maybeOne(statement(ownerRow)`
    SELECT m.id, m.email, m.workspace_id, m.password_hash IS NOT NULL AS has_password, m.session_epoch
    FROM (SELECT id FROM workspaces ORDER BY created_at, id LIMIT 1) w
    JOIN members m ON m.workspace_id = w.id AND m.is_owner
  `);
  if (row === null) return undefined;
  return {
    id: row.id,
    email: row.email,
    workspaceId: row.workspace_id,
    hasPassword: row.has_password,
    sessionEpoch: row.session_epoch,
  };
}

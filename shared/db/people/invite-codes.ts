import { createHash } from 'node:crypto';
import { z } from 'zod';
import { randomText } from '#shared/crypto/ids.ts';
import { type Sealer, SealError } from '#shared/crypto/sealing.ts';
import { sql, statement, type Tx } from '#shared/db/pool.ts';

/**
 * Invite codes. A code is checked by its SHA-256; a sealed copy is stored for as long as the code may be shown. A plain
 * code is in `members.invite_code` only if there is no key to seal it and an email is still due.
 */

/** Characters of 5 random bits each. */
const CODE_LENGTH = 32;

export interface InviteRules {
  /** Undefined without `ENCRYPTION_KEY`: then a code is only shown in the response that creates it. */
  sealer: Sealer | undefined;
  /** Whether email delivery is configured. */
  mail: boolean;
  /** How long a code is valid. */
  ttlMs: number;
}

export interface IssuedCode {
  code: string;
  hash: Buffer;
  sealed: string | null;
  plain: string | null;
}

export const hashInviteCode = (code: string): Buffer => createHash('sha256').update(code).digest();

export const inviteCodePlace = (memberId: string): string => `members/${memberId}/invite_code`;

export function newInviteCode(memberId: string, rules: InviteRules): IssuedCode {
  return keepCode(memberId, `inv_${randomText(CODE_LENGTH)}`, rules);
}

const keepCode = (memberId: string, code: string, { sealer, mail }: InviteRules): IssuedCode => ({
  code,
  hash: hashInviteCode(code),
  sealed: sealer?.seal(code, inviteCodePlace(memberId)) ?? null,
  plain: sealer === undefined && mail ? code : null,
});

/** The code of a sealed copy; undefined when there is none, or another key has sealed it. */
export function openInviteCode(
  memberId: string,
  sealed: string | null,
  sealer: Sealer | undefined,
): string | undefined {
  if (sealed === null) return undefined;
  try {
    return sealer?.open(sealed, inviteCodePlace(memberId));
  } catch (error) {
    if (error instanceof SealError) return undefined;
    throw error;
  }
}

/**
 * Replaces a member's code. The previous one becomes invalid, and an email with the new one is due where email is
 * configured.
 */
export async function replaceInviteCode(
  tx: Tx,
  memberId: string,
  rules: InviteRules,
): Promise<string> {
  const issued = newInviteCode(memberId, rules);
  await tx.query(statement(z.object({}))`
    UPDATE members
    SET invite_code = ${issued.plain}, invite_code_hash = ${sql.binary(issued.hash)},
        invite_code_sealed = ${issued.sealed}, invite_expires_at = now() + ${rules.ttlMs}::float8 * interval '1 ms',
        invite_mail_due_at = CASE WHEN ${rules.mail} THEN now() END, invite_mail_attempts = 0
    WHERE id = ${memberId}
  `);
  return issued.code;
}

const plainRow = z.object({ id: z.string(), invite_code: z.string() });

/**
 * Hashes codes that were stored as plain text before 1.0.0, and removes those that are no longer needed. They expire as
 * if they had just been created.
 */
export async function adoptPlainCodes(tx: Tx, rules: InviteRules): Promise<void> {
  const rows = await tx.any(sql.type(plainRow)`
    SELECT id, invite_code FROM members WHERE invite_code IS NOT NULL FOR UPDATE
  `);
  for (const { id, invite_code } of rows) {
    const { hash, sealed, plain } = keepCode(id, invite_code, rules);
    await tx.query(sql.type(z.object({}))`
      UPDATE members
      SET invite_code_hash = ${sql.binary(hash)}, invite_code_sealed = coalesce(invite_code_sealed, ${sealed}),
          invite_expires_at = coalesce(invite_expires_at, now() + ${rules.ttlMs}::float8 * interval '1 ms'),
          invite_code = CASE WHEN invite_mail_due_at IS NOT NULL THEN ${plain}::text END
      WHERE id = ${id}
    `);
  }
}

import { oneLine } from '#shared/contract/alerts/alerts.ts';
import { createSealer } from '#shared/crypto/sealing.ts';
import {
  type DueInvitation,
  endInvitationMail,
  postponeInvitationMail,
  takeDueInvitations,
} from '#shared/db/people/invitations.ts';
import { type InviteRules, openInviteCode } from '#shared/db/people/invite-codes.ts';
import type { Pool } from '#shared/db/pool.ts';
import { messageOf } from '#shared/errors.ts';
import type { Config } from '#shared/platform/config.ts';
import type { Logger } from '#shared/platform/logger.ts';
import type { Mail, Mailer } from '#shared/platform/mailer.ts';
import { PRODUCT_NAME } from '#shared/values/product.ts';

export interface InvitationDeps {
  db: Pool;
  config: Config;
  log: Logger;
  mailer: Mailer;
  rules: InviteRules;
}

/** How invitations are created, as configured. */
export const inviteRules = (
  config: Pick<Config, 'encryptionKey' | 'previousEncryptionKey' | 'email' | 'auth'>,
): InviteRules => ({
  sealer: createSealer(config),
  mail: config.email.apiKey !== undefined,
  ttlMs: config.auth.inviteTtlMs,
});

const BATCH = 10;
/** Covers a provider outage of about 20 minutes. The code stays visible in the list. */
const MAX_ATTEMPTS = 8;

/**
 * Emails due invitations, at most ten concurrently, without holding a lock. Returns whether there may be more. A stop
 * interrupts those in flight; another process takes over when their lease has expired.
 */
export async function mailInvitations(deps: InvitationDeps, stop: AbortSignal): Promise<boolean> {
  const due = await takeDueInvitations(deps.db, BATCH);
  await Promise.all(due.map((invitation) => mail(deps, invitation, stop)));
  return due.length === BATCH;
}

async function mail(
  { db, config, log, mailer, rules }: InvitationDeps,
  invitation: DueInvitation,
  stop: AbortSignal,
): Promise<void> {
  const { member_id: memberId, attempt } = invitation;
  const code =
    openInviteCode(memberId, invitation.sealed_code, rules.sealer) ?? invitation.plain_code;
  if (code === null) {
    log.error({ memberId }, 'could not mail an invitation: its code was sealed with another key');
    return endInvitationMail(db, invitation);
  }
  try {
    await mailer.send(invitationMail(invitation, code, config.api.publicUrl), {
      // The same for every attempt with this code, so that the attempt after a lost response sends no second email.
      idempotencyKey: `invitation/${memberId}/${invitation.issue}`,
      signal: stop,
    });
  } catch (error) {
    if (stop.aborted) return;
    // A provider's error may quote the request.
    const reason = messageOf(error).replaceAll(code, '[code]');
    if (attempt < MAX_ATTEMPTS) {
      log.warn({ memberId, attempt, reason }, 'could not email an invitation; will try again');
      return postponeInvitationMail(db, invitation);
    }
    log.error({ memberId, attempt, reason }, 'gave up mailing an invitation');
  }
  await endInvitationMail(db, invitation);
}

function invitationMail(
  { email, workspace_name, approved }: DueInvitation,
  code: string,
  publicUrl: string,
): Mail {
  if (approved) {
    return {
      to: [email],
      subject: `[${PRODUCT_NAME}] Your request to join ${oneLine(workspace_name)} was approved`,
      text:
        `Your request to join the workspace '${oneLine(workspace_name)}' at ${publicUrl} was approved. ` +
        `Choose your password with this code, which works once: ${code}`,
    };
  }
  return {
    to: [email],
    subject: `[${PRODUCT_NAME}] Invitation to ${oneLine(workspace_name)}`,
    text:
      `You are invited to the workspace '${oneLine(workspace_name)}' at ${publicUrl}. ` +
      `Your invite code, which works once: ${code}`,
  };
}

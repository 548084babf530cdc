import { oneLine } from '../alerts.ts';
import {
  type DueInvitation,
  endInvitationMail,
  postponeInvitationMail,
  takeDueInvitations,
} from '../db/invitations.ts';
import type { Pool } from '../db/pool.ts';
import { messageOf } from '../errors.ts';
import type { Config } from '../platform/config.ts';
import type { Logger } from '../platform/logger.ts';
import type { Mail, Mailer } from '../platform/mailer.ts';

export interface InvitationDeps {
  db: Pool;
  config: Config;
  log: Logger;
  mailer: Mailer;
}

const BATCH = 10;
/** About 20 minutes of a provider that is away. The code can still be read in the listing. */
const MAX_ATTEMPTS = 8;

/**
 * Mails the invitations that are due, at most ten at once, and returns whether there may be more. No lock is held
 * meanwhile. A stop breaks off what is under way; another process takes it up when the lease has ended.
 */
export async function mailInvitations(deps: InvitationDeps, stop: AbortSignal): Promise<boolean> {
  const due = await takeDueInvitations(deps.db, BATCH);
  await Promise.all(due.map((invitation) => mail(deps, invitation, stop)));
  return due.length === BATCH;
}

async function mail(
  { db, config, log, mailer }: InvitationDeps,
  invitation: DueInvitation,
  stop: AbortSignal,
): Promise<void> {
  const { member_id: memberId, invite_code: code, attempt } = invitation;
  try {
    await mailer.send(invitationMail(invitation, config.api.publicUrl), {
      // The same for every attempt: when the answer to one was lost, the next sends no second mail.
      idempotencyKey: `invitation/${memberId}`,
      signal: stop,
    });
  } catch (error) {
    if (stop.aborted) return;
    // A provider's refusal may repeat what it was sent.
    const reason = messageOf(error).replaceAll(code, '[code]');
    if (attempt < MAX_ATTEMPTS) {
      log.warn({ memberId, attempt, reason }, 'could not mail an invitation; will try again');
      return postponeInvitationMail(db, invitation);
    }
    log.error({ memberId, attempt, reason }, 'gave up mailing an invitation');
  }
  await endInvitationMail(db, invitation);
}

function invitationMail(
  { email, workspace_name, invite_code }: DueInvitation,
  publicUrl: string,
): Mail {
  return {
    to: [email],
    subject: `[Service] Invitation to ${oneLine(workspace_name)}`,
    text:
      `You are invited to the workspace '${oneLine(workspace_name)}' at ${publicUrl}. ` +
      `Your invite code, which works once: ${invite_code}`,
  };
}

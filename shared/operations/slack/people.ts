import { z } from 'zod';
import { type SlackUser, slackUserSchema } from '#shared/contract/slack/interaction.ts';
import { findMemberByEmail, isConfirmedOrAsks } from '#shared/db/slack/people.ts';
import type { Actor } from '#shared/people/actor.ts';
import { holds } from '#shared/people/capabilities.ts';
import { SlackError } from '#shared/platform/calls/slack.ts';
import { askSlack, type SlackAccount, type SlackDeps } from './account.ts';

/** The person who clicked, as Slack signed it. */
export interface SlackPerson {
  teamId: string;
  userId: string;
}

/** Slack waits three seconds for all of it. */
const TIMEOUT_MS = 2_000;
const MAX_NAME = 200;

/**
 * The member who has confirmed that a user of this team is theirs and can decide gates, or why there is none. Slack is asked
 * each time, since people leave, and their email has to be the member's. An account that is not confirmed yet can be after
 * this. Throws SlackError.
 */
export async function memberOf(
  deps: SlackDeps,
  account: SlackAccount,
  { teamId, userId }: SlackPerson,
): Promise<Actor | { refusal: string }> {
  const answer = await askSlack(
    deps,
    account,
    'users.info',
    { user: userId },
    { timeoutMs: TIMEOUT_MS },
  );
  const read = z.object({ user: slackUserSchema }).safeParse(answer);
  if (!read.success) throw new SlackError('refused', 'Slack does not describe its user');
  const { user } = read.data;
  const email = user.profile?.email ?? '';
  if (user.id !== userId || user.team_id !== teamId || !isOwnPerson(user)) {
    return { refusal: 'Only full members of this Slack workspace can decide here.' };
  }
  if (user.is_email_confirmed !== true || email === '') {
    return { refusal: 'Your email address in Slack is not confirmed, so you cannot decide here.' };
  }
  const member = await findMemberByEmail(deps.db, { workspaceId: account.workspaceId, email });
  if (member === undefined) {
    return {
      refusal:
        'No active member of the workspace has your email address in Slack, so you cannot decide here.',
    };
  }
  const { id, name, role, overrides } = member;
  if (!holds(role, overrides, 'approve_gates')) {
    return { refusal: `${name}, you do not have the permission to decide (approve_gates).` };
  }
  const claim = { workspaceId: account.workspaceId, memberId: id, teamId, userId };
  if (!(await isConfirmedOrAsks(deps.db, { ...claim, name: nameOf(user) }))) {
    return {
      refusal: `${name}, confirm once that this Slack account is yours, then click again: ${deps.config.api.publicUrl}/account`,
    };
  }
  const signedIn = { by: 'slack', team_id: teamId, user_id: userId } as const;
  return { workspaceId: account.workspaceId, id, name, role, overrides, signedIn };
}

/** What people see, then the handle. */
const nameOf = ({ id, name, real_name: realName }: SlackUser): string =>
  // Postgres stores no NUL.
  (realName || name || id).replaceAll('\0', '').slice(0, MAX_NAME);

/** Neither a program nor a guest, nor someone who has left or is of another team. */
const isOwnPerson = (user: SlackUser): boolean =>
  user.deleted !== true &&
  user.is_bot !== true &&
  user.is_app_user !== true &&
  user.is_workflow_bot !== true &&
  user.is_restricted !== true &&
  user.is_ultra_restricted !== true &&
  user.is_stranger !== true &&
  user.is_invited_user !== true;

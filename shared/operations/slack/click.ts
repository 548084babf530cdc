import { parsedJson } from '#shared/json.ts';
import { buttonValue, type SlackClick } from '#shared/contract/slack/interaction.ts';
import { awaitsAnswer, findMessage, type StoredMessage } from '#shared/db/slack/messages.ts';
import { messageOf } from '#shared/errors.ts';
import { APPROVE, REJECT } from '#shared/graph/slack/message.ts';
import { decisionModal } from '#shared/graph/slack/modal.ts';
import { slackText } from '#shared/graph/slack/text.ts';
import { SlackError } from '#shared/platform/calls/slack.ts';
import { askSlack, type SlackAccount } from './account.ts';
import { askedInSlack } from './asked-gate.ts';
import type { DecideDeps } from './decide.ts';
import { syncMessage } from './messages.ts';
import { memberOf } from './people.ts';

/** Slack accepts the trigger of a modal for three seconds. */
const TIMEOUT_MS = 2_500;

const OUTDATED = 'This message is no longer about an open gate. Open the console.';
const TOO_EARLY = 'This message was only just sent. Click again, or open the console.';
const CHANGED =
  'What this sets in motion has changed since. The message shows it now: read it, and decide again.';
const FAILED = 'Slack or the service did not answer in time. Click again, or open the console.';

/**
 * Opens the modal for a click on Approve or Reject. A person who cannot decide gets an answer that only they see, and a message
 * that shows something old is updated. Never rejects.
 */
export async function openDecision(
  deps: DecideDeps,
  account: SlackAccount,
  click: SlackClick,
): Promise<void> {
  const { workspaceId } = account;
  try {
    const refusal = await open(deps, account, click);
    if (refusal !== undefined) await answer(deps, account, click, refusal);
  } catch (error) {
    deps.log.warn({ workspaceId, reason: messageOf(error) }, 'could not open a modal in Slack');
    await answer(deps, account, click, FAILED).catch((problem: unknown) => {
      deps.log.warn({ workspaceId, reason: messageOf(problem) }, 'could not answer in Slack');
    });
  }
}

async function open(
  deps: DecideDeps,
  account: SlackAccount,
  { actions, container, team, user, trigger_id: trigger }: SlackClick,
): Promise<string | undefined> {
  const action = actions.find(({ action_id: id }) => id === APPROVE || id === REJECT);
  // A link needs no answer.
  if (action === undefined) return undefined;
  const { workspaceId } = account;
  const { message_ts: ts, channel_id: channel } = container ?? {};
  const message =
    ts == null || channel == null
      ? undefined
      : await findMessage(deps.db, { workspaceId, channel, ts });
  const value = buttonValue.safeParse(parsedJson(action.value ?? '')).data;
  if (message === undefined && value !== undefined) {
    return (await awaitsAnswer(deps.db, { workspaceId, ...value })) ? TOO_EARLY : OUTDATED;
  }
  if (message === undefined || value === undefined || !isOf(value, message)) return OUTDATED;
  const person = { teamId: team.id, userId: user.id };
  if (user.team_id != null && user.team_id !== team.id) {
    return 'Only full members of this Slack workspace can decide here.';
  }
  const actor = await memberOf(deps, account, person);
  if ('refusal' in actor) return actor.refusal;
  const { id } = message;
  const target = { message: id, approves: action.action_id === APPROVE, digest: value.digest };
  const { publicUrl } = deps.config.api;
  const asked = await askedInSlack(deps.db, { actor, message, target, publicUrl });
  const outdated = 'refusal' in asked ? asked.outdated : asked.shown.digest !== value.digest;
  if (outdated) await show(deps, { workspaceId, id });
  if ('refusal' in asked) return asked.refusal;
  if (outdated) return CHANGED;
  const view = decisionModal(asked.modal);
  const values = { trigger_id: trigger ?? '', view };
  await askSlack(deps, account, 'views.open', values, { timeoutMs: TIMEOUT_MS });
  return undefined;
}

const isOf = ({ run, step }: { run: string; step: string }, message: StoredMessage): boolean =>
  run === message.run_id && step === message.step_key;

/** Another process may be writing it at the moment. */
async function show(deps: DecideDeps, message: { workspaceId: string; id: string }): Promise<void> {
  try {
    await syncMessage(deps, message);
  } catch (error) {
    if (!(error instanceof SlackError)) throw error;
  }
}

/** Only this person sees it. */
async function answer(
  deps: DecideDeps,
  account: SlackAccount,
  { container, user }: SlackClick,
  text: string,
): Promise<void> {
  const channel = container?.channel_id;
  if (channel == null) return;
  const values = { channel, user: user.id, text: slackText(text, 1_000) };
  await askSlack(deps, account, 'chat.postEphemeral', values);
}

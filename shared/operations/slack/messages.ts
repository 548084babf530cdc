import { createHash } from 'node:crypto';
import type { TestAlert } from '#shared/contract/alerts/alerts.ts';
import { readAlertRow } from '#shared/db/alerts/alerts.ts';
import { findGate } from '#shared/db/gates/asked.ts';
import type { Db } from '#shared/db/pool.ts';
import {
  type ClaimedMessage,
  claimMessage,
  markPosting,
  releaseMessage,
  storeShown,
  type StoredMessage,
} from '#shared/db/slack/messages.ts';
import { noteProblem } from '#shared/db/slack/settings.ts';
import {
  gateMessage,
  reminderText,
  type ShownGate,
  type SlackMessage,
} from '#shared/graph/slack/message.ts';
import type { Json } from '#shared/json.ts';
import { SlackError } from '#shared/platform/calls/slack.ts';
import { inChat } from '#shared/values/markup.ts';
import { PRODUCT_NAME } from '#shared/values/product.ts';
import { askSlack, type SlackAccount, type SlackDeps } from './account.ts';

/** The gate of a message as it is now; undefined if it was deleted. */
export async function readShownGate(
  db: Db,
  message: StoredMessage,
): Promise<ShownGate | undefined> {
  const { workspace_id: workspaceId, run_id: runId, step_key: stepKey } = message;
  const gate = await findGate(db, { workspaceId, runId, stepKey });
  if (gate === undefined) return undefined;
  return {
    ...gate,
    workflow_name: message.workflow_name,
    votes: gate.progress.decisions,
    tool: gate.call?.tool ?? null,
    superseded: gate.round !== message.round || gate.openedAt !== message.opened_at,
  };
}

/** Where the messages of a workflow go now; undefined if the workspace no longer uses this team. */
async function channelOf(
  db: Db,
  { workspace_id: workspaceId, workflow_id: workflowId, team_id: teamId }: StoredMessage,
): Promise<(SlackAccount & { channel: string }) | undefined> {
  const row = await readAlertRow(db, { workspaceId, workflowId });
  if (row?.slack?.team_id !== teamId) return undefined;
  return { workspaceId, connection: row.slack.connection, channel: row.slack.channel };
}

interface Sync {
  workspaceId: string;
  id: string;
  reminds?: boolean;
  signal?: AbortSignal;
}

/**
 * Makes a message show its gate as it is now: sends it, changes it, or does nothing if it shows that already. It is sent at most
 * once: if it is not known whether Slack has it, only a reminder sends it again. Throws SlackError.
 */
export async function syncMessage(deps: SlackDeps, sync: Sync): Promise<void> {
  const message = await claimMessage(deps.db, sync);
  if (message === undefined) return;
  if (message === 'busy') throw new SlackError('temporary', 'Another process writes this message');
  try {
    const account = await channelOf(deps.db, message);
    const gate = await readShownGate(deps.db, message);
    if (account === undefined || gate === undefined) return;
    const content = gateMessage(gate, deps.config.api.publicUrl);
    if (message.ts === null) await post(deps, { message, account, content, ...sync });
    else await change(deps, { message, account, content, ...sync });
  } catch (error) {
    if (error instanceof SlackError) await noteProblem(deps.db, sync.workspaceId, error.message);
    throw error;
  } finally {
    await releaseMessage(deps.db, message);
  }
}

interface Write extends Sync {
  message: ClaimedMessage;
  account: SlackAccount & { channel: string };
  content: SlackMessage;
}

/** Nothing of another person's text is parsed, and no page is fetched for a preview. */
const STYLE = { parse: 'none', link_names: false, unfurl_links: false, unfurl_media: false };

const digestOf = ({ text, blocks }: SlackMessage): Buffer =>
  createHash('sha256')
    .update(JSON.stringify([text, blocks]))
    .digest();

const optionsOf = ({ signal }: Sync) => (signal === undefined ? {} : { signal });

/** Slack's name of a message. */
function textIn(ts: Json | undefined): string {
  if (typeof ts === 'string') return ts;
  throw new SlackError('unknown', 'Slack does not name the message');
}

async function post(deps: SlackDeps, write: Write): Promise<void> {
  const { message, account, content, reminds = false } = write;
  // No one has seen it, so there is nothing to correct.
  if (content.final || (message.sent && !reminds)) return;
  await markPosting(deps.db, message, true);
  try {
    const { text, blocks } = content;
    const { channel } = account;
    const values = { channel, text, blocks, ...STYLE };
    const sent = await askSlack(deps, account, 'chat.postMessage', values, optionsOf(write));
    await storeShown(deps.db, message, {
      channel,
      ts: textIn(sent['ts']),
      shown: digestOf(content),
      isFinal: false,
    });
    await noteProblem(deps.db, write.workspaceId, null);
  } catch (error) {
    const isUnknown = !(error instanceof SlackError) || error.reason === 'unknown';
    if (!isUnknown) await markPosting(deps.db, message, false);
    throw error;
  }
}

async function change(deps: SlackDeps, write: Write): Promise<void> {
  const { message, account, content, reminds = false } = write;
  const { channel, ts } = message;
  if (message.is_final || channel === null || ts === null) return;
  const shown = digestOf(content);
  if (message.shown !== shown.toString('hex')) {
    const { text, blocks } = content;
    const values = { channel, ts, text, blocks, parse: 'none', link_names: false };
    await askSlack(deps, account, 'chat.update', values, optionsOf(write));
    await storeShown(deps.db, message, { channel, ts, shown, isFinal: content.final });
    await noteProblem(deps.db, write.workspaceId, null);
  }
  if (!reminds || content.final) return;
  const reply = { channel, thread_ts: ts, text: reminderText, reply_broadcast: true, ...STYLE };
  await askSlack(deps, account, 'chat.postMessage', reply, optionsOf(write));
}

/** Sends a test to the channel of the workspace. Throws SlackError. */
export async function postTest(
  deps: SlackDeps,
  { workspace_id: workspaceId, by }: TestAlert,
  signal: AbortSignal,
): Promise<void> {
  const row = await readAlertRow(deps.db, { workspaceId });
  if (row === undefined || row.slack === null) return;
  const { connection, channel } = row.slack;
  const who = by === null ? '' : `, requested by ${inChat(by)}`;
  const text = `[${PRODUCT_NAME}] This is a test of alerts${who}. Approvals will be asked for here.`;
  try {
    const values = { channel, text, mrkdwn: false, ...STYLE };
    await askSlack(deps, { workspaceId, connection }, 'chat.postMessage', values, { signal });
    await noteProblem(deps.db, workspaceId, null);
  } catch (error) {
    if (error instanceof SlackError) await noteProblem(deps.db, workspaceId, error.message);
    throw error;
  }
}

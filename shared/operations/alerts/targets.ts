import {
  type Alert,
  type AlertChannel,
  alertChannels,
  isMemberAlert,
} from '#shared/contract/alerts/alerts.ts';
import { SealError, type Sealer } from '#shared/crypto/sealing.ts';
import { type AlertRow, readAlertRow, webhookPlace } from '#shared/db/alerts/alerts.ts';
import type { Db } from '#shared/db/pool.ts';
import type { Config } from '#shared/platform/config.ts';

/** Whose address it is: the workspace's own, or that of the service for its first workspace. */
type Source = 'workspace' | 'service';

/** The addresses for an alert, with the URL of the webhook as it is stored or configured. */
export interface AlertTargets {
  chat: { source: 'workspace'; sealed: string; place: string } | { source: 'service' } | undefined;
  email: { source: Source; to: string[] } | undefined;
  slack: { source: 'workspace' } | undefined;
}

export interface TargetDeps {
  db: Db;
  config: Pick<Config, 'alerts' | 'chatWebhookUrl' | 'email'>;
}

const none: AlertTargets = { chat: undefined, email: undefined, slack: undefined };

/**
 * Where an alert goes now: to the addresses of its workflow, else those of its workspace, else, in the first workspace,
 * those of the service. A channel without an address gets nothing, and so does an event that is turned off.
 */
export async function targetsOf(deps: TargetDeps, alert: Alert): Promise<AlertTargets> {
  const workflowId = 'workflow_id' in alert ? alert.workflow_id : undefined;
  const place = { workspaceId: alert.workspace_id, workflowId };
  const row = await readAlertRow(deps.db, place);
  if (row === undefined || isMemberAlert(alert) || alert.event === 'gate') return none;
  if (alert.event === 'test') return addressesIn(row, deps.config, place);
  if (!row.events.includes(alert.event)) return none;
  // Slack has a message of its own for each gate.
  return { ...addressesIn(row, deps.config, place), slack: undefined };
}

/** The addresses of a workspace or a workflow, for all events. */
export function addressesIn(
  row: AlertRow,
  config: TargetDeps['config'],
  { workspaceId, workflowId }: { workspaceId: string; workflowId?: string | undefined },
): AlertTargets {
  return {
    chat: chatOf(row, config, { workspaceId, workflowId }),
    email: emailOf(row, config),
    slack: row.slack === null ? undefined : { source: 'workspace' },
  };
}

function chatOf(
  { chat, is_first: isFirst }: AlertRow,
  { chatWebhookUrl }: TargetDeps['config'],
  { workspaceId, workflowId }: { workspaceId: string; workflowId: string | undefined },
): AlertTargets['chat'] {
  if (chat !== null) {
    const place = webhookPlace(workspaceId, chat.of_workflow ? workflowId : undefined);
    return { source: 'workspace', sealed: chat.sealed, place };
  }
  return isFirst && chatWebhookUrl !== undefined ? { source: 'service' } : undefined;
}

function emailOf(
  { email, is_first: isFirst, mutes_email: mutes }: AlertRow,
  { alerts, email: { apiKey } }: TargetDeps['config'],
): AlertTargets['email'] {
  if (apiKey === undefined) return undefined;
  if (email.length > 0) return { source: 'workspace', to: email };
  if (mutes || !isFirst || alerts.email === undefined) return undefined;
  return { source: 'service', to: [alerts.email] };
}

/** The channels that have an address. */
export const channelsOf = (targets: AlertTargets): AlertChannel[] =>
  alertChannels.filter((channel) => targets[channel] !== undefined);

/** The URL of the webhook. Undefined without one. Throws SealError if it cannot be opened with the present key. */
export function webhookUrlOf(
  { chat }: AlertTargets,
  { config, sealer }: { config: Pick<Config, 'chatWebhookUrl'>; sealer: Sealer | undefined },
): string | undefined {
  if (chat === undefined) return undefined;
  if (chat.source === 'service') return config.chatWebhookUrl;
  if (sealer === undefined) throw new SealError('There is no key');
  return sealer.open(chat.sealed, chat.place);
}

import type { Actor } from '#shared/people/actor.ts';
import { holds } from '#shared/people/capabilities.ts';
import { type AlertChannel, alertChannels } from '#shared/contract/alerts/alerts.ts';
import {
  type AlertSettings,
  type AlertSettingsInput,
  type AlertTest,
  isMaskedUrl,
  maskedUrl,
  type WorkflowAlerts,
} from '#shared/contract/alerts/alert.ts';
import { SIGNING_SECRET_MASK, type SlackInput } from '#shared/contract/slack/settings.ts';
import { etagOf } from '#shared/crypto/etags.ts';
import type { Sealer } from '#shared/crypto/sealing.ts';
import {
  readAlertRow,
  readAlerts,
  replaceAlerts,
  type StoredAlerts,
  type StoredWebhook,
  type StoredWorkflowAlerts,
  webhookPlace,
} from '#shared/db/alerts/alerts.ts';
import { readSlackState, signingSecretPlace, type StoredSlack } from '#shared/db/slack/settings.ts';
import { recordAudit } from '#shared/db/audit/audit.ts';
import { queueTestAlert } from '#shared/db/runs/outbox.ts';
import type { Db, Pool } from '#shared/db/pool.ts';
import { AppError, conflict, notFound } from '#shared/errors.ts';
import type { Config } from '#shared/platform/config.ts';
import type { Egress } from '#shared/platform/egress/egress.ts';
import { addressesIn, type AlertTargets, channelsOf, type TargetDeps } from './targets.ts';

type SlackConfig = Pick<Config, 'slackApiUrl'>;

const hints = {
  chat: 'Set chat_webhook_url. In the first workspace, the default is CHAT_WEBHOOK_URL of the API and the worker',
  email:
    'Set email, and EMAIL_API_KEY for the API and the worker. In the first workspace, the default is their ALERT_EMAIL',
  slack: 'Set slack, with a connection to Slack that is signed in',
} satisfies Record<AlertChannel, string>;

/** Throws AppError `not_found`. */
async function readTargets({ db, config }: TargetDeps, workspaceId: string): Promise<AlertTargets> {
  const row = await readAlertRow(db, { workspaceId });
  if (row === undefined) throw notFound('Workspace');
  return addressesIn(row, config, { workspaceId });
}

/**
 * The settings of the workspace, and the channels that count for it. URLs are masked, and so are addresses for a caller
 * who cannot change them. Throws AppError `not_found`.
 */
export async function alertSettings(
  { db, config }: { db: Db; config: TargetDeps['config'] },
  actor: Actor,
): Promise<AlertSettings> {
  const { workspaceId, role, overrides } = actor;
  const stored = await readAlerts(db, workspaceId);
  const targets = await readTargets({ db, config }, workspaceId);
  const slack = await readSlackState(db, workspaceId);
  const shown = holds(role, overrides, 'manage_workspace') ? stored : withoutNames(stored);
  return {
    chat_webhook_url: stored.origin === null ? null : maskedUrl(stored.origin),
    email: shown.email,
    slack: toSlack(stored.slack),
    on: stored.events,
    workflows: Object.fromEntries(
      shown.workflows.map((each) => [each.workflow_id, toWorkflowAlerts(each)]),
    ),
    decide_by_link: stored.decide_by_link,
    channels: alertChannels.map((channel) => ({
      channel,
      configured: targets[channel] !== undefined,
      source: targets[channel]?.source ?? null,
      events: channel === 'slack' ? stored.events.filter((on) => on === 'paused') : stored.events,
      hint: hints[channel],
      team_id: channel === 'slack' ? (slack?.team_id ?? null) : null,
      problem: channel === 'slack' ? (slack?.problem ?? null) : null,
    })),
    // Another URL at the same origin is another state.
    etag: etagOf(stored),
  };
}

function withoutNames(stored: StoredAlerts): StoredAlerts {
  const domains = (emails: readonly string[]) => [
    ...new Set(emails.map((email) => `***${email.slice(email.lastIndexOf('@'))}`)),
  ];
  return {
    ...stored,
    email: domains(stored.email),
    workflows: stored.workflows.map(({ email, ...each }) => {
      return { ...each, email: email === null ? null : domains(email) };
    }),
  };
}

const toSlack = (slack: StoredSlack | null): AlertSettings['slack'] =>
  slack === null
    ? null
    : {
        ...{ connection: slack.connection, channel: slack.channel },
        signing_secret: SIGNING_SECRET_MASK,
      };

const toWorkflowAlerts = ({
  origin,
  email,
  events,
  slack_channel: channel,
}: StoredWorkflowAlerts): WorkflowAlerts => ({
  ...(origin === null ? {} : { chat_webhook_url: maskedUrl(origin) }),
  ...(email === null ? {} : { email }),
  ...(events === null ? {} : { on: events }),
  ...(channel === null ? {} : { slack: { channel } }),
});

/**
 * Replaces the settings. A masked URL keeps the stored one. Throws AppError `invalid` for a URL that is not allowed or
 * cannot be stored, and for a workflow that the workspace does not have.
 */
export async function changeAlerts(
  deps: { db: Pool; egress: Egress; sealer: Sealer | undefined; config: SlackConfig },
  actor: Actor,
  input: AlertSettingsInput,
): Promise<void> {
  const { workspaceId } = actor;
  const urls = [input, ...Object.values(input.workflows)].map((each) => each.chat_webhook_url);
  for (const url of new Set(urls)) {
    if (typeof url === 'string' && !isMaskedUrl(url)) await requireCallable(deps.egress, url);
  }
  const { slackApiUrl } = deps.config;
  await replaceAlerts(deps.db, actor, { slackApiUrl }, (before) => {
    if (input.decide_by_link && !before.decide_by_link) requireLinks(deps.sealer, input);
    const chat = webhookFor(deps.sealer, input.chat_webhook_url, {
      kept: before,
      field: 'chat_webhook_url',
      place: webhookPlace(workspaceId),
    });
    const slack = slackFor(deps.sealer, input.slack, { kept: before.slack, workspaceId });
    const workflows = Object.entries(input.workflows).map(([id, { email, on, ...own }]) => ({
      workflow_id: id,
      ...webhookFor(deps.sealer, own.chat_webhook_url, {
        kept: before.workflows.find((each) => each.workflow_id === id),
        field: `workflows.${id}.chat_webhook_url`,
        place: webhookPlace(workspaceId, id),
      }),
      email: email ?? null,
      events: on ?? null,
      slack_channel: own.slack?.channel ?? null,
    }));
    const sorted = workflows.toSorted((a, b) => (a.workflow_id < b.workflow_id ? -1 : 1));
    const { email, on: events, decide_by_link } = input;
    return { ...chat, email, events, slack, workflows: sorted, decide_by_link };
  });
}

/** Throws AppError `invalid` unless the caller knows what links are, and the service can make them. */
function requireLinks(sealer: Sealer | undefined, { accept_link_risk }: AlertSettingsInput): void {
  if (sealer === undefined) {
    throw invalid('decide_by_link needs ENCRYPTION_KEY, which is not set on this service');
  }
  if (accept_link_risk === true) return;
  throw invalid(
    'decide_by_link lets anyone who has an email decide as its member: send accept_link_risk: true to turn it on',
  );
}

type NullableWebhook = { [Field in keyof StoredWebhook]: StoredWebhook[Field] | null };

/** What is stored for a URL of a request. Throws AppError `invalid`. */
function webhookFor(
  sealer: Sealer | undefined,
  url: string | null | undefined,
  { kept, field, place }: { kept: NullableWebhook | undefined; field: string; place: string },
): NullableWebhook {
  if (url === undefined || url === null) return { sealed: null, origin: null };
  if (isMaskedUrl(url)) {
    const { sealed = null, origin = null } = kept ?? {};
    if (origin !== null && maskedUrl(origin) === url) return { sealed, origin };
    throw invalid(`${field}: there is no stored URL for ${url}; send the whole URL`);
  }
  const same = kept?.sealed ?? null;
  if (sealer === undefined) {
    throw invalid(`${field} cannot be stored, since ENCRYPTION_KEY is not set on this service`);
  }
  const origin = new URL(url).origin;
  // The same URL again is no change.
  if (same !== null && opened(sealer, same, place) === url) return { sealed: same, origin };
  return { sealed: sealer.seal(url, place), origin };
}

/** Throws AppError `invalid`. */
function slackFor(
  sealer: Sealer | undefined,
  given: SlackInput | null,
  { kept, workspaceId }: { kept: StoredSlack | null; workspaceId: string },
): StoredSlack | null {
  if (given === null) return null;
  const { connection, channel, signing_secret: secret } = given;
  if (secret === SIGNING_SECRET_MASK) {
    if (kept !== null) return { connection, channel, sealed: kept.sealed };
    throw invalid('slack.signing_secret: there is no stored one; send it');
  }
  if (sealer === undefined) {
    throw invalid('slack cannot be stored, since ENCRYPTION_KEY is not set on this service');
  }
  const place = signingSecretPlace(workspaceId);
  const same = kept !== null && opened(sealer, kept.sealed, place) === secret;
  return { connection, channel, sealed: same ? kept.sealed : sealer.seal(secret, place) };
}

/** Undefined for a text that was sealed with another key. */
function opened(sealer: Sealer, sealed: string, place: string): string | undefined {
  try {
    return sealer.open(sealed, place);
  } catch {
    return undefined;
  }
}

async function requireCallable(egress: Egress, url: string): Promise<void> {
  const refusal = await egress.refuses(url);
  if (refusal !== undefined) throw invalid(`chat_webhook_url: ${refusal.message}`);
}

const invalid = (problem: string): AppError => new AppError('invalid', `Invalid body: ${problem}`);

/**
 * Queues a test alert for every channel of the workspace. As for every alert, the worker sends it within its interval, and
 * retries. Throws AppError `conflict` when no channel is configured.
 */
export async function testAlerts(
  { db, config }: { db: Pool; config: TargetDeps['config'] },
  actor: Actor,
): Promise<AlertTest> {
  const { workspaceId, name } = actor;
  const channels = channelsOf(await readTargets({ db, config }, workspaceId));
  if (channels.length === 0) throw conflict('No alert channel is configured');
  await db.transaction(async (tx) => {
    await queueTestAlert(tx, { workspaceId, by: name });
    await recordAudit(tx, actor, {
      action: 'alert_test',
      targetType: 'workspace',
      targetId: workspaceId,
      details: { channels },
    });
  });
  return { channels };
}

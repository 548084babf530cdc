import type { Actor } from '#shared/people/actor.ts';
import { type AlertChannel, alertChannels, alertEvents } from '#shared/contract/alerts/alerts.ts';
import type { AlertSettings, AlertTest } from '#shared/contract/alerts/alert.ts';
import { recordAudit } from '#shared/db/audit/audit.ts';
import { queueTestAlert } from '#shared/db/runs/outbox.ts';
import type { Pool } from '#shared/db/pool.ts';
import { conflict } from '#shared/errors.ts';
import type { Config } from '#shared/platform/config.ts';

const hints = {
  chat: 'Set CHAT_WEBHOOK_URL, for the API and the worker',
  email: 'Set EMAIL_API_KEY and ALERT_EMAIL, for the API and the worker',
} satisfies Record<AlertChannel, string>;

/** The configured alert channels of this process. */
export function alertSettings({ alerts }: Pick<Config, 'alerts'>): AlertSettings {
  return {
    channels: alertChannels.map((channel) => ({
      channel,
      configured: alerts.channels.includes(channel),
      events: [...alertEvents],
      hint: hints[channel],
    })),
  };
}

/**
 * Queues a test alert for every configured channel. As for every alert, the worker sends it within its interval, and
 * retries. Throws AppError `conflict` when no channel is configured.
 */
export async function testAlerts(
  { db, config }: { db: Pool; config: Pick<Config, 'alerts'> },
  actor: Actor,
): Promise<AlertTest> {
  const { channels } = config.alerts;
  if (channels.length === 0) throw conflict('No alert channel is configured');
  const { workspaceId, name } = actor;
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

import { ApplicationFailure, Context } from '@temporalio/activity';
import {
  type Alert,
  type AlertCall,
  alertTexts,
  type GateAlert,
  isMemberAlert,
  type MemberAlert,
} from '#shared/contract/alerts/alerts.ts';
import { readHolderEmail } from '#shared/db/connections/starters.ts';
import { SealError } from '#shared/crypto/sealing.ts';
import { messageOf } from '#shared/errors.ts';
import type { BackgroundActivities } from '#shared/execution.ts';
import type { SlackDeps } from '#shared/operations/slack/account.ts';
import { postTest, syncMessage } from '#shared/operations/slack/messages.ts';
import { type TargetDeps, targetsOf, webhookUrlOf } from '#shared/operations/alerts/targets.ts';
import type { Config } from '#shared/platform/config.ts';
import { EgressError } from '#shared/platform/egress/egress.ts';
import type { Logger } from '#shared/platform/logger.ts';
import { MailError, type Mailer } from '#shared/platform/mailer.ts';
import { SlackError } from '#shared/platform/calls/slack.ts';
import { isRetryableStatus, isSuccess } from '#shared/platform/calls/outside.ts';
import { postChatMessage } from '#activities/tools/send-chat-message.ts';
import { mailMembers } from './mail-members.ts';

export interface AlertDeps extends SlackDeps {
  config: TargetDeps['config'] & Pick<Config, 'api' | 'encryptionKey' | 'slackApiUrl'>;
  mailer: Mailer | undefined;
  log: Logger;
}

const HEARTBEAT_MS = 2_000;

/** Describes the response or its absence, without the address and body. */
class DeliveryError extends Error {
  override readonly name = 'DeliveryError';
  readonly retryable: boolean;
  /** In ms; 0 if the receiver does not say. */
  readonly retryAfterMs: number;

  constructor(message: string, retryable: boolean, retryAfterMs = 0) {
    super(message);
    this.retryable = retryable;
    this.retryAfterMs = retryAfterMs;
  }
}

/**
 * One attempt to deliver one alert over one channel. Addresses are read now, and stay in this activity: the history and
 * the log only contain the channel. A channel that is no longer configured is skipped.
 */
export function createDeliverAlert(deps: AlertDeps): BackgroundActivities['deliverAlert'] {
  return async ({ alert, channel }: AlertCall) => {
    const context = Context.current();
    const { cancellationSignal: signal, info } = context;
    // Lets another attempt start soon if this worker dies.
    const beat = setInterval(() => context.heartbeat(), HEARTBEAT_MS);
    const about = 'run_id' in alert ? alert.run_id : undefined;
    const execution = info.workflowExecution?.workflowId ?? about ?? alert.workspace_id;
    const idempotencyKey = `${execution}/${channel}`;
    try {
      if (channel === 'slack') await sendSlack(deps, alert, signal);
      else if (channel === 'chat') await sendChat(deps, alert, { idempotencyKey, signal });
      else await sendMail(deps, alert, { idempotencyKey, signal });
    } catch (error) {
      const { retryable, message, retryAfterMs } = toDeliveryError(error, channel);
      deps.log.warn(
        {
          workspaceId: alert.workspace_id,
          runId: about,
          channel,
          attempt: info.attempt,
          reason: message,
          retryable,
        },
        'could not deliver an alert',
      );
      // Without the cause, which may contain the webhook's address: the history stores failures completely.
      throw ApplicationFailure.create({
        message,
        type: 'AlertNotDelivered',
        nonRetryable: !retryable,
        ...(retryAfterMs === 0 ? {} : { nextRetryDelay: retryAfterMs }),
      });
    } finally {
      clearInterval(beat);
    }
  };
}

interface Attempt {
  idempotencyKey: string;
  signal: AbortSignal;
}

/** Slack gets the gates, and tests. */
async function sendSlack(deps: AlertDeps, alert: Alert, signal: AbortSignal): Promise<void> {
  if (alert.event === 'test') return postTest(deps, alert, signal);
  if (alert.event !== 'gate') return;
  const { workspace_id: workspaceId, message_id: id, reminds } = alert;
  await syncMessage(deps, { workspaceId, id, reminds, signal });
}

async function sendChat(deps: AlertDeps, alert: Alert, attempt: Attempt): Promise<void> {
  const url = webhookUrlOf(await targetsOf(deps, alert), deps);
  if (url === undefined || alert.event === 'gate') return;
  const answer = await postChatMessage(deps.egress, url, {
    text: alertTexts(alert, deps.config.api.publicUrl).chat,
    ...attempt,
  });
  if (isSuccess(answer.status)) return;
  // Without the body: error pages often repeat the requested path.
  throw new DeliveryError(
    `The chat webhook responded with ${answer.status}`,
    isRetryableStatus(answer.status),
  );
}

async function sendMail(deps: AlertDeps, alert: Alert, attempt: Attempt): Promise<void> {
  if (deps.mailer === undefined) return;
  const { mailer } = deps;
  if (alert.event === 'gate') return;
  if (isMemberAlert(alert)) return mailMembers({ ...deps, mailer }, alert, attempt);
  const to = await addressesOf(deps, alert);
  if (to.length === 0) return;
  const { subject, body } = alertTexts(alert, deps.config.api.publicUrl);
  await mailer.send({ to, subject, text: body }, attempt);
}

/** The addresses of the workspace, or the member whose sign-in has ended. */
async function addressesOf(
  deps: AlertDeps,
  alert: Exclude<Alert, MemberAlert | GateAlert>,
): Promise<string[]> {
  if (alert.event !== 'connection' || alert.member_id === null) {
    return (await targetsOf(deps, alert)).email?.to ?? [];
  }
  const { workspace_id: workspaceId, member_id: memberId } = alert;
  const email = await readHolderEmail(deps.db, { workspaceId, memberId });
  return email === null ? [] : [email];
}

function toDeliveryError(error: unknown, channel: AlertCall['channel']): DeliveryError {
  if (error instanceof DeliveryError) return error;
  if (error instanceof SlackError) {
    // It is also tried after a new sign-in. A message whose outcome is not known is not sent again.
    const retryable = error.reason !== 'refused';
    return new DeliveryError(error.message, retryable, error.retryAfterMs);
  }
  if (error instanceof MailError) {
    const text = `The mail provider responded with ${error.status}: ${error.message}`;
    return new DeliveryError(text, isRetryableStatus(error.status));
  }
  if (error instanceof EgressError) return new DeliveryError(error.message, error.retryable);
  if (error instanceof SealError) {
    return new DeliveryError(
      'The stored URL cannot be opened with the present ENCRYPTION_KEY',
      false,
    );
  }
  // The worker is stopping, or there was an internal error: another attempt may succeed.
  const kind = error instanceof Error ? error.name : messageOf(error);
  return new DeliveryError(`Sending over ${channel} was interrupted (${kind})`, true);
}

import type { Actor } from '#shared/people/actor.ts';
import { holds } from '#shared/people/capabilities.ts';
import { withEtag } from '#shared/crypto/etags.ts';
import type { Webhook } from '#shared/contract/inbound/webhook.ts';
import type { StoredWebhook } from '#shared/db/inbound/webhooks.ts';
import { hookUrl, maskedHookUrl } from './address.ts';

/** Anyone with the URL can start runs until it changes, so only members who can start runs anyway see it. */
const maySeeSecret = ({ role, overrides }: Actor): boolean =>
  (['create_edit_workflows', 'run_workflows'] as const).every((name) =>
    holds(role, overrides, name),
  );

/**
 * A workflow's webhook as a member sees it. Some members see the URL and others a masked one, so the tag covers only
 * the rest.
 */
export function toWebhook(
  publicUrl: string,
  actor: Actor,
  workflowId: string,
  { secret, ...settings }: StoredWebhook,
): Webhook {
  const url = (): string =>
    maySeeSecret(actor) && secret !== null
      ? hookUrl(publicUrl, { workflowId, secret })
      : maskedHookUrl(publicUrl, workflowId);
  const webhook = { enabled: secret !== null, url: secret === null ? null : url(), ...settings };
  return withEtag(webhook, ['url']);
}

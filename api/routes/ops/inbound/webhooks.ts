import {
  enabledWebhookSchema,
  webhookConfigInput,
  webhookSchema,
} from '#shared/contract/inbound/webhook.ts';
import {
  configureWebhook,
  disableWebhook,
  enableWebhook,
  readWebhook,
} from '#shared/db/inbound/webhooks.ts';
import { emptyBody } from '#shared/contract/common.ts';
import { idParams, nothing, responses } from '#api/http/responses.ts';
import { type EditedRecord, idOf } from '#api/http/conditional.ts';
import type { App, RouteContext } from '#api/deps.ts';
import { hookUrl } from '#api/inbound/address.ts';
import { toWebhook } from '#api/inbound/shown-webhook.ts';

const recordOf = (publicUrl: string): EditedRecord => ({
  noun: 'workflow',
  schema: webhookSchema,
  read: async (db, { actor, params }) => {
    const workflowId = idOf(params);
    const webhook = await readWebhook(db, { workspaceId: actor.workspaceId, workflowId });
    return toWebhook(publicUrl, actor, workflowId, webhook);
  },
});

export function webhookRoutes(app: App, context: RouteContext): void {
  const record = recordOf(context.config.api.publicUrl);
  enableAndRead(app, context, record);
  disableAndConfigure(app, context, record);
}

function enableAndRead(app: App, { db, config }: RouteContext, record: EditedRecord): void {
  app.post('/api/workflows/:id/webhook', {
    schema: {
      operationId: 'enableWebhook',
      summary: 'Enable the inbound webhook, or give it a new URL',
      description:
        'Each call creates a new secret; the previous URL then returns 404. Also requires `run_workflows`, since ' +
        'anyone with the URL can start runs.',
      params: idParams,
      body: emptyBody,
      response: responses({ 200: enabledWebhookSchema }),
    },
    config: { capability: 'create_edit_workflows', also: ['run_workflows'] },
    handler: async ({ actor, params }) => {
      const secret = await enableWebhook(db, actor, params.id);
      return {
        enabled: true,
        url: hookUrl(config.api.publicUrl, { workflowId: params.id, secret }),
      } as const;
    },
  });

  app.get('/api/workflows/:id/webhook', {
    schema: {
      operationId: 'getWebhook',
      summary: 'Read the inbound webhook and its settings',
      description:
        'The secret in `url` is shown to members who can edit and run workflows; others see asterisks.',
      params: idParams,
      response: responses({ 200: webhookSchema }),
    },
    config: { capability: 'view', record },
    handler: async ({ actor, params }) => {
      const scope = { workspaceId: actor.workspaceId, workflowId: params.id };
      return toWebhook(config.api.publicUrl, actor, params.id, await readWebhook(db, scope));
    },
  });
}

function disableAndConfigure(app: App, { config }: RouteContext, record: EditedRecord): void {
  app.delete('/api/workflows/:id/webhook', {
    schema: {
      operationId: 'disableWebhook',
      summary: 'Disable the inbound webhook',
      description: 'Its URL then returns 404 permanently; its settings are kept.',
      params: idParams,
      response: responses({ 204: nothing }),
    },
    config: { capability: 'create_edit_workflows', record },
    handler: async ({ writes, actor, params }, reply) => {
      await disableWebhook(writes, actor, params.id);
      return reply.code(204).send();
    },
  });

  app.put('/api/workflows/:id/webhook/config', {
    schema: {
      operationId: 'configureWebhook',
      summary: 'Change settings of the inbound webhook; absent ones do not change',
      description: 'A change of `event` also requires `run_workflows`, since events start runs.',
      params: idParams,
      body: webhookConfigInput,
      response: responses({ 200: webhookSchema }),
    },
    config: { capability: 'create_edit_workflows', record },
    handler: async ({ writes, actor, params, body }) =>
      toWebhook(
        config.api.publicUrl,
        actor,
        params.id,
        await configureWebhook(writes, actor, params.id, body),
      ),
  });
}

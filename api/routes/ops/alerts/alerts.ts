import {
  alertSettingsInput,
  alertSettingsSchema,
  alertTestSchema,
} from '#shared/contract/alerts/alert.ts';
import { emptyBody } from '#shared/contract/common.ts';
import { alertSettings, changeAlerts, testAlerts } from '#shared/operations/alerts/alerts.ts';
import { responses } from '#api/http/responses.ts';
import type { EditedRecord } from '#api/http/conditional.ts';
import type { App, RouteContext } from '#api/deps.ts';

export function alertRoutes(app: App, context: RouteContext): void {
  const { db, config } = context;
  const record: EditedRecord = {
    noun: 'workspace',
    schema: alertSettingsSchema,
    read: (from, { actor }) => alertSettings({ db: from, config }, actor),
  };

  app.get('/api/workspace/alerts', {
    schema: {
      operationId: 'getAlerts',
      summary: 'Read the alerts of the workspace',
      response: responses({ 200: alertSettingsSchema }),
    },
    config: { capability: 'view', record },
    handler: async ({ actor }) => alertSettings({ db, config }, actor),
  });

  app.put('/api/workspace/alerts', {
    schema: {
      operationId: 'setAlerts',
      summary: 'Replace the alerts of the workspace',
      description:
        'Replaces all settings; absent ones have their default. In the first workspace, a channel without an address of ' +
        'its own uses the settings of the service. Applies to alerts that are sent after the response.',
      body: alertSettingsInput.meta({
        examples: [
          {
            email: ['ops@example.com'],
            on: ['failed', 'paused', 'budget'],
            workflows: {},
          },
        ],
      }),
      response: responses({ 200: alertSettingsSchema }),
    },
    config: { capability: 'manage_workspace', record },
    handler: async ({ writes, actor, body }) => {
      await changeAlerts({ ...context, db: writes }, actor, body);
      return alertSettings({ db, config }, actor);
    },
  });

  app.post('/api/workspace/alerts/test', {
    schema: {
      operationId: 'testAlerts',
      summary: 'Send a test over every channel of the workspace',
      description: 'Sent like every alert, so it arrives within seconds and is retried.',
      body: emptyBody,
      response: responses({ 202: alertTestSchema }, 'conflict'),
    },
    config: { capability: 'manage_workspace' },
    handler: async (request, reply) =>
      reply.code(202).send(await testAlerts(context, request.actor)),
  });
}

import { alertSettingsSchema, alertTestSchema } from '#shared/contract/alerts/alert.ts';
import { emptyBody } from '#shared/contract/common.ts';
import { alertSettings, testAlerts } from '#shared/operations/alerts/alerts.ts';
import { responses } from '#api/http/responses.ts';
import type { App, RouteContext } from '#api/deps.ts';

export function alertRoutes(app: App, context: RouteContext): void {
  app.get('/api/workspace/alerts', {
    schema: {
      operationId: 'getAlerts',
      summary: 'Read the alert channels',
      response: responses({ 200: alertSettingsSchema }),
    },
    config: { capability: 'view' },
    handler: async () => alertSettings(context.config),
  });

  app.post('/api/workspace/alerts/test', {
    schema: {
      operationId: 'testAlerts',
      summary: 'Send a test over every configured channel',
      description: 'Sent like every alert, so it arrives within seconds and is retried.',
      body: emptyBody,
      response: responses({ 202: alertTestSchema }, 'conflict'),
    },
    config: { capability: 'manage_workspace' },
    handler: async (request, reply) =>
      reply.code(202).send(await testAlerts(context, request.actor)),
  });
}

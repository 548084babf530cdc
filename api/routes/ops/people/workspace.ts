import { planChange, workspaceSchema, workspaceUpdate } from '#shared/contract/people/workspace.ts';
import { changePlan, readWorkspace, updateWorkspace } from '#shared/db/people/workspaces.ts';
import { responses } from '#api/http/responses.ts';
import type { EditedRecord } from '#api/http/conditional.ts';
import type { App, RouteContext } from '#api/deps.ts';

const answer = responses({ 200: workspaceSchema }, 'too_large', 'unsupported_media_type');

export function workspaceRoutes(app: App, { db, config }: RouteContext): void {
  const byEmail = config.email.apiKey !== undefined;
  const record: EditedRecord = {
    noun: 'workspace',
    schema: workspaceSchema,
    read: (from, { actor }) => readWorkspace(from, actor.workspaceId, byEmail),
  };

  app.get('/api/workspace', {
    schema: {
      operationId: 'getWorkspace',
      summary: 'Read the workspace',
      response: responses({ 200: workspaceSchema }),
    },
    config: { capability: 'view', record },
    handler: async (request) => readWorkspace(db, request.actor.workspaceId, byEmail),
  });

  app.put('/api/workspace', {
    schema: {
      operationId: 'updateWorkspace',
      summary: 'Rename the workspace',
      body: workspaceUpdate,
      response: answer,
    },
    config: { capability: 'manage_workspace', record },
    handler: async (request) => {
      await updateWorkspace(request.writes, request.actor, request.body);
      return readWorkspace(db, request.actor.workspaceId, byEmail);
    },
  });

  for (const [method, operationId] of [
    ['PUT', 'setPlan'],
    ['POST', 'changePlan'],
  ] as const) {
    app.route({
      method,
      url: '/api/workspace/plan',
      schema: {
        operationId,
        summary: 'Change the plan, effective at once',
        body: planChange,
        response: answer,
      },
      config: { capability: 'manage_workspace', record },
      handler: async (request) => {
        await changePlan(request.writes, request.actor, request.body.plan);
        return readWorkspace(db, request.actor.workspaceId, byEmail);
      },
    });
  }
}

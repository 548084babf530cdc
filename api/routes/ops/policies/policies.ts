import { policiesInput, policiesSchema } from '#shared/contract/policies/policy.ts';
import { checkPolicies } from '#shared/operations/policies/check.ts';
import { readPolicies, replacePolicies } from '#shared/db/policies/policies.ts';
import { responses } from '#api/http/responses.ts';
import type { EditedRecord } from '#api/http/conditional.ts';
import type { App, RouteContext } from '#api/deps.ts';

const record: EditedRecord = {
  noun: 'workspace',
  schema: policiesSchema,
  read: async (db, { actor }) => (await readPolicies(db, actor.workspaceId)).policies,
};

export function policyRoutes(app: App, { db }: RouteContext): void {
  app.get('/api/workspace/policies', {
    schema: {
      operationId: 'getPolicies',
      summary: 'Read the policies for agents and tools',
      response: responses({ 200: policiesSchema }),
    },
    config: { capability: 'view', record },
    handler: async (request) => (await readPolicies(db, request.actor.workspaceId)).policies,
  });

  app.put('/api/workspace/policies', {
    schema: {
      operationId: 'setPolicies',
      summary: 'Replace the policies for agents and tools',
      description:
        'Replaces all policies; absent ones are unrestricted. Applies to every step that starts after the response, also ' +
        'in active runs.',
      body: policiesInput.meta({
        examples: [
          {
            model_allowlist: ['mock', 'openai/gpt-5-mini'],
            tools: [
              {
                tool: 'http_request',
                blocked_arguments: [
                  { argument: 'method', values: ['DELETE'] },
                  { argument: 'url', pattern: '^https?://[^/]*\\.example\\.net(/|$)' },
                ],
              },
              { tool: 'send_email', allowed_workflow_ids: [] },
            ],
            redaction: {
              detectors: ['email', 'credit_card', 'api_key'],
              patterns: [{ name: 'employee_id', regex: '\\bEMP-\\d{6}\\b' }],
            },
            limits: [
              { models: ['openai/*'], concurrency: 5 },
              { tools: ['http_request'], per_minute: 60, key: '{args.query.customer}' },
            ],
          },
        ],
      }),
      response: responses({ 200: policiesSchema }),
    },
    config: { capability: 'manage_workspace', record },
    handler: async (request) => {
      await checkPolicies(db, request.actor.workspaceId, request.body);
      await replacePolicies(request.writes, request.actor, request.body);
      return request.body;
    },
  });
}

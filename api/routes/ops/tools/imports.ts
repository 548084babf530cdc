import type { ZodTypeProvider } from 'fastify-type-provider-zod';
import { importRefused } from '#shared/contract/connections/needed-sign-in.ts';
import {
  toolImportInput,
  toolImportSchema,
  toolRefreshInput,
  toolRefreshSchema,
} from '#shared/contract/tools/tool-import.ts';
import { importTools } from '#shared/operations/tools/tool-imports.ts';
import { refreshTool } from '#shared/operations/tools/tool-refresh.ts';
import { acceptDocument, DOCUMENT_BODY_BYTES } from '#api/http/document-body.ts';
import { idParams, responses } from '#api/http/responses.ts';
import type { App, RouteContext } from '#api/deps.ts';
import { takenByGraphs } from './taken-by-graphs.ts';

const tags = ['Tools'];

/** Routes whose body can be an API document. */
export function toolImportRoutes(app: App, context: RouteContext): void {
  app.register(async (plugin) => {
    const scope = plugin.withTypeProvider<ZodTypeProvider>();
    acceptDocument(scope, 'openapi');

    scope.post('/api/tools/import', {
      schema: {
        tags,
        operationId: 'importTools',
        summary: 'Register the tools of an MCP server, or the operations of an API document',
        description:
          'Each tool of an MCP server becomes a custom tool of kind `mcp` with the description and the schema that the ' +
          'server gives, and is pinned: a call is refused while the server gives another schema. Each operation of an ' +
          'OpenAPI document becomes a custom tool of kind `http` whose `request` says where its arguments stand, pinned ' +
          'to what the document describes. Importing again accepts what has changed. What cannot be registered is ' +
          'skipped, with the reason; 400 when the tools cannot be listed. If an MCP server requires sign-in, `needs_sign_in` ' +
          'says for which connection: sign in, and import with its name as `auth`. ' +
          takenByGraphs('Importing one under a name that a graph already calls'),
        body: toolImportInput,
        response: responses({ 200: toolImportSchema, 400: importRefused }),
      },
      bodyLimit: DOCUMENT_BODY_BYTES,
      config: { capability: 'create_edit_workflows' },
      handler: async ({ actor, body }) => importTools(context, actor, body),
    });

    scope.post('/api/tools/:id/refresh', {
      schema: {
        tags,
        operationId: 'refreshTool',
        summary: 'Compare a tool with its API document',
        description:
          'Reads the document again. If it describes the operation otherwise, the response says how, and the tool is not ' +
          'called until the change is accepted: send its `digest` as `accept`. If the operation is gone, the tool is not ' +
          'called until it is back. A change of the description alone does not stop calls. ' +
          takenByGraphs('Finding or accepting a change'),
        params: idParams,
        body: toolRefreshInput,
        response: responses({ 200: toolRefreshSchema }, 'conflict'),
      },
      bodyLimit: DOCUMENT_BODY_BYTES,
      config: { capability: 'create_edit_workflows' },
      handler: async ({ actor, params, body }) =>
        refreshTool(context, actor, params.id, body ?? {}),
    });
  });
}

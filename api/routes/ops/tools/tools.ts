import { z } from 'zod';
import { offsetQuery } from '#shared/contract/common.ts';
import {
  customToolInput,
  customToolSchema,
  customToolUpdate,
  toolTestInput,
  toolTestSchema,
} from '#shared/contract/tools/custom-tool.ts';
import {
  deleteCustomTool,
  listCustomTools,
  readCustomTool,
  toAnswer,
} from '#shared/db/tools/custom-tools.ts';
import { changeTool, registerTool, testTool } from '#shared/operations/tools/custom-tools.ts';
import { idParams, nothing, responses } from '#api/http/responses.ts';
import { type EditedRecord, idOf } from '#api/http/conditional.ts';
import type { App, RouteContext } from '#api/deps.ts';
import { takenByGraphs } from './taken-by-graphs.ts';

const record: EditedRecord = {
  noun: 'tool',
  schema: customToolSchema,
  read: async (db, { actor, params }) =>
    toAnswer(await readCustomTool(db, { workspaceId: actor.workspaceId, toolId: idOf(params) })),
};

export function toolRoutes(app: App, context: RouteContext): void {
  const { db } = context;

  app.get('/api/tools', {
    schema: {
      operationId: 'listTools',
      summary: 'List custom tools, by name',
      querystring: offsetQuery,
      response: responses({ 200: z.array(customToolSchema) }),
    },
    config: { capability: 'view' },
    handler: async ({ actor, query }) => {
      const tools = await listCustomTools(db, { workspaceId: actor.workspaceId, ...query });
      return tools.map(toAnswer);
    },
  });

  app.post('/api/tools', {
    schema: {
      operationId: 'createTool',
      summary: 'Register a custom tool',
      description:
        'Workflows call it as `custom:<name>`: an HTTP endpoint that receives the arguments as JSON, or a tool of an ' +
        'MCP server. Its target is checked with each call. ' +
        takenByGraphs('Registering one under a name that a graph already calls'),
      body: customToolInput,
      response: responses({ 201: customToolSchema }, 'conflict'),
    },
    config: { capability: 'create_edit_workflows', headers: ['Location'] },
    handler: async ({ actor, body }, reply) => {
      const tool = await registerTool(context, actor, body);
      return reply.code(201).header('location', `/api/tools/${tool.id}`).send(tool);
    },
  });

  app.get('/api/tools/:id', {
    schema: {
      operationId: 'getTool',
      summary: 'Read a custom tool',
      params: idParams,
      response: responses({ 200: customToolSchema }),
    },
    config: { capability: 'view', record },
    handler: async ({ actor, params }) =>
      toAnswer(await readCustomTool(db, { workspaceId: actor.workspaceId, toolId: params.id })),
  });

  app.put('/api/tools/:id', {
    schema: {
      operationId: 'updateTool',
      summary: 'Change a custom tool',
      description:
        'Changes the fields in the body, for the next step that calls the tool. `headers` is replaced as a whole; a ' +
        'header given as `***` keeps its value. Values belong to the origin (scheme, host, port) of `endpoint_url`: ' +
        'a change to another origin is refused until every header is given in full or left out.' +
        takenByGraphs('A change of any other field than `label` and `description`'),
      params: idParams,
      body: customToolUpdate,
      response: responses({ 200: customToolSchema }),
    },
    config: { capability: 'create_edit_workflows', record },
    handler: async ({ writes, actor, params, body }) =>
      changeTool({ ...context, db: writes }, actor, params.id, body),
  });

  app.delete('/api/tools/:id', {
    schema: {
      operationId: 'deleteTool',
      summary: 'Remove a custom tool',
      description:
        'Workflows that call it can no longer be triggered, and steps that reach it fail.' +
        takenByGraphs('This'),
      params: idParams,
      response: responses({ 204: nothing }),
    },
    config: { capability: 'create_edit_workflows', record },
    handler: async ({ writes, actor, params }, reply) => {
      await deleteCustomTool(writes, actor, params.id);
      return reply.code(204).send();
    },
  });

  app.post('/api/tools/:id/test', {
    schema: {
      operationId: 'testTool',
      summary: 'Call a custom tool once',
      description:
        'A real call, with the stored headers, without retries and for at most 25 seconds. Arguments that do not fit ' +
        'the `input_schema` are refused; a failing tool returns `ok: false`. For a caller without the capability ' +
        '`run_workflows` no stored header is sent, and so no secret: `omitted_headers` names them.',
      params: idParams,
      body: toolTestInput,
      response: responses({ 200: toolTestSchema }),
    },
    config: { capability: 'create_edit_workflows' },
    handler: async ({ actor, params, body }) =>
      testTool(context, actor, params.id, body?.arguments ?? {}),
  });
}

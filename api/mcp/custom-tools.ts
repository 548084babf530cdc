import { z } from 'zod';
import { customToolSchema } from '#shared/contract/tools/custom-tool.ts';
import {
  requireOneSource,
  toolImportInput,
  toolImportSchema,
  toolRefreshSchema,
} from '#shared/contract/tools/tool-import.ts';
import { listCustomTools, toAnswer } from '#shared/db/tools/custom-tools.ts';
import { importTools } from '#shared/operations/tools/tool-imports.ts';
import { refreshTool } from '#shared/operations/tools/tool-refresh.ts';
import { changes, defineTool, looksOnly } from './tool.ts';
import { pageArguments } from './workflow-tools.ts';

const listed = customToolSchema.pick({
  ...{ id: true, name: true, label: true, kind: true, method: true, endpoint_url: true },
  ...{ pinned: true, changed: true, read_only: true, auth: true },
});

const reaches = { ...changes, openWorldHint: true };

/** Headers are no argument, because a credential would pass through a model and its provider. */
const { headers: _headers, ...importFields } = toolImportInput.shape;

export const customToolTools = [
  defineTool({
    name: 'list_custom_tools',
    title: 'List custom tools',
    description:
      'Lists the custom tools of the workspace by name, which graphs call as custom:<name>. `changed` tools are not ' +
      'called until the change of their API document is accepted.',
    capability: 'view',
    annotations: looksOnly,
    input: z.strictObject(pageArguments),
    output: z.object({ tools: z.array(listed) }),
    handle: async ({ context, actor }, page) => {
      const tools = await listCustomTools(context.db, { workspaceId: actor.workspaceId, ...page });
      return { tools: tools.map((tool) => listed.parse(toAnswer(tool))) };
    },
  }),
  defineTool({
    name: 'import_tools',
    title: 'Import tools',
    description:
      'Registers the tools of an MCP server (server_url), or operations of an OpenAPI document (openapi: its URL or ' +
      'text), as custom tools. Use only_list first, and then name the operations that are needed: every tool takes ' +
      'room. auth names a stored secret, never its value.',
    capability: 'create_edit_workflows',
    annotations: reaches,
    input: z.strictObject(importFields).superRefine(requireOneSource),
    output: toolImportSchema,
    handle: async ({ context, actor }, input) =>
      importTools(context, actor, { ...input, headers: {} }),
  }),
  defineTool({
    name: 'refresh_tool',
    title: 'Compare a tool with its API document',
    description:
      'Reads the API document of a custom tool again and says what has changed. From then on, the tool is not called ' +
      'until the change is accepted: ask the person who is responsible, and then send its digest as accept.',
    capability: 'create_edit_workflows',
    annotations: reaches,
    input: z.strictObject({
      tool_id: z.string().min(1).max(100).meta({ description: 'Id of the custom tool (tool_...)' }),
      accept: z.string().max(100).optional(),
    }),
    output: toolRefreshSchema,
    handle: async ({ context, actor }, { tool_id: id, accept }) =>
      refreshTool(context, actor, id, accept === undefined ? {} : { accept }),
  }),
];

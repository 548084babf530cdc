import { wholeList } from './pages.ts';
import type { CallOptions, Send, WriteOptions } from './request.ts';
import type { BodyOf, QueryOf } from './routes.ts';
import type { CustomTool, JsonObject, ToolImport, ToolRefresh, ToolTest } from './types.ts';

export function toolMethods(send: Send) {
  return {
    listTools: (
      query: QueryOf<'GET /api/tools'> = {},
      options?: CallOptions,
    ): Promise<CustomTool[]> =>
      wholeList((page) => send('GET /api/tools', [], { query: page, options }), query),
    /** Registers an endpoint, which workflows call as `custom:<name>`. */
    registerTool: (tool: BodyOf<'POST /api/tools'>, options?: CallOptions): Promise<CustomTool> =>
      send('POST /api/tools', [], { body: tool, options }),
    /** Registers the tools of an MCP server, or the operations of an API document, pinned to what they are now. */
    importTools: (
      from: BodyOf<'POST /api/tools/import'>,
      options?: CallOptions,
    ): Promise<ToolImport> => send('POST /api/tools/import', [], { body: from, options }),
    /** Compares a tool with its API document, or accepts a change that this has found. */
    refreshTool: (
      toolId: string,
      body: NonNullable<BodyOf<'POST /api/tools/{id}/refresh'>> = {},
      options?: CallOptions,
    ): Promise<ToolRefresh> => send('POST /api/tools/{id}/refresh', [toolId], { body, options }),
    getTool: (toolId: string, options?: CallOptions): Promise<CustomTool> =>
      send('GET /api/tools/{id}', [toolId], { options }),
    /** Omitted fields are unchanged. */
    updateTool: (
      toolId: string,
      body: BodyOf<'PUT /api/tools/{id}'>,
      options?: WriteOptions,
    ): Promise<CustomTool> => send('PUT /api/tools/{id}', [toolId], { body, options }),
    deleteTool: (toolId: string, options?: WriteOptions): Promise<undefined> =>
      send('DELETE /api/tools/{id}', [toolId], { options }),
    /** Calls the tool once, as a step of a workflow would. */
    testTool: (
      toolId: string,
      toolArguments: JsonObject = {},
      options?: CallOptions,
    ): Promise<ToolTest> =>
      send('POST /api/tools/{id}/test', [toolId], { body: { arguments: toolArguments }, options }),
  };
}

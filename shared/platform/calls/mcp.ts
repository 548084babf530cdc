import type { CallToolResult } from '@modelcontextprotocol/client';
import type { Json, JsonObject } from '../../json.ts';
import { NodeError } from '../../node-error.ts';
import type { Egress } from '../egress/egress.ts';
import { excerpt, inMcpSession, type McpServer } from './mcp-session.ts';
import { checkPin, type PinnedTool } from './mcp-tools.ts';

export interface McpCall extends McpServer {
  tool: string;
  arguments: JsonObject;
  idempotencyKey: string;
  /** The schema that the server must still give for the tool. */
  pinned?: PinnedTool | undefined;
}

/** Connects, calls one tool, disconnects. Throws NodeError, or the signal's reason on abort. */
export const callMcpTool = (
  egress: Egress,
  call: McpCall,
): Promise<{ content: Json; structured: Json }> =>
  inMcpSession(egress, call, async (client, options) => {
    if (call.pinned !== undefined) await checkPin(client, options, call, call.pinned);
    const result = await client.callTool({ name: call.tool, arguments: call.arguments }, options);
    if (result.isError === true) throw toolFailure(call, result);
    return {
      content: result.content as Json,
      structured: (result.structuredContent as Json | undefined) ?? null,
    };
  });

function toolFailure(call: McpCall, result: CallToolResult): NodeError {
  const words = result.content
    .map((block) => (block.type === 'text' ? block.text : `[${block.type}]`))
    .join('\n');
  const text = excerpt(words, call);
  return new NodeError(
    `MCP tool '${call.tool}' failed: ${text === '' ? 'no reason given' : text}`,
    {
      definite: true,
    },
  );
}

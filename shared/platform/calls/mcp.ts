import { z } from 'zod';
import type { Json, JsonObject } from '#shared/json.ts';
import { NodeError } from '#shared/node-error.ts';
import type { Egress } from '#shared/platform/egress/egress.ts';
import { excerpt, inMcpSession, type McpServer } from './mcp-session.ts';
import { checkPin, type PinnedTool } from './mcp-tools.ts';

export interface McpCall extends McpServer {
  tool: string;
  arguments: JsonObject;
  idempotencyKey: string;
  /** The tool whose schema on the server must not have changed. */
  pinned?: PinnedTool | undefined;
}

/** Connects, calls one tool and disconnects. Throws NodeError, or the signal's reason on abort. */
export const callMcpTool = (
  egress: Egress,
  call: McpCall,
): Promise<{ content: Json; structured: Json }> =>
  inMcpSession(egress, call, async (client, options) => {
    if (call.pinned !== undefined) await checkPin(client, options, call, call.pinned);
    // Not `callTool`, which fails when the SDK does not know a part of the result.
    const result = await client.request(
      { method: 'tools/call', params: { name: call.tool, arguments: call.arguments } },
      callResult,
      options,
    );
    if (result.isError === true) throw toolFailure(call, result);
    return {
      content: (result.content ?? []) as Json,
      structured: (result.structuredContent ?? result.toolResult ?? null) as Json,
    };
  });

/** Servers of the first protocol version respond with `toolResult`. */
const callResult = z.looseObject({
  isError: z.unknown().optional(),
  content: z.unknown().optional(),
  structuredContent: z.unknown().optional(),
  toolResult: z.unknown().optional(),
});

/** A part of a result that contains text: a text, or a resource with text. */
const textPart = z.union([
  z.looseObject({ text: z.string() }).transform(({ text }) => text),
  z
    .looseObject({ resource: z.looseObject({ text: z.string() }) })
    .transform(({ resource }) => resource.text),
  z.looseObject({ type: z.string() }).transform(({ type }) => `[${type}]`),
]);

/** The text of the result: the text of its parts, or else its structured content. */
function wordsOf({ content, structuredContent, toolResult }: z.infer<typeof callResult>): string {
  const parts = Array.isArray(content) ? content : [];
  const words = parts.flatMap((part) => textPart.safeParse(part).data ?? []).join('\n');
  if (words.trim() !== '') return words;
  const structured = structuredContent ?? toolResult;
  return structured === undefined ? '' : JSON.stringify(structured);
}

function toolFailure(call: McpCall, result: z.infer<typeof callResult>): NodeError {
  const text = excerpt(wordsOf(result), call);
  return new NodeError(
    `MCP tool '${call.tool}' failed: ${text === '' ? 'no reason given' : text}`,
    {
      definite: true,
    },
  );
}

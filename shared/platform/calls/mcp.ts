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
    // Not `callTool`, which fails when a part of the result is one that the SDK does not know.
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

/** `toolResult` is what servers of the first protocol version answer with. */
const callResult = z.looseObject({
  isError: z.unknown().optional(),
  content: z.unknown().optional(),
  structuredContent: z.unknown().optional(),
  toolResult: z.unknown().optional(),
});

/** A part of a result that has text: a text itself, or a resource with one. */
const textPart = z.union([
  z.looseObject({ text: z.string() }).transform(({ text }) => text),
  z
    .looseObject({ resource: z.looseObject({ text: z.string() }) })
    .transform(({ resource }) => resource.text),
  z.looseObject({ type: z.string() }).transform(({ type }) => `[${type}]`),
]);

/** What the tool says: the text of its parts, else its structured content. */
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

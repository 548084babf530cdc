import { z } from 'zod';
import type { ToolNode } from '../../shared/contract/graph.ts';
import type { Json } from '../../shared/json.ts';
import type { Egress } from '../../shared/platform/egress/egress.ts';
import { callMcpTool } from '../../shared/platform/calls/mcp.ts';
import type { NodeRunner } from '../nodes/node.ts';
import { headersSchema } from './http-request.ts';
import { parseParams } from './params.ts';

const paramsSchema = z.strictObject({
  server_url: z.string().min(1),
  tool: z.string().min(1),
  arguments: z.record(z.string(), z.custom<Json>()).nullish(),
  headers: headersSchema.nullish(),
});

const DEFAULT_TIMEOUT_MS = 60_000;

/** `{server_url, tool, arguments, headers?}` to `{content, structured}`; a result marked as error fails the node. */
export function createMcp(egress: Egress): NodeRunner<ToolNode> {
  return async (call) => {
    const params = parseParams('mcp', paramsSchema, call.params);
    const output = await callMcpTool(egress, {
      serverUrl: params.server_url,
      tool: params.tool,
      arguments: params.arguments ?? {},
      headers: params.headers ?? {},
      idempotencyKey: call.idempotencyKey,
      timeoutMs:
        call.node.timeout_seconds === undefined
          ? DEFAULT_TIMEOUT_MS
          : call.node.timeout_seconds * 1000,
      signal: call.signal,
    });
    return { output, costMicros: 0 };
  };
}

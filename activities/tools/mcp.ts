import { z } from 'zod';
import type { ToolNode } from '#shared/contract/workflows/graph.ts';
import type { Sealer } from '#shared/crypto/sealing.ts';
import type { Json, JsonObject } from '#shared/json.ts';
import type { Egress } from '#shared/platform/egress/egress.ts';
import { callMcpTool } from '#shared/platform/calls/mcp.ts';
import { checkedEgress, withoutSecrets } from '#shared/platform/secrets/open-secrets.ts';
import type { NodeCall, NodeResult, NodeRunner } from '#activities/nodes/node.ts';
import { openForStep } from '#activities/step-secrets.ts';
import { headersSchema } from './http-request.ts';
import { parseParams } from './params.ts';

const paramsSchema = z.strictObject({
  server_url: z.string().min(1),
  tool: z.string().min(1),
  arguments: z.record(z.string(), z.custom<Json>()).nullish(),
  headers: headersSchema.nullish(),
});

const DEFAULT_TIMEOUT_MS = 60_000;

/**
 * `{server_url, tool, arguments, headers?}` to `{content, structured}`; a result marked as error fails the node. The
 * values of secrets are inserted here, and redacted from everything that comes back.
 */
export function createMcp(egress: Egress, sealer: Sealer | undefined): NodeRunner<ToolNode> {
  return async (call) => {
    const opened = openForStep(sealer, call);
    if (opened === undefined) return send(egress, call, call.params);
    const { params, cutter, check } = opened;
    return withoutSecrets(cutter, async () => {
      const { output } = await send(checkedEgress(egress, check), call, params, cutter.text);
      return { output: cutter.json(output), costMicros: 0 };
    });
  };
}

async function send(
  egress: Egress,
  call: NodeCall<ToolNode>,
  given: JsonObject,
  redact?: (text: string) => string,
): Promise<NodeResult> {
  const params = parseParams('mcp', paramsSchema, given);
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
    redact,
    signal: call.signal,
  });
  return { output, costMicros: 0 };
}

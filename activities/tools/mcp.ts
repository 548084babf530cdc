import {
  type CallToolResult,
  Client,
  type ClientOptions,
  ProtocolError,
  SdkError,
  SdkHttpError,
  StreamableHTTPClientTransport,
} from '@modelcontextprotocol/client';
import { z } from 'zod';
import type { ToolNode } from '../../shared/contract/graph.ts';
import type { Json, JsonObject } from '../../shared/json.ts';
import { checkUserHeaders, type Egress, EgressError } from '../../shared/platform/egress.ts';
import { NodeError, type NodeRunner } from '../nodes/node.ts';
import { callOutside, isRetryableStatus, parseParams } from './failure.ts';
import { headersSchema } from './http-request.ts';

const paramsSchema = z.strictObject({
  server_url: z.string().min(1),
  tool: z.string().min(1),
  arguments: z.record(z.string(), z.custom<Json>()).nullish(),
  headers: headersSchema.nullish(),
});

export interface McpCall {
  serverUrl: string;
  tool: string;
  arguments: JsonObject;
  headers?: Record<string, string>;
  idempotencyKey: string;
  timeoutMs: number;
  signal: AbortSignal;
}

const DEFAULT_TIMEOUT_MS = 60_000;
/** JSON-RPC: method not found, invalid params. */
const FINAL_CODES: readonly number[] = [-32601, -32602];

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

/**
 * Connects, calls one tool, hangs up. Speaks the stateless protocol and the earlier ones with a session. Throws
 * NodeError, or the signal's reason on abort.
 */
export async function callMcpTool(
  egress: Egress,
  call: McpCall,
): Promise<{ content: Json; structured: Json }> {
  return callOutside(call.signal, async () => {
    const url = URL.parse(call.serverUrl);
    if (url === null) {
      throw new NodeError('mcp: server_url is not a valid URL', { retryable: false });
    }
    const { fetch, failure } = rememberFailure(egress);
    const transport = new StreamableHTTPClientTransport(url, {
      fetch,
      requestInit: {
        headers: {
          ...checkUserHeaders(call.headers ?? {}),
          'Idempotency-Key': call.idempotencyKey,
        },
      },
      reconnectionOptions: NO_RECONNECTION,
    });
    const client = new Client(
      { name: 'durable-workflows', version: '1.0.0' },
      { versionNegotiation: { mode: 'auto' }, jsonSchemaValidator: TRUSTING_VALIDATOR },
    );
    const options = { signal: call.signal, timeout: call.timeoutMs };
    try {
      await client.connect(transport, options);
      const result = await client.callTool({ name: call.tool, arguments: call.arguments }, options);
      if (result.isError === true) throw toolFailure(call.tool, result);
      return {
        content: result.content as Json,
        structured: (result.structuredContent as Json | undefined) ?? null,
      };
    } catch (error) {
      if (call.signal.aborted) throw call.signal.reason;
      throw error instanceof NodeError ? error : (failure() ?? nodeErrorFrom(error, url));
    } finally {
      await hangUp(client, transport);
    }
  });
}

/** A server's output schema may hold any regular expression; its word on its own result is taken instead. */
const TRUSTING_VALIDATOR: NonNullable<ClientOptions['jsonSchemaValidator']> = {
  getValidator: () => (input) => ({ valid: true, data: input as never, errorMessage: undefined }),
};

const NO_RECONNECTION = {
  maxRetries: 0,
  initialReconnectionDelay: 0,
  maxReconnectionDelay: 0,
  reconnectionDelayGrowFactor: 1,
};

/** The SDK wraps what fetch throws beyond recognition, so the guard's own word is kept beside it. */
function rememberFailure(egress: Egress) {
  let last: EgressError | undefined;
  const fetch: Egress['fetch'] = async (input, init) => {
    try {
      return await egress.fetch(input, init);
    } catch (error) {
      if (error instanceof EgressError) last = error;
      throw error;
    }
  };
  return { fetch, failure: () => last };
}

/** Sessions of the earlier protocols are closed, as a courtesy that may take a second and may fail. */
async function hangUp(client: Client, transport: StreamableHTTPClientTransport): Promise<void> {
  if (transport.sessionId !== undefined) {
    let timer: NodeJS.Timeout | undefined;
    const patience = new Promise<void>((resolve) => {
      timer = setTimeout(resolve, 1000);
    });
    await Promise.race([transport.terminateSession().catch(() => undefined), patience]);
    clearTimeout(timer);
  }
  await client.close().catch(() => undefined);
}

function toolFailure(tool: string, result: CallToolResult): NodeError {
  const text = result.content
    .map((block) => (block.type === 'text' ? block.text : `[${block.type}]`))
    .join('\n')
    .slice(0, 500);
  return new NodeError(`MCP tool '${tool}' failed: ${text === '' ? 'no reason given' : text}`, {
    definite: true,
  });
}

function nodeErrorFrom(error: unknown, url: URL): unknown {
  if (SdkHttpError.isInstance(error)) {
    const { status } = error;
    const text = `${url.host} answered ${status}`;
    return new NodeError(text, {
      retryable: isRetryableStatus(status),
      definite: true,
      cause: error,
    });
  }
  if (ProtocolError.isInstance(error)) {
    const retryable = !FINAL_CODES.includes(error.code);
    return new NodeError(`${url.host}: ${error.message.slice(0, 500)}`, {
      retryable,
      definite: true,
      cause: error,
    });
  }
  if (SdkError.isInstance(error)) {
    return new NodeError(`${url.host} did not answer as an MCP server: ${error.code}`, {
      cause: error,
    });
  }
  return error;
}

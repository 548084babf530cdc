import {
  type CallToolResult,
  Client,
  type ClientOptions,
  ProtocolError,
  SdkError,
  SdkHttpError,
  StreamableHTTPClientTransport,
} from '@modelcontextprotocol/client';
import type { Json, JsonObject } from '../../json.ts';
import { NodeError } from '../../node-error.ts';
import { checkUserHeaders, type Egress, EgressError } from '../egress/egress.ts';
import { callOutside, isRetryableStatus } from './outside.ts';

export interface McpCall {
  serverUrl: string;
  tool: string;
  arguments: JsonObject;
  headers?: Record<string, string>;
  idempotencyKey: string;
  /** For one exchange; a call takes two or three. */
  timeoutMs: number;
  /** The server's text is redacted with this before it is shortened for an error. */
  redact?: (text: string) => string;
  signal: AbortSignal;
}

/** JSON-RPC: method not found, invalid params. */
const FINAL_CODES: readonly number[] = [-32601, -32602];

/**
 * Connects, calls one tool, disconnects. Supports the stateless protocol and the earlier ones with a session. Throws
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
      if (result.isError === true) throw toolFailure(call, result);
      return {
        content: result.content as Json,
        structured: (result.structuredContent as Json | undefined) ?? null,
      };
    } catch (error) {
      if (call.signal.aborted) throw call.signal.reason;
      throw error instanceof NodeError ? error : (failure() ?? nodeErrorFrom(error, url, call));
    } finally {
      await hangUp(client, transport);
    }
  });
}

/** A server's output schema may contain any regular expression, so its results are not validated. */
const TRUSTING_VALIDATOR: NonNullable<ClientOptions['jsonSchemaValidator']> = {
  getValidator: () => (input) => ({ valid: true, data: input as never, errorMessage: undefined }),
};

const NO_RECONNECTION = {
  maxRetries: 0,
  initialReconnectionDelay: 0,
  maxReconnectionDelay: 0,
  reconnectionDelayGrowFactor: 1,
};

/** The SDK hides the error of fetch, so this remembers the guard's own error. */
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

/** Sessions of the earlier protocols are closed; this may take a second, and errors are ignored. */
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

/** A server's text, shortened for an error. */
const excerpt = (text: string, { redact }: McpCall): string =>
  (redact?.(text) ?? text).slice(0, 500).toWellFormed();

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

function nodeErrorFrom(error: unknown, url: URL, call: McpCall): unknown {
  if (SdkHttpError.isInstance(error)) {
    const { status } = error;
    const text = `${url.host} answered ${status}`;
    return new NodeError(text, {
      retryable: isRetryableStatus(status),
      definite: true,
      status,
      cause: error,
    });
  }
  if (ProtocolError.isInstance(error)) {
    const retryable = !FINAL_CODES.includes(error.code);
    return new NodeError(`${url.host}: ${excerpt(error.message, call)}`, {
      retryable,
      definite: true,
      cause: error,
    });
  }
  if (SdkError.isInstance(error)) {
    return new NodeError(`${url.host} did not respond as an MCP server: ${error.code}`, {
      cause: error,
    });
  }
  return error;
}

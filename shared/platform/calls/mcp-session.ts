import {
  Client,
  type ClientOptions,
  ProtocolError,
  type RequestOptions,
  SdkError,
  SdkHttpError,
  StreamableHTTPClientTransport,
} from '@modelcontextprotocol/client';
import { NodeError } from '../../node-error.ts';
import { checkUserHeaders, type Egress, EgressError } from '../egress/egress.ts';
import { exactFetch } from './exact-fetch.ts';
import { callOutside, isRetryableStatus } from './outside.ts';

/** A server, and how long to wait for it. */
export interface McpServer {
  serverUrl: string;
  headers?: Record<string, string>;
  /** Sent with every request. */
  idempotencyKey?: string;
  /** For one exchange; a session takes two or more. */
  timeoutMs: number;
  /** The server's text is redacted with this before it is shortened for an error. */
  redact?: (text: string) => string;
  signal: AbortSignal;
}

/** JSON-RPC: method not found, invalid params. */
const FINAL_CODES: readonly number[] = [-32601, -32602];

/**
 * Connects, works, disconnects. Supports the stateless protocol and the earlier ones with a session. Throws NodeError,
 * or the signal's reason on abort.
 */
export async function inMcpSession<T>(
  egress: Egress,
  server: McpServer,
  work: (client: Client, options: RequestOptions) => Promise<T>,
): Promise<T> {
  return callOutside(server.signal, async () => {
    const url = URL.parse(server.serverUrl);
    if (url === null) {
      throw new NodeError('mcp: server_url is not a valid URL', { retryable: false });
    }
    const { fetch, failure } = rememberFailure(egress);
    const { idempotencyKey: key } = server;
    const transport = new StreamableHTTPClientTransport(url, {
      fetch,
      requestInit: {
        headers: {
          ...checkUserHeaders(server.headers ?? {}),
          ...(key !== undefined && { 'Idempotency-Key': key }),
        },
      },
      reconnectionOptions: NO_RECONNECTION,
    });
    const client = new Client(
      { name: 'durable-workflows', version: '1.0.0' },
      { versionNegotiation: { mode: 'auto' }, jsonSchemaValidator: TRUSTING_VALIDATOR },
    );
    const options = { signal: server.signal, timeout: server.timeoutMs };
    try {
      await client.connect(transport, options);
      return await work(client, options);
    } catch (error) {
      if (server.signal.aborted) throw server.signal.reason;
      throw error instanceof NodeError ? error : (failure() ?? nodeErrorFrom(error, url, server));
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
  const exact = exactFetch(fetch, {
    // A schema in a list of tools can have bounds that are beyond every double.
    concerns: ([top, part]) => top === 'result' && part !== 'tools',
    onTooLarge: (error) => (last = error),
  });
  return { fetch: exact, failure: () => last };
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
export const excerpt = (text: string, { redact }: McpServer): string =>
  (redact?.(text) ?? text).slice(0, 500).toWellFormed();

function nodeErrorFrom(error: unknown, url: URL, server: McpServer): unknown {
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
    return new NodeError(`${url.host}: ${excerpt(error.message, server)}`, {
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
  if (error instanceof RangeError) {
    // The SDK reads values recursively.
    return new NodeError(
      `${url.host} did not respond as an MCP server: a value is nested too deep`,
      {
        retryable: false,
        cause: error,
      },
    );
  }
  return error;
}

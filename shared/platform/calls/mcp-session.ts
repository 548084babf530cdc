import {
  Client,
  type ClientOptions,
  InsufficientScopeError,
  ProtocolError,
  type RequestOptions,
  SdkError,
  SdkErrorCode,
  SdkHttpError,
  StreamableHTTPClientTransport,
} from '@modelcontextprotocol/client';
import { z } from 'zod';
import { NodeError } from '#shared/node-error.ts';
import { checkUserHeaders, type Egress, EgressError } from '#shared/platform/egress/egress.ts';
import { challengeOf } from './challenge.ts';
import { exactFetch } from './exact-fetch.ts';
import { callOutside, isRetryableStatus, retryAfterMs } from './outside.ts';

/** A server and its timeouts. */
export interface McpServer {
  serverUrl: string;
  headers?: Record<string, string>;
  /** Sent with every request. */
  idempotencyKey?: string;
  /** For one exchange. A session takes two or more. */
  timeoutMs: number;
  /** Redacts the server's text before it is shortened for an error. */
  redact?: (text: string) => string;
  signal: AbortSignal;
}

/** JSON-RPC: method not found, invalid params. */
const FINAL_CODES: readonly number[] = [-32601, -32602];

/**
 * Connects, runs `work` and disconnects. Supports the stateless protocol and the earlier ones with a session. When the
 * server no longer knows the session, `work` runs once more in a new one. Throws NodeError, or the signal's reason on
 * abort.
 */
export async function inMcpSession<T>(
  egress: Egress,
  server: McpServer,
  work: Work<T>,
): Promise<T> {
  return callOutside(server.signal, async () => {
    const url = URL.parse(server.serverUrl);
    if (url === null) {
      throw new NodeError('mcp: server_url is not a valid URL', { retryable: false });
    }
    try {
      return await inOneSession(egress, { ...server, url }, work);
    } catch (error) {
      if (!(error instanceof SessionLost)) throw error;
      return await inOneSession(egress, { ...server, url }, work);
    }
  });
}

type Work<T> = (client: Client, options: RequestOptions) => Promise<T>;

/** A server that has lost a session responds with 404 without doing anything. */
class SessionLost extends NodeError {}

async function inOneSession<T>(
  egress: Egress,
  server: McpServer & { url: URL },
  work: Work<T>,
): Promise<T> {
  const { url, idempotencyKey: key } = server;
  // When the SDK cannot read a response in a stream, it only reports that, and then waits for another one.
  const unreadable = Promise.withResolvers<never>();
  unreadable.promise.catch(() => undefined);
  const { fetch, failure, heard } = rememberFailure(egress, unreadable.reject);
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
  // Not the client's `onerror`, which is not called for the first request.
  transport.onerror = (error) => {
    if (isUnreadable(error)) unreadable.reject(error);
  };
  let connected = false as boolean;
  const options = { signal: server.signal, timeout: server.timeoutMs };
  const session = async (): Promise<T> => {
    await client.connect(transport, options);
    connected = true;
    return work(client, options);
  };
  try {
    return await Promise.race([session(), unreadable.promise]);
  } catch (error) {
    if (server.signal.aborted) throw server.signal.reason;
    if (error instanceof NodeError) throw error;
    const known = failure() ?? nodeErrorFrom(error, url, server, heard());
    const isLost = connected && transport.sessionId !== undefined;
    if (!isLost || !(known instanceof NodeError) || known.status !== 404) throw known;
    throw new SessionLost(known.message, { retryable: false, definite: true, status: 404 });
  } finally {
    await hangUp(client, transport);
  }
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

/**
 * The SDK hides the error of fetch, so this remembers the egress guard's own error, and that of JSON too large to read.
 */
function rememberFailure(egress: Egress, onTooLarge: (error: EgressError) => void) {
  let last: EgressError | undefined;
  let heard: Heard = { wait: 0, challenge: undefined };
  const fetch: Egress['fetch'] = async (input, init) => {
    try {
      const response = await egress.fetch(input, init);
      const { status, headers } = response;
      if (isRetryableStatus(status)) {
        heard = { ...heard, wait: retryAfterMs(headers.get('retry-after')) };
      } else if (status === 401 || status === 403) {
        heard = { ...heard, challenge: headers.get('www-authenticate') ?? undefined };
      }
      return response;
    } catch (error) {
      if (error instanceof EgressError) last = error;
      throw error;
    }
  };
  const exact = exactFetch(fetch, {
    // A schema in a list of tools can have bounds that no double can represent.
    concerns: ([top, part]) => top === 'result' && part !== 'tools',
    onTooLarge: (error) => {
      last = error;
      onTooLarge(error);
    },
  });
  return { fetch: exact, failure: () => last, heard: () => heard };
}

/** What the headers of a refusal say. */
interface Heard {
  /** In ms. */
  wait: number;
  challenge: string | undefined;
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

function nodeErrorFrom(
  error: unknown,
  url: URL,
  server: McpServer,
  { wait, challenge }: Heard,
): unknown {
  if (error instanceof InsufficientScopeError) {
    const needed = challengeOf(challenge)?.scopes ?? [];
    const text = `${url.host} answered 403: the sign-in lacks ${scopesText(needed, server)}`;
    return new NodeError(text, { ...ANSWERED, status: 403, challenge, cause: error });
  }
  if (SdkHttpError.isInstance(error)) {
    const { status } = error;
    const text = `${url.host} answered ${status}`;
    return new NodeError(text, {
      retryable: isRetryableStatus(status),
      definite: true,
      status,
      challenge,
      retryAfterMs: wait,
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
    const isAnswer = error.code === SdkErrorCode.InvalidResult;
    return new NodeError(`${url.host} did not respond as an MCP server: ${error.code}`, {
      ...(isAnswer && ANSWERED),
      cause: error,
    });
  }
  const reason = reasonOfUnreadable(error, server);
  if (reason === undefined) return error;
  return new NodeError(`${url.host} did not respond as an MCP server: ${reason}`, {
    ...ANSWERED,
    cause: error,
  });
}

/** The scopes that a server asks for, as the end of a sentence that says what to do. */
function scopesText(scopes: readonly string[], server: McpServer): string {
  if (scopes.length === 0) return 'a scope; add it to the connection, and sign in again';
  const named = scopes.map((scope) => `'${scope}'`).join(', ');
  const [noun, them] = scopes.length === 1 ? ['scope', 'it'] : ['scopes', 'them'];
  return `the ${noun} ${excerpt(named, server)}; add ${them} to the connection, and sign in again`;
}

/** The server has responded, and may have done its work: asking again would do it twice. */
const ANSWERED = { retryable: false, definite: true } as const;

const isUnreadable = (error: unknown): boolean =>
  error instanceof SyntaxError || error instanceof z.core.$ZodError || error instanceof RangeError;

/** Why the SDK could not read a response; undefined for another error. */
function reasonOfUnreadable(error: unknown, server: McpServer): string | undefined {
  // The SDK reads values recursively.
  if (error instanceof RangeError) return 'a value is nested too deep';
  if (error instanceof SyntaxError) return 'its answer is not JSON';
  if (isUnreadable(error)) return 'its answer is not a JSON-RPC message';
  // For example, a protocol version that no one supports. The text may be the server's.
  return error instanceof Error && error.constructor === Error
    ? excerpt(error.message, server)
    : undefined;
}

import {
  createServer,
  type IncomingHttpHeaders,
  type IncomingMessage,
  type RequestListener,
  type Server,
  type ServerResponse,
} from 'node:http';
import { Socket } from 'node:net';
import type { FastifyReply } from 'fastify';
import { AppError } from '#shared/errors.ts';
import { BODY_LIMIT_BYTES } from './body.ts';
import type { App } from '#api/deps.ts';
import { isHandshake } from './security-headers.ts';

/** Limits on the time and sockets that one client can use in a process. */
export interface ConnectionLimits {
  /** From the connection, or the first byte of a later request, until the end of its head. */
  headMs: number;
  /** Until the end of head and body. */
  requestMs: number;
  /** Until the handler has its response. */
  handlerMs: number;
  /** From the head of the request until the last byte of the response was read. */
  exchangeMs: number;
  /** From an upgrade request until the socket is a WebSocket. */
  handshakeMs: number;
  /** Maximum time without a request. */
  idleMs: number;
  /** How often head and request are checked: both may take this much longer. */
  checkEveryMs: number;
  /** How often a WebSocket must respond to a ping. If it does not, the next check closes it. */
  pingEveryMs: number;
  /** How often an open stream of server-sent events sends a comment, so that proxies keep its connection. */
  commentEveryMs: number;
  /** Concurrent connections of one process, including WebSockets. */
  connections: number;
  /** The maximum number of requests on one connection, answered or not, to limit pipelining. */
  requestsPerConnection: number;
}

export const connectionLimits: ConnectionLimits = {
  headMs: 15_000,
  requestMs: 30_000,
  // Slightly above the database's own statement timeout.
  handlerMs: 35_000,
  exchangeMs: 180_000,
  handshakeMs: 40_000,
  // Longer than the minute after which load balancers usually close an idle connection, so that they close it first.
  idleMs: 72_000,
  checkEveryMs: 5_000,
  pingEveryMs: 30_000,
  // Shorter than the minute after which proxies usually close a silent connection.
  commentEveryMs: 15_000,
  connections: 10_000,
  requestsPerConnection: 1_000,
};

/** Creates HTTP servers with these limits. An application that listens on several addresses has one for each. */
export const serverFactory =
  (limits: ConnectionLimits) =>
  (handler: RequestListener): Server => {
    const server = createServer(
      {
        headersTimeout: limits.headMs,
        // `boundExchanges` enforces this, because a server option could not exempt single requests.
        requestTimeout: 0,
        connectionsCheckingInterval: limits.checkEveryMs,
        keepAliveTimeout: limits.idleMs,
        shouldUpgradeCallback: asksForWebSocket,
      },
      handler,
    );
    server.maxConnections = limits.connections;
    server.maxRequestsPerSocket = limits.requestsPerConnection;
    boundExchanges(server, limits);
    // After an upgrade request, the server no longer tracks the socket. A WebSocket clears this timeout.
    server.on('upgrade', (_request, socket) => {
      if (socket instanceof Socket) socket.setTimeout(limits.handshakeMs, () => socket.destroy());
    });
    return server;
  };

/**
 * Other upgrades that a client offers (curl and Java offer `h2c` by default) are ignored, as HTTP permits, and the
 * request gets a normal response.
 */
const asksForWebSocket = ({ method, headers }: IncomingMessage): boolean =>
  method === 'GET' && headers.upgrade?.toLowerCase() === 'websocket';

/** Clears the total timeouts of a request. */
const liftBounds = new WeakMap<IncomingMessage, () => void>();

/**
 * Replaces the total timeout of a request by an idle timeout, for a body that is processed as a stream. Only for routes
 * with authentication. The connection is closed after the response.
 */
export function boundBySilence(
  request: IncomingMessage,
  reply: ServerResponse,
  silenceMs: number,
): void {
  const lift = liftBounds.get(request);
  // Without a socket, there is nothing to limit.
  if (lift === undefined) return;
  lift();
  reply.shouldKeepAlive = false;
  request.setTimeout(silenceMs, () => request.destroy());
}

/** Ends a request whose body does not arrive in time, as the server itself does for heads. */
function boundBody(server: Server, request: IncomingMessage, requestMs: number): NodeJS.Timeout {
  const timer = setTimeout(() => {
    const error = Object.assign(new Error('Request timeout'), { code: 'ERR_HTTP_REQUEST_TIMEOUT' });
    server.emit('clientError', error, request.socket);
  }, requestMs).unref();
  request.once('end', () => clearTimeout(timer));
  request.once('close', () => clearTimeout(timer));
  return timer;
}

function boundExchanges(server: Server, limits: ConnectionLimits): void {
  const counts = new WeakMap<Socket, number>();
  server.prependListener('request', (request, response) => {
    const { socket } = request;
    const count = (counts.get(socket) ?? 0) + 1;
    counts.set(socket, count);
    // The server rejects requests above the limit, but leaves the connection open for more of them.
    if (count >= limits.requestsPerConnection) response.shouldKeepAlive = false;
    // An unread response stays in memory, and nothing else ends it.
    const timer = setTimeout(() => socket.destroy(), limits.exchangeMs).unref();
    response.once('close', () => clearTimeout(timer));
    const bodyTimer = boundBody(server, request, limits.requestMs);
    liftBounds.set(request, () => {
      clearTimeout(timer);
      clearTimeout(bodyTimer);
    });
  });
}

/** Closes the connection, because otherwise the rest of a rejected body would have to be read and discarded. */
export function leaveLargeBodies(app: App): void {
  app.addHook('onSend', (request, reply, payload, done) => {
    if (!request.raw.complete && announcedBytes(request.headers) > BODY_LIMIT_BYTES) {
      reply.header('connection', 'close');
    }
    done(null, payload);
  });
}

function announcedBytes(headers: IncomingHttpHeaders): number {
  if (headers['transfer-encoding'] !== undefined) return Infinity;
  return Number(headers['content-length'] ?? 0);
}

/** How long a stopping process lets requests in progress end, in ms. */
const ANSWER_MS = 4_000;

/**
 * Lets requests in progress have their answers before the process closes its connections: their clients could not know
 * whether a change was made. Refuses requests that arrive in the meantime, with a 503 in the usual format, and closes the
 * connection. Fastify's own refusal has another format.
 */
export function refuseWhileStopping(app: App): void {
  let stopping = false;
  const open = new Set<FastifyReply>();
  const answered = Promise.withResolvers<undefined>();
  // Streams have been taken over from Fastify, and end with the process.
  const isAnswered = (): boolean => [...open].every(({ sent, raw }) => sent && !raw.writableEnded);
  app.addHook('preClose', async () => {
    stopping = true;
    if (isAnswered()) return;
    const overdue = setTimeout(() => answered.resolve(undefined), ANSWER_MS);
    await answered.promise;
    clearTimeout(overdue);
  });
  app.addHook('onRequest', async (request, reply) => {
    if (stopping) {
      reply.header('connection', 'close');
      throw new AppError('unavailable', 'This process is stopping: send the request again');
    }
    if (isHandshake(request.raw)) return;
    open.add(reply);
    reply.raw.once('close', () => {
      open.delete(reply);
      if (stopping && isAnswered()) answered.resolve(undefined);
    });
  });
  // The connection is about to be closed.
  app.addHook('onSend', (_request, reply, payload, done) => {
    if (stopping) reply.header('connection', 'close');
    done(null, payload);
  });
}

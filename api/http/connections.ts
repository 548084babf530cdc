import {
  createServer,
  type IncomingHttpHeaders,
  type IncomingMessage,
  type RequestListener,
  type Server,
  type ServerResponse,
} from 'node:http';
import { Socket } from 'node:net';
import { BODY_LIMIT_BYTES } from './body.ts';
import type { App } from '../deps.ts';

/** What one client may take of the time and the sockets of a process. */
export interface ConnectionLimits {
  /** From the connection, or from the first byte of a further request, until its head is there. */
  headMs: number;
  /** Until head and body are there. */
  requestMs: number;
  /** Until the handler has its answer. */
  handlerMs: number;
  /** From the head of the request until the last byte of the answer has been taken. */
  exchangeMs: number;
  /** From a request to upgrade until the socket is a WebSocket. */
  handshakeMs: number;
  /** Without a request. */
  idleMs: number;
  /** How often head and request are looked at: both may take this much longer. */
  checkEveryMs: number;
  /** How often a WebSocket has to show that it lives; it is dropped at the next look. */
  pingEveryMs: number;
  /** Open at the same time in one process, WebSockets included. */
  connections: number;
  /** Sent on one connection, answered or not, until it is closed: the bound of what pipelining can pile up. */
  requestsPerConnection: number;
}

export const connectionLimits: ConnectionLimits = {
  headMs: 15_000,
  requestMs: 30_000,
  // Just above the database's own statement timeout.
  handlerMs: 35_000,
  exchangeMs: 180_000,
  handshakeMs: 40_000,
  // Above the minute after which load balancers usually drop an idle connection, so that they do it first.
  idleMs: 72_000,
  checkEveryMs: 5_000,
  pingEveryMs: 30_000,
  connections: 10_000,
  requestsPerConnection: 1_000,
};

/** Makes HTTP servers that hold these limits; an application that listens on several addresses has one for each. */
export const serverFactory =
  (limits: ConnectionLimits) =>
  (handler: RequestListener): Server => {
    const server = createServer(
      {
        headersTimeout: limits.headMs,
        // Held by `boundExchanges`, since here there is no exception for one request.
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
    // After a request to upgrade the server does not know the socket any more. A WebSocket clears its timeout.
    server.on('upgrade', (_request, socket) => {
      if (socket instanceof Socket) socket.setTimeout(limits.handshakeMs, () => socket.destroy());
    });
    return server;
  };

/**
 * Any other upgrade that a client offers (curl and Java ask for `h2c` by themselves) is ignored, as HTTP lets a server
 * do: the request is answered as if it had not asked.
 */
const asksForWebSocket = ({ method, headers }: IncomingMessage): boolean =>
  method === 'GET' && headers.upgrade?.toLowerCase() === 'websocket';

/** Ends the bounds that a request is held to as a whole. */
const liftBounds = new WeakMap<IncomingMessage, () => void>();

/**
 * Lets a request whose body is taken in as it comes last as long as it likes, but not be silent for longer than this.
 * For routes that know who asks. The connection is closed after the answer.
 */
export function boundBySilence(
  request: IncomingMessage,
  reply: ServerResponse,
  silenceMs: number,
): void {
  const lift = liftBounds.get(request);
  // Not from a socket: then there is nothing to bound.
  if (lift === undefined) return;
  lift();
  reply.shouldKeepAlive = false;
  request.setTimeout(silenceMs, () => request.destroy());
}

/** Ends a request whose body is not there in time, as the server itself would. */
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
    // The server refuses the requests after the last one, and leaves the connection open for more of them.
    if (count >= limits.requestsPerConnection) response.shouldKeepAlive = false;
    // An answer that nobody reads is kept in memory, and nothing else ends it.
    const timer = setTimeout(() => socket.destroy(), limits.exchangeMs).unref();
    response.once('close', () => clearTimeout(timer));
    const bodyTimer = boundBody(server, request, limits.requestMs);
    liftBounds.set(request, () => {
      clearTimeout(timer);
      clearTimeout(bodyTimer);
    });
  });
}

/** To keep the connection, the rest of a refused body would be read and thrown away, however long it is. */
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

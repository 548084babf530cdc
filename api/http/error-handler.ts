import { STATUS_CODES } from 'node:http';
import type { Socket } from 'node:net';
import type { Duplex } from 'node:stream';
import type { FastifyError, FastifyInstance, FastifyReply, FastifyRequest } from 'fastify';
import { hasCommitted } from '#shared/db/commit-outcome.ts';
import { AppError, type ErrorCode, errorTable, messageOf } from '#shared/errors.ts';
import {
  type AuthorizationServer,
  authorizationServerOf,
  challengeTo,
  MCP_PATH,
} from '#shared/operations/authorizations/server.ts';
import type { Console } from '#api/console.ts';
import { databaseProblem } from './database-errors.ts';
import type { RouteContext } from '#api/deps.ts';
import { isOwnCredential } from '#api/inbound/address.ts';
import { describeInvalid } from './invalid-request.ts';
import type { MethodsOf } from './methods.ts';
import { countUnrouted } from './rate-limit.ts';
import { isHandshake, prepareAnswer, securityHeaders } from './security-headers.ts';

/** When a caller should retry after a temporary refusal. */
const RETRY_AFTER_SECONDS = 2;
/** How long a refused client has to read the reason. */
const GOODBYE_MS = 1_000;

interface Refusal {
  code: ErrorCode;
  detail: string;
  /** What the caller should have read. */
  current?: object | null;
  /** What has changed, for `changed`. */
  stale?: object;
  /** What an MCP server needs that requires sign-in. */
  needsSignIn?: object;
}

/** Messages for the framework's own refusals. */
const frameworkRefusals: Record<string, Refusal> = {
  FST_ERR_CTP_BODY_TOO_LARGE: { code: 'too_large', detail: 'The body is larger than 1 MB' },
  FST_ERR_CTP_INVALID_MEDIA_TYPE: {
    code: 'unsupported_media_type',
    detail: 'Content-Type must be application/json',
  },
  FST_ERR_CTP_EMPTY_TYPE: {
    code: 'unsupported_media_type',
    detail: 'A body needs Content-Type: application/json',
  },
  FST_ERR_CTP_INVALID_CONTENT_LENGTH: {
    code: 'invalid',
    detail: 'The body is not as long as Content-Length says',
  },
  FST_ERR_BAD_URL: { code: 'invalid', detail: 'The path is not a valid URL' },
  FST_ERR_MAX_PARAM_LENGTH: { code: 'not_found', detail: 'Not found' },
  FST_ERR_HANDLER_TIMEOUT: { code: 'unavailable', detail: 'The request took too long' },
};

/** Converts every thrown value into a response. */
export function answerErrors(
  app: FastifyInstance,
  context: Pick<RouteContext, 'authenticator' | 'dataAccess' | 'config'>,
  { console, methodsOf = () => [] }: { console?: Console | undefined; methodsOf?: MethodsOf } = {},
): void {
  const server = authorizationServerOf(context.config);
  const answer = (error: unknown, request: FastifyRequest, reply: FastifyReply) => {
    if (isMcp(request)) challenge(server, request, reply, error);
    return send(error, request, reply);
  };
  app.setErrorHandler(answer);
  app.setNotFoundHandler(async (request, reply) => {
    if (console?.isPage(request) === true) return console.sendPage(reply);
    // Callers without access must not find out which addresses exist. Webhooks and callbacks have no authentication.
    if (request.url.startsWith('/api/') && !isOwnCredential(request.url)) {
      await context.authenticator.identify(request.raw, { tokens: isMcp(request) });
    } else if (request.url.startsWith('/v1/')) await context.dataAccess.admit(request, reply);
    const methods = methodsOf(request.url.split('?', 1)[0] ?? '');
    if (methods.length === 0 || methods.includes(request.method)) {
      return answer(new AppError('not_found', 'Not found'), request, reply);
    }
    reply.header('allow', methods.join(', '));
    const detail = `${request.method} is not allowed here: use ${methods.join(', ')}`;
    return answer(new AppError('method_not_allowed', detail), request, reply);
  });
}

/** The framework refuses these requests before routing. No hook runs, so the work of the hooks is done here. */
export function answerFrameworkError(
  error: FastifyError,
  request: FastifyRequest,
  reply: FastifyReply,
): void {
  prepareAnswer(reply);
  if (isHandshake(request.raw)) reply.raw.once('finish', () => request.raw.socket.end());
  countUnrouted(request, reply).then(
    () => send(error, request, reply),
    (refusal: unknown) => send(refusal, request, reply),
  );
}

const isMcp = ({ url }: FastifyRequest): boolean => url.split('?', 1)[0] === MCP_PATH;

/** A client of `/api/mcp` finds the authorization server by the challenge of a 401. */
function challenge(
  server: AuthorizationServer,
  { headers }: FastifyRequest,
  reply: FastifyReply,
  error: unknown,
): void {
  if (classify(error).code !== 'unauthenticated') return;
  reply.header('www-authenticate', challengeTo(server, headers.authorization !== undefined));
}

function send(error: unknown, request: FastifyRequest, reply: FastifyReply): FastifyReply {
  const refusal = inWordsOf(request, classify(error));
  if (refusal.code === 'internal') {
    // Logs the route pattern, because the path may contain a secret or a token.
    const route = request.routeOptions.url ?? 'unknown';
    request.log.error({ err: error, method: request.method, route }, 'request failed');
  } else if (refusal.code === 'unavailable') request.log.warn({ err: error }, 'request refused');
  // A rate limit sets its own `retry-after`.
  if (errorTable[refusal.code].retryable && !reply.hasHeader('retry-after')) {
    const { retryAfterSeconds } = error as Partial<AppError>;
    reply.header('retry-after', String(retryAfterSeconds ?? RETRY_AFTER_SECONDS));
  }
  if (refusal.code === 'unauthenticated' && !reply.hasHeader('www-authenticate')) {
    reply.header('www-authenticate', 'Bearer');
  }
  reply.code(errorTable[refusal.code].status).type('application/json; charset=utf-8');
  const { detail, current, stale, needsSignIn } = refusal;
  // The route declares which fields of its record a caller can see.
  if (current !== undefined) return reply.send({ detail, current });
  const body = {
    detail,
    ...(stale === undefined ? {} : { code: refusal.code, stale }),
    ...(needsSignIn === undefined ? {} : { needs_sign_in: needsSignIn }),
  };
  return reply.serializer(JSON.stringify).send(body);
}

/**
 * The data API distinguishes an invalid body (422) from an invalid query (400). All errors about the body start the
 * same way.
 */
function inWordsOf(request: FastifyRequest, refusal: Refusal): Refusal {
  const isBody = refusal.code === 'invalid' && refusal.detail.startsWith('Invalid body');
  return isBody && request.routeOptions.config.scope !== undefined
    ? { ...refusal, code: 'unprocessable' }
    : refusal;
}

/** The request has committed its change; only reading the response failed. */
const WRITTEN =
  'The change was saved, but the database cannot be reached to read the result: read the record instead of repeating the request';

/** The code and the detail for a thrown value. An unknown error reveals nothing. */
export function classify(error: unknown): Refusal {
  if (error instanceof AppError) {
    const { code, message: detail, current, stale, needsSignIn } = error;
    return {
      ...{ code, detail },
      ...(current === undefined ? {} : { current }),
      ...(stale === undefined ? {} : { stale }),
      ...(needsSignIn === undefined ? {} : { needsSignIn }),
    };
  }
  const { validation, validationContext, code, statusCode } = error as Partial<FastifyError>;
  if (validation !== undefined) {
    // `/api/workflows/` contains no workflow id, so this address does not exist.
    if (
      validationContext === 'params' &&
      validation.every(({ keyword }) => keyword === 'too_small')
    ) {
      return { code: 'not_found', detail: 'Not found' };
    }
    return { code: 'invalid', detail: describeInvalid(validationContext, validation) };
  }
  const known = code === undefined ? undefined : frameworkRefusals[code];
  if (known !== undefined) return known;
  const problem = databaseProblem(error);
  if (problem?.code === 'unavailable' && hasCommitted()) return { ...problem, detail: WRITTEN };
  if (problem !== undefined) return problem;
  const ours = Object.entries(errorTable).find(
    ([, row]) => row.status === statusCode && row.status < 500,
  );
  if (ours !== undefined) return { code: ours[0] as ErrorCode, detail: messageOf(error) };
  return { code: 'internal', detail: 'Internal error' };
}

/** Bytes that are not HTTP never reach a route, so the response is written to the bare socket. */
export function answerSocketError(error: Error & { code?: string }, socket: Socket): void {
  if (error.code === 'ECONNRESET') {
    socket.destroy();
    return;
  }
  const status =
    { HPE_HEADER_OVERFLOW: 431, ERR_HTTP_REQUEST_TIMEOUT: 408 }[error.code ?? ''] ?? 400;
  answerOnSocket(socket, status, STATUS_CODES[status] ?? 'Bad Request');
}

/** An upgrade request that is not a valid WebSocket handshake. */
export function answerHandshakeError(error: Error, socket: Duplex): void {
  answerOnSocket(socket, 400, error.message);
}

function answerOnSocket(socket: Duplex, status: number, detail: string): void {
  if (socket.destroyed || !socket.writable) {
    socket.destroy();
    return;
  }
  const body = JSON.stringify({ detail });
  const headers = {
    ...securityHeaders,
    'content-type': 'application/json; charset=utf-8',
    'content-length': Buffer.byteLength(body),
    connection: 'close',
  };
  const lines = Object.entries(headers).map(([name, value]) => `${name}: ${value}\r\n`);
  socket.end(`HTTP/1.1 ${status} ${STATUS_CODES[status]}\r\n${lines.join('')}\r\n${body}`);
  // The client might never close its half of the connection.
  const timer = setTimeout(() => socket.destroy(), GOODBYE_MS).unref();
  socket.once('close', () => clearTimeout(timer));
}

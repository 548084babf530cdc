import type { IncomingHttpHeaders } from 'node:http';
import type { WebsocketPluginOptions } from '@fastify/websocket';
import type { FastifyInstance, FastifyReply, FastifyRequest } from 'fastify';
import type { WebSocket } from 'ws';
import { z } from 'zod';
import { requireCapability } from '#shared/people/actor.ts';
import { closeCodes } from '#shared/contract/runs/stream.ts';
import { wholeNumber } from '#shared/contract/common.ts';
import { readStreamPlace } from '#shared/db/runs/frames.ts';
import { AppError, notFound } from '#shared/errors.ts';
import { idParams, responses } from '#api/http/responses.ts';
import { requireKnownOrigin } from '#api/identity/authenticate.ts';
import type { App, Follow, RouteContext, StreamAdmission } from '#api/deps.ts';
import { clientNetwork } from '#api/http/client-address.ts';
import { readerByStreamToken, readerOf } from './credentials.ts';
import type { StreamReader } from './reader.ts';
import { createEventStreams, type EventStreams } from './events.ts';
import { MAX_BEHIND_BYTES } from './limits.ts';
import { createFrameBus, type FrameBus } from './bus.ts';
import { createSocketSlots, type SocketSlots } from './slots.ts';
import { createSessionWatch, type SessionWatch } from './session-watch.ts';
import { createWorkspaceWatch, type WorkspaceWatch } from './workspace-watch.ts';

const MAX_INBOUND_BYTES = 64 * 1024;
/** How long a socket may take to close when the process stops. */
const GOODBYE_MS = 200;

export const socketOptions: WebsocketPluginOptions = {
  options: {
    maxPayload: MAX_INBOUND_BYTES,
    perMessageDeflate: false,
    autoPong: false,
    // The stream uses no subprotocol, so the response must not accept one.
    handleProtocols: () => false,
  },
  errorHandler: (error, socket, request) => {
    request.log.debug({ err: error }, 'socket failed');
    socket.terminate();
  },
  preClose(done) {
    const { clients } = this.websocketServer;
    for (const client of clients) client.close(closeCodes.going_away, 'The service is stopping');
    if (clients.size === 0) return done();
    setTimeout(() => {
      for (const client of clients) client.terminate();
      done();
    }, GOODBYE_MS);
  },
};

/** Answers a handshake at any other address than a stream's with plain HTTP, after authentication. */
export function refuseOtherSockets(app: FastifyInstance): void {
  app.addHook('preHandler', async (request) => {
    const { ws, is404, routeOptions } = request;
    if (!ws || is404 || routeOptions.config.stream === true) return;
    throw new AppError(
      'invalid',
      'This address is not a WebSocket; send a plain HTTP request, or connect to /api/runs/{id}/stream',
    );
  });
}

const streamQuery = z.looseObject({
  // A repeated token is invalid, and the close code says so.
  token: z
    .unknown()
    .transform((given) => (typeof given === 'string' ? given : ''))
    .optional()
    .meta({ type: 'string', description: 'Session token, or a stream token of the run' }),
});

const runStreamQuery = streamQuery.extend({
  after: wholeNumber(0, Number.MAX_SAFE_INTEGER).optional().meta({
    description:
      'Frames with a greater `seq` only, also earlier ones. `Last-Event-ID` counts before it',
  }),
  deltas: z
    .enum(['true', 'false'])
    .optional()
    .meta({
      description:
        'With `true` the stream also has `agent_turn` frames, `agent_delta` frames with the answers of models as they ' +
        'arrive, from the beginning of each answer in progress, and the frames `child_paused` and `child_continued`. ' +
        '`agent_delta` has `step_key`, `turn`, `text` and `offset`, the length of the answer before it in UTF-16 code ' +
        'units: with `offset` 0 an answer starts, or starts again',
    }),
});

/** `WS /api/runs/{id}/stream` and `WS /api/stream`. They send frames and ignore what they receive. The first is also plain HTTP. */
export function streamRoutes(app: App, context: RouteContext): void {
  const { db, log, config } = context;
  const bus = createFrameBus({ db, log, databaseUrl: config.database.url });
  const workspaces = createWorkspaceWatch({ db, log, bus });
  const sessions = createSessionWatch({ db, log });
  const sockets: Sockets = {
    context,
    slots: createSocketSlots(config.api.streamSockets),
    sessions,
    events: createEventStreams({ db, log, commentEveryMs: context.commentEveryMs }),
  };
  app.addHook('preClose', async () => sockets.events.stop());
  app.addHook('onClose', async () => {
    sessions.stop();
    workspaces.stop();
    await bus.stop();
  });
  app.decorateRequest('admission', null);
  app.decorateRequest('streamReader', null);

  streamRuns(app, sockets, bus);
  streamWorkspaces(app, sockets, workspaces);
}

function streamRuns(app: App, sockets: Sockets, bus: FrameBus): void {
  const { db } = sockets.context;
  const subjectOf: SubjectOf = ({ params: { id }, query, headers }) => ({
    runId: id,
    begin: async (workspaceId) => {
      const place = await readStreamPlace(db, { workspaceId, runId: id });
      if (place === undefined) return undefined;
      const given = givenPlace(headers, query.after);
      if (given !== undefined && given > place.newest) {
        throw new AppError('invalid', 'This run has no event with this number yet');
      }
      const after = given ?? place.newest;
      const deltas = query.deltas === 'true';
      return {
        after,
        // A browser that reconnects after the last event stops when it gets no content.
        over: given === place.newest && place.ended,
        follow: ({ send, passed }) =>
          bus.subscribe({ runId: id, after, deltas, deliver: send, passed }),
      };
    },
  });
  app.get('/api/runs/:id/stream', {
    schema: {
      tags: ['Runs'],
      operationId: 'streamRun',
      summary: "Follow a run's frames over a WebSocket or as server-sent events",
      description:
        `Frames of events after the connection, each with \`run_id\` and \`type\`. ${closing('run')}\n\n` +
        'A plain request with `Accept: text/event-stream` gets the same frames as server-sent events, each with its `seq` as ' +
        '`id`, and their errors as JSON. After the last frame of a run that has ended comes the event `end`; a request that ' +
        'continues after it gets 204. An event `close` has the `code` with which a socket would close.',
      params: idParams,
      querystring: runStreamQuery,
      response: responses(
        {
          101: z.undefined().meta({ description: 'Switching to WebSocket' }),
          200: {
            description: 'The frames, as server-sent events',
            content: { 'text/event-stream': { schema: z.string() } },
          },
          204: z
            .undefined()
            .meta({ description: 'The run has ended, and there are no more events' }),
        },
        'not_found',
      ),
    },
    ...socketHandlers(sockets, subjectOf),
    handler: async (request, reply) => {
      const { accept = '' } = request.headers;
      if (!accept.includes('text/event-stream')) {
        throw new AppError(
          'invalid',
          'This address is a WebSocket; connect with the ws protocol, or send Accept: text/event-stream',
        );
      }
      return sendEvents(sockets, subjectOf(request), request, reply);
    },
  });
}

/** Where the reader wants to continue. Throws AppError `invalid`. */
function givenPlace(headers: IncomingHttpHeaders, after: number | undefined): number | undefined {
  const last = headers['last-event-id'];
  if (last === undefined || last === '') return after;
  if (typeof last === 'string' && /^\d{1,15}$/.test(last)) return Number(last);
  throw new AppError('invalid', 'Last-Event-ID must be the number of an event');
}

/** Sends the frames of a run as server-sent events. Throws AppError `not_found`, `invalid`, `rate_limited`. */
async function sendEvents(
  { context, slots, sessions, events }: Sockets,
  { runId = '', begin }: Subject,
  request: FastifyRequest,
  reply: FastifyReply,
): Promise<FastifyReply> {
  const reader = request.streamReader ?? readerOf(request);
  const { workspaceId } = reader.actor;
  const start = await begin(workspaceId);
  if (start === undefined) throw notFound('Run');
  if (start.over === true) return reply.code(204).send();
  // Fastify also answers HEAD here, which has no end to wait for.
  if (request.method === 'HEAD') return reply.type('text/event-stream').send();
  const caller = callerOf(reader, clientNetwork(request));
  const slot = slots.take({ runId, workspaceId, caller });
  if ('refusal' in slot) throw new AppError('rate_limited', slot.refusal);
  events.send(request, reply, {
    run: { workspaceId, runId },
    after: start.after ?? 0,
    follow: start.follow,
    watch: (close) => sessions.add(close, reader.watched),
    release: slot.release,
  });
  context.log.debug({ runId }, 'stream of events opened');
  return reply;
}

const callerOf = ({ memberId }: StreamReader, network: string) =>
  memberId === undefined
    ? ({ kind: 'address', id: network } as const)
    : ({ kind: 'member', id: memberId } as const);

function streamWorkspaces(app: App, sockets: Sockets, workspaces: WorkspaceWatch): void {
  app.get('/api/stream', {
    schema: {
      tags: ['Workspace'],
      operationId: 'streamWorkspace',
      summary: 'Follow what changes in the workspace over a WebSocket',
      description:
        'At most one frame a second: `{"type": "changed", "changed": [...]}` with what has changed since the connection, as ' +
        '`target_type` of audit entries, `step` for steps and states of runs, `job` for background jobs and `record` for ' +
        `records of the data API. Read again what you show of them. ${closing('workspace')}`,
      querystring: streamQuery,
      response: responses({ 101: z.undefined().meta({ description: 'Switching to WebSocket' }) }),
    },
    ...socketHandlers(sockets, () => ({
      runId: undefined,
      begin: async (workspaceId) => {
        const since = await workspaces.begin(workspaceId);
        return { follow: ({ send }) => workspaces.subscribe(workspaceId, since, send) };
      },
    })),
  });
}

const closing = (subject: 'run' | 'workspace'): string =>
  'Closed with 4401 without a valid `token` where one is required, 4403 without the `view` permission' +
  (subject === 'run'
    ? ', 4404 for an unknown run, 1013 when the caller, the run,'
    : ', 1013 when the caller,') +
  ' the workspace or the process has too many streams; the reason of the close frame says which.';

interface Sockets {
  context: RouteContext;
  slots: SocketSlots;
  sessions: SessionWatch;
  events: EventStreams;
}

/** What a socket follows. */
interface Subject {
  runId: string | undefined;
  /** Reads where the frames begin; undefined when the workspace has no such run. */
  begin: (workspaceId: string) => Promise<Start | undefined>;
}
interface Start {
  follow: Follow;
  /** The number of the last frame that the reader has. Only of runs. */
  after?: number;
  /** Whether there is nothing more to read. */
  over?: boolean;
}
type SubjectOf = (request: {
  params: { id: string };
  query: StreamRequest['Querystring'];
  headers: IncomingHttpHeaders;
}) => Subject;

interface StreamRequest {
  Params: { id: string };
  Querystring: { token?: string; deltas?: string | undefined; after?: number | undefined };
}

/** The handlers of a stream. Admission comes before the handshake: no frame after the caller sees an open socket is missed. */
function socketHandlers({ context, slots, sessions }: Sockets, subjectOf: SubjectOf) {
  return {
    config: { capability: 'view', stream: true } as const,
    preHandler: async (request: FastifyRequest) => {
      if (!request.ws) return;
      const { params, query, headers } = request as FastifyRequest<StreamRequest>;
      request.admission = await admit(context, slots, subjectOf({ params, query, headers }), {
        headers,
        token: query.token,
        network: clientNetwork(request),
      });
      // The connection closes even if the handshake does not complete.
      if ('release' in request.admission) {
        const { release } = request.admission;
        if (request.raw.socket.destroyed) release();
        else request.raw.socket.once('close', release);
      }
    },
    handler: async () => {
      throw new AppError('invalid', 'This address is a WebSocket; connect with the ws protocol');
    },
    wsHandler: (socket: WebSocket, request: FastifyRequest) => {
      const admission = request.admission ?? { close: closeCodes.unauthenticated };
      if ('close' in admission) return socket.close(admission.close, admission.reason);
      const { reader, follow } = admission;
      const unwatch = sessions.add((code) => socket.close(code), reader.watched);
      const unfollow = follow({ send: sender(socket) });
      socket.on('close', () => {
        unwatch();
        unfollow();
      });
    },
  };
}

async function admit(
  context: RouteContext,
  slots: SocketSlots,
  { runId, begin }: Subject,
  {
    headers,
    token,
    network,
  }: { headers: IncomingHttpHeaders; token: string | undefined; network: string },
): Promise<StreamAdmission> {
  try {
    const reader = await identify(context, headers, { token, runId });
    requireCapability(reader.actor, 'view');
    const { workspaceId } = reader.actor;
    const start = await begin(workspaceId);
    if (start === undefined) return { close: closeCodes.not_found };
    const { follow } = start;
    const slot = slots.take({ runId, workspaceId, caller: callerOf(reader, network) });
    if ('refusal' in slot) return { close: closeCodes.too_many, reason: slot.refusal };
    return { reader, follow, release: slot.release };
  } catch (error) {
    if (!(error instanceof AppError)) throw error;
    if (error.code === 'unauthenticated') return { close: closeCodes.unauthenticated };
    if (error.code === 'forbidden') return { close: closeCodes.forbidden };
    throw error;
  }
}

/**
 * A token in the query is the only credential of a socket; headers, which browsers cannot set, are refused. Pages of other
 * origins need a stream token: CORS, which keeps them from reading responses, does not apply to sockets.
 */
async function identify(
  context: RouteContext,
  headers: IncomingHttpHeaders,
  { token, runId }: { token: string | undefined; runId: string | undefined },
): Promise<StreamReader> {
  if (headers['x-api-key'] !== undefined || headers.authorization !== undefined) {
    throw new AppError('unauthenticated', 'A socket only accepts a token in its query');
  }
  const reader = token === undefined ? undefined : await readerByStreamToken(context, token, runId);
  if (reader !== undefined) return reader;
  requireKnownOrigin(headers, context);
  const { authenticator } = context;
  return readerOf(
    token === undefined
      ? await authenticator.identifyNobody()
      : await authenticator.identifySession(token),
  );
}

/** Sends frames to a socket while it is open and reads them. */
const sender =
  (socket: WebSocket) =>
  (frame: Buffer): void => {
    if (socket.readyState !== socket.OPEN) return;
    if (socket.bufferedAmount > MAX_BEHIND_BYTES) socket.terminate();
    else socket.send(frame, { binary: false });
  };

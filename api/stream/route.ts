import type { IncomingHttpHeaders } from 'node:http';
import type { WebsocketPluginOptions } from '@fastify/websocket';
import type { FastifyInstance, FastifyRequest } from 'fastify';
import type { WebSocket } from 'ws';
import { z } from 'zod';
import { requireCapability } from '#shared/people/actor.ts';
import { closeCodes } from '#shared/contract/runs/stream.ts';
import { frameCursor } from '#shared/db/runs/frames.ts';
import { AppError } from '#shared/errors.ts';
import { idParams, responses } from '#api/http/responses.ts';
import { requireKnownOrigin } from '#api/identity/authenticate.ts';
import type { Caller, App, RouteContext, StreamAdmission } from '#api/deps.ts';
import { clientNetwork } from '#api/http/client-address.ts';
import { createFrameBus, type FrameBus } from './bus.ts';
import { createSocketSlots, type SocketSlots } from './slots.ts';
import { createSessionWatch, type SessionWatch } from './session-watch.ts';
import { createWorkspaceWatch, type WorkspaceWatch } from './workspace-watch.ts';

const MAX_INBOUND_BYTES = 64 * 1024;
/** A reader that is this far behind is disconnected. It can reconnect and read the run again. */
export const MAX_BEHIND_BYTES = 1024 * 1024;
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
    .meta({ type: 'string', description: 'Session token' }),
});

const runStreamQuery = streamQuery.extend({
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

/** `WS /api/runs/{id}/stream` and `WS /api/stream`. They send frames and ignore what they receive. */
export function streamRoutes(app: App, context: RouteContext): void {
  const { db, log, config } = context;
  const bus = createFrameBus({ db, log, databaseUrl: config.database.url });
  const workspaces = createWorkspaceWatch({ db, log, bus });
  const sessions = createSessionWatch({ db, log });
  const sockets: Sockets = {
    context,
    slots: createSocketSlots(config.api.streamSockets),
    sessions,
  };
  app.addHook('onClose', async () => {
    sessions.stop();
    workspaces.stop();
    await bus.stop();
  });
  app.decorateRequest('admission', null);

  streamRuns(app, sockets, bus);
  streamWorkspaces(app, sockets, workspaces);
}

function streamRuns(app: App, sockets: Sockets, bus: FrameBus): void {
  const { db } = sockets.context;
  app.get('/api/runs/:id/stream', {
    schema: {
      tags: ['Runs'],
      operationId: 'streamRun',
      summary: "Follow a run's frames over a WebSocket",
      description: `Frames of events after the connection, each with \`run_id\` and \`type\`. ${closing('run')}`,
      params: idParams,
      querystring: runStreamQuery,
      response: responses({ 101: z.undefined().meta({ description: 'Switching to WebSocket' }) }),
    },
    ...socketHandlers(sockets, ({ params: { id }, query }) => ({
      runId: id,
      begin: async (workspaceId) => {
        const after = await frameCursor(db, { workspaceId, runId: id });
        if (after === undefined) return undefined;
        const deltas = query.deltas === 'true';
        return (deliver) => bus.subscribe({ runId: id, after, deltas, deliver });
      },
    })),
  });
}

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
        return (deliver) => workspaces.subscribe(workspaceId, since, deliver);
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
}

type Follow = Extract<StreamAdmission, { follow: unknown }>['follow'];

/** What a socket follows. */
interface Subject {
  runId: string | undefined;
  /** Reads where the frames begin; undefined when the workspace has no such run. */
  begin: (workspaceId: string) => Promise<Follow | undefined>;
}

interface StreamRequest {
  Params: { id: string };
  Querystring: { token?: string; deltas?: string };
}

/** The handlers of a stream. Admission comes before the handshake: no frame after the caller sees an open socket is missed. */
function socketHandlers(
  { context, slots, sessions }: Sockets,
  subjectOf: (request: { params: { id: string }; query: { deltas?: string } }) => Subject,
) {
  return {
    config: { capability: 'view', stream: true } as const,
    preHandler: async (request: FastifyRequest) => {
      if (!request.ws) return;
      const { params, query, headers } = request as FastifyRequest<StreamRequest>;
      request.admission = await admit(context, slots, subjectOf({ params, query }), {
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
      const { credential, follow } = admission;
      if (credential.kind === 'session') sessions.add(socket, credential.session);
      socket.on('close', follow(sender(socket)));
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
    // In both modes, because CORS, which keeps pages from reading responses, does not apply to sockets.
    requireKnownOrigin(headers, context);
    const { actor, credential } = await identify(context, headers, token);
    requireCapability(actor, 'view');
    const { workspaceId } = actor;
    const follow = await begin(workspaceId);
    if (follow === undefined) return { close: closeCodes.not_found };
    const caller =
      credential.kind === 'session'
        ? { kind: 'member' as const, id: credential.session.memberId }
        : { kind: 'address' as const, id: network };
    const slot = slots.take({ runId, workspaceId, caller });
    if ('refusal' in slot) return { close: closeCodes.too_many, reason: slot.refusal };
    return { credential, follow, release: slot.release };
  } catch (error) {
    if (!(error instanceof AppError)) throw error;
    if (error.code === 'unauthenticated') return { close: closeCodes.unauthenticated };
    if (error.code === 'forbidden') return { close: closeCodes.forbidden };
    throw error;
  }
}

/** A token in the query is the only credential of a stream; headers, which browsers cannot set, are refused. */
async function identify(
  { authenticator }: RouteContext,
  headers: IncomingHttpHeaders,
  token: string | undefined,
): Promise<Caller> {
  if (headers['x-api-key'] !== undefined || headers.authorization !== undefined) {
    throw new AppError('unauthenticated', 'A stream only accepts a session token in its query');
  }
  return token === undefined
    ? authenticator.identifyNobody()
    : authenticator.identifySession(token);
}

/** Sends frames to a socket while it is open and reads them. */
const sender =
  (socket: WebSocket) =>
  (frame: Buffer): void => {
    if (socket.readyState !== socket.OPEN) return;
    if (socket.bufferedAmount > MAX_BEHIND_BYTES) socket.terminate();
    else socket.send(frame, { binary: false });
  };

import type { IncomingHttpHeaders } from 'node:http';
import type { WebsocketPluginOptions } from '@fastify/websocket';
import type { FastifyInstance, FastifyRequest } from 'fastify';
import type { WebSocket } from 'ws';
import { z } from 'zod';
import { requireCapability } from '../../shared/actor.ts';
import { closeCodes } from '../../shared/contract/stream.ts';
import { frameCursor } from '../../shared/db/runs/frames.ts';
import { AppError } from '../../shared/errors.ts';
import { answers, runParams } from '../http/responses.ts';
import { type Caller, requireKnownOrigin } from '../identity/authenticate.ts';
import { clientNetwork } from '../http/client-address.ts';
import type { App, RouteContext, StreamAdmission } from '../deps.ts';
import { createFrameBus, type FrameBus } from './bus.ts';
import { createSocketSlots, type SocketSlots } from './slots.ts';
import { createSessionWatch } from './session-watch.ts';

const MAX_INBOUND_BYTES = 64 * 1024;
/** A reader this far behind is disconnected; it can reconnect and read the run again. */
export const MAX_BEHIND_BYTES = 1024 * 1024;
/** How long a socket may take to close when the process stops. */
const GOODBYE_MS = 200;

export const socketOptions: WebsocketPluginOptions = {
  options: {
    maxPayload: MAX_INBOUND_BYTES,
    perMessageDeflate: false,
    autoPong: false,
    // The stream uses no subprotocol, and naming one would say that it does.
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

/** Answers a handshake at an address other than a stream's with plain HTTP, after authentication. */
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
  deltas: z
    .enum(['true', 'false'])
    .optional()
    .meta({
      description:
        'With `true` the stream also has `agent_turn` frames, and `agent_delta` frames with the answers of models as ' +
        'they arrive',
    }),
});

/** `WS /api/runs/{id}/stream`. Sends frames; ignores what it receives. */
export function streamRoutes(app: App, context: RouteContext): void {
  const { db, log, config } = context;
  const bus = createFrameBus({ db, log, databaseUrl: config.database.url });
  const slots = createSocketSlots(config.api.streamSockets);
  const sessions = createSessionWatch({ db, log });
  app.addHook('onClose', async () => {
    sessions.stop();
    await bus.stop();
  });
  app.decorateRequest('admission', null);

  app.route({
    method: 'GET',
    url: '/api/runs/:id/stream',
    schema: {
      tags: ['Runs'],
      operationId: 'streamRun',
      summary: "Follow a run's frames over a WebSocket",
      description:
        'Frames of events after the connection, each with `run_id` and `type`. Closed with 4401 without a valid ' +
        '`token` where one is required, 4403 without the `view` permission, 4404 for an unknown run, 1013 when the ' +
        'caller, the run, the workspace or the process has too many streams; the reason of the close frame says which.',
      params: runParams,
      querystring: streamQuery,
      response: answers({ 101: z.undefined().meta({ description: 'Switching to WebSocket' }) }),
    },
    config: { capability: 'view', stream: true },
    // Before the handshake: no frame after the caller sees an open socket is missed.
    preHandler: async (request) => {
      if (!request.ws) return;
      const { params, query, headers } = request;
      request.admission = await admit(context, slots, {
        runId: params.id,
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
    wsHandler: (socket: WebSocket, request: FastifyRequest<{ Params: { id: string } }>) => {
      const admission = request.admission ?? { close: closeCodes.unauthenticated };
      if ('close' in admission) return socket.close(admission.close, admission.reason);
      const { after, credential } = admission;
      if (credential.kind === 'session') sessions.add(socket, credential.session);
      const { deltas: wanted } = request.query as { deltas?: string };
      const deltas = wanted === 'true';
      return follow(socket, bus, { runId: request.params.id, after, deltas });
    },
  });
}

async function admit(
  context: RouteContext,
  slots: SocketSlots,
  {
    runId,
    headers,
    token,
    network,
  }: { runId: string; headers: IncomingHttpHeaders; token: string | undefined; network: string },
): Promise<StreamAdmission> {
  try {
    // In both modes: CORS, which keeps pages from reading responses, does not apply to sockets.
    requireKnownOrigin(headers, context);
    const { actor, credential } = await identify(context, headers, token);
    requireCapability(actor, 'view');
    const after = await frameCursor(context.db, { workspaceId: actor.workspaceId, runId });
    if (after === undefined) return { close: closeCodes.not_found };
    const caller =
      credential.kind === 'session'
        ? { kind: 'member' as const, id: credential.session.memberId }
        : { kind: 'address' as const, id: network };
    const slot = slots.take({ runId, workspaceId: actor.workspaceId, caller });
    if ('refusal' in slot) return { close: closeCodes.too_many, reason: slot.refusal };
    return { after, credential, release: slot.release };
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

function follow(
  socket: WebSocket,
  bus: FrameBus,
  from: { runId: string; after: number; deltas: boolean },
): void {
  const unsubscribe = bus.subscribe({
    ...from,
    deliver: (frame) => {
      if (socket.readyState !== socket.OPEN) return;
      if (socket.bufferedAmount > MAX_BEHIND_BYTES) socket.terminate();
      else socket.send(frame, { binary: false });
    },
  });
  socket.on('close', unsubscribe);
}

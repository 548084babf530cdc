import { z } from 'zod';
import {
  eventDetailSchema,
  eventInput,
  eventPage,
  eventQuery,
  eventSchema,
} from '#shared/contract/events/event.ts';
import { listEvents, readEventDetail } from '#shared/db/events/events.ts';
import { sendEvent } from '#shared/operations/events/events.ts';
import type { App, RouteContext } from '#api/deps.ts';
import { responses } from '#api/http/responses.ts';

export function eventRoutes(app: App, context: RouteContext): void {
  const { db } = context;

  app.post('/api/events', {
    schema: {
      operationId: 'sendWorkspaceEvent',
      summary: 'Send an event',
      description:
        'Ends every `wait` of an open run that waits for it, also one that is reached later: an event counts for all runs ' +
        'that were created before it. 201 means that the event is stored, and waits end right after. With an `id`, the same ' +
        'event is stored once, and 200 returns it.',
      body: eventInput,
      response: responses(
        { 200: eventSchema, 201: eventSchema },
        'conflict',
        'idempotency_mismatch',
      ),
    },
    config: { capability: 'run_workflows', headers: ['Location'] },
    handler: async ({ actor, body: { id, ...event } }, reply) => {
      const { workspaceId, id: by, name } = actor;
      const sent = await sendEvent(context, {
        ...{ ...event, workspaceId, givenId: id, source: 'api' },
        by: { id: by, name },
      });
      if (!sent.created) return reply.code(200).send(sent.event);
      return reply.code(201).header('location', `/api/events/${sent.event.id}`).send(sent.event);
    },
  });

  app.get('/api/events', {
    schema: {
      operationId: 'listWorkspaceEvents',
      summary: 'List events, newest first',
      querystring: eventQuery,
      response: responses({ 200: eventPage }),
    },
    config: { capability: 'view' },
    handler: ({ actor, query: { name, ...page } }) =>
      listEvents(db, { workspaceId: actor.workspaceId, name }, page),
  });

  app.get('/api/events/:id', {
    schema: {
      operationId: 'getWorkspaceEvent',
      summary: 'Read an event, with the waits that it has ended',
      params: z.strictObject({ id: z.string().min(1) }),
      response: responses({ 200: eventDetailSchema }),
    },
    config: { capability: 'view' },
    handler: ({ actor, params }) =>
      readEventDetail(db, { workspaceId: actor.workspaceId, id: params.id }),
  });
}

import { z } from 'zod';
import { envelopeOf } from '#shared/contract/data/envelope.ts';
import {
  eventCredits,
  eventListQuery,
  intelligenceEventSchema,
} from '#shared/contract/data/event.ts';
import { listEvents, markDelivered, readEvent } from '#shared/db/data/events.ts';
import { idParams, responses } from '#api/http/responses.ts';
import { answerData } from '#api/data/envelope.ts';
import { openPage } from '#api/data/page.ts';
import type { App, RouteContext } from '#api/deps.ts';

export function dataEventRoutes(app: App, { db, meter, dataCursors }: RouteContext): void {
  app.get('/v1/events', {
    schema: {
      operationId: 'listEvents',
      summary: 'List intelligence events, newest first',
      description:
        '3 credits per event, 10 if it is `human_reviewed` or `multi_source_verified`. Events are marked as delivered ' +
        'by the first page that contains them, and stay listed.',
      querystring: eventListQuery,
      response: responses(
        { 200: envelopeOf(z.array(intelligenceEventSchema)) },
        'credits_exhausted',
      ),
    },
    config: { scope: 'events:read' },
    handler: async (request) => {
      const { caller } = request.dataCall;
      const { filter, page, next } = openPage(dataCursors, caller, 'events', request.query);
      const { rows, end } = await listEvents(db, caller, filter, page);
      if (rows.length === 0) return answerData(request, rows);
      const cost = { operation: 'listEvents', credits: eventCredits(rows), records: rows.length };
      const delivered = await meter.chargeWith(request, cost, (tx) =>
        markDelivered(tx, caller, rows),
      );
      return answerData(request, delivered, next(end));
    },
  });

  app.get('/v1/events/:id', {
    schema: {
      operationId: 'readEvent',
      summary: 'Read an event with its evidence and its match reasons',
      description: 'Costs no credits.',
      params: idParams,
      querystring: z.strictObject({}),
      response: responses({ 200: envelopeOf(intelligenceEventSchema) }),
    },
    config: { scope: 'events:read' },
    handler: async (request) =>
      answerData(request, await readEvent(db, request.dataCall.caller, request.params.id)),
  });
}

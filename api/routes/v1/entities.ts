import { z } from 'zod';
import {
  ENTITY_CREDITS,
  entityDetailSchema,
  entityListQuery,
  entityReadQuery,
  entitySchema,
  HISTORY_CREDITS,
} from '#shared/contract/data/entity.ts';
import { envelopeOf } from '#shared/contract/data/envelope.ts';
import { listEntities, listVersions, MAX_VERSIONS, readEntity } from '#shared/db/data/entities.ts';
import { idParams, responses } from '#api/http/responses.ts';
import { answerData } from '#api/data/envelope.ts';
import { openPage } from '#api/data/page.ts';
import type { App, RouteContext } from '#api/deps.ts';

const newestVersions = { limit: MAX_VERSIONS, after: undefined };

export function dataEntityRoutes(app: App, { db, meter, dataCursors }: RouteContext): void {
  app.get('/v1/entities', {
    schema: {
      operationId: 'listEntities',
      summary: 'List records, newest first',
      description:
        'One credit per record. Newest is the last first observation; with `updated_since`, the last update.',
      querystring: entityListQuery,
      response: responses({ 200: envelopeOf(z.array(entitySchema)) }, 'credits_exhausted'),
    },
    config: { scope: 'entities:read' },
    handler: async (request) => {
      const { caller } = request.dataCall;
      const { filter, page, next } = openPage(dataCursors, caller, 'entities', request.query);
      const { rows, end } = await listEntities(db, caller, filter, page);
      const count = rows.length;
      await meter.charge(request, { operation: 'listEntities', credits: count, records: count });
      return answerData(request, rows, next(end));
    },
  });

  app.get('/v1/entities/:id', {
    schema: {
      operationId: 'readEntity',
      summary: 'Read a record, optionally with its history',
      description: `${ENTITY_CREDITS} credits; with the history ${HISTORY_CREDITS} in total.`,
      params: idParams,
      querystring: entityReadQuery,
      response: responses({ 200: envelopeOf(entityDetailSchema) }, 'credits_exhausted'),
    },
    config: { scope: 'entities:read' },
    handler: async (request) => {
      const { caller } = request.dataCall;
      const entity = await readEntity(db, caller, request.params.id);
      const withHistory = request.query.include === 'history';
      const history = withHistory
        ? (await listVersions(db, caller, entity.id, newestVersions)).rows
        : undefined;
      const credits = withHistory ? HISTORY_CREDITS : ENTITY_CREDITS;
      await meter.charge(request, { operation: 'readEntity', credits, records: 1 });
      return answerData(request, { ...entity, history });
    },
  });
}

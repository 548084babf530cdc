import { z } from 'zod';
import { dataPageQuery, envelopeOf } from '#shared/contract/data/envelope.ts';
import { sourceSchema } from '#shared/contract/data/source.ts';
import { listSources } from '#shared/db/data/sources.ts';
import { responses } from '#api/http/responses.ts';
import { answerData } from '#api/data/envelope.ts';
import { openPage, pageOfWhole } from '#api/data/page.ts';
import type { App, RouteContext } from '#api/deps.ts';

export function sourceReadRoutes(app: App, { db, dataCursors }: RouteContext): void {
  app.get('/v1/sources', {
    schema: {
      operationId: 'listSources',
      summary: 'List the sources of records and their health, newest first',
      description: 'Costs no credits.',
      querystring: dataPageQuery,
      response: responses({ 200: envelopeOf(z.array(sourceSchema)) }),
    },
    config: { scope: 'sources:read' },
    handler: async (request) => {
      const { caller } = request.dataCall;
      const { page, next } = openPage(dataCursors, caller, 'sources', request.query);
      const { workspaceId, isDemo } = caller;
      const { rows, end } = pageOfWhole(await listSources(db, { workspaceId, isDemo }), page);
      return answerData(request, rows, next(end));
    },
  });
}

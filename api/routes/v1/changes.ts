import { z } from 'zod';
import { changeListQuery, changeSchema } from '#shared/contract/data/change.ts';
import { envelopeOf } from '#shared/contract/data/envelope.ts';
import { listChanges } from '#shared/db/data/changes.ts';
import { responses } from '#api/http/responses.ts';
import { answerData } from '#api/data/envelope.ts';
import { openPage } from '#api/data/page.ts';
import type { App, RouteContext } from '#api/deps.ts';

export function dataChangeRoutes(app: App, { db, meter, dataCursors }: RouteContext): void {
  app.get('/v1/changes', {
    schema: {
      operationId: 'listChanges',
      summary: 'List changes of records, attribute by attribute, newest first',
      description: 'One credit per change.',
      querystring: changeListQuery,
      response: responses({ 200: envelopeOf(z.array(changeSchema)) }, 'credits_exhausted'),
    },
    config: { scope: 'entities:read' },
    handler: async (request) => {
      const { caller } = request.dataCall;
      const { filter, page, next } = openPage(dataCursors, caller, 'changes', request.query);
      const { rows, end } = await listChanges(db, caller, filter, page);
      const count = rows.length;
      await meter.charge(request, { operation: 'listChanges', credits: count, records: count });
      return answerData(request, rows, next(end));
    },
  });
}

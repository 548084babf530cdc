import { z } from 'zod';
import { envelopeOf } from '#shared/contract/data/envelope.ts';
import { dataUsageSchema } from '#shared/contract/data/usage.ts';
import { readDataUsage } from '#shared/db/data/usage.ts';
import { responses } from '#api/http/responses.ts';
import { answerData } from '#api/data/envelope.ts';
import type { App, RouteContext } from '#api/deps.ts';

export function dataUsageRoutes(app: App, { db }: RouteContext): void {
  app.get('/v1/usage', {
    schema: {
      operationId: 'getUsage',
      summary: 'Read the use of this month, by the organization and by this key',
      querystring: z.strictObject({}),
      response: responses({ 200: envelopeOf(dataUsageSchema) }),
    },
    config: { scope: 'usage:read' },
    handler: async (request) =>
      answerData(request, await readDataUsage(db, request.dataCall.caller)),
  });
}

import { priceListInput, priceListSchema } from '#shared/contract/money/price.ts';
import { listPrices, replacePrices } from '#shared/db/money/prices.ts';
import { responses } from '#api/http/responses.ts';
import type { EditedRecord } from '#api/http/conditional.ts';
import type { App, RouteContext } from '#api/deps.ts';

const record: EditedRecord = {
  noun: 'workspace',
  schema: priceListSchema,
  read: async (db, { actor }) => ({ prices: [...(await listPrices(db, actor.workspaceId))] }),
};

export function priceRoutes(app: App, { db }: RouteContext): void {
  app.get('/api/workspace/prices', {
    schema: {
      operationId: 'getPrices',
      summary: "Read the workspace's own prices",
      response: responses({ 200: priceListSchema }),
    },
    config: { capability: 'view', record },
    handler: async (request) => ({
      prices: [...(await listPrices(db, request.actor.workspaceId))],
    }),
  });

  app.put('/api/workspace/prices', {
    schema: {
      operationId: 'setPrices',
      summary: "Replace the workspace's own prices",
      description: 'Models without a price here use the built-in table.',
      body: priceListInput.meta({
        examples: [
          {
            prices: [
              {
                model: 'openai/gpt-5-mini',
                input_usd_per_million: 0.2,
                output_usd_per_million: 1.6,
              },
            ],
          },
        ],
      }),
      response: responses({ 200: priceListSchema }),
    },
    config: { capability: 'manage_workspace', record },
    handler: async (request) => {
      await replacePrices(request.writes, request.actor, request.body.prices);
      return { prices: [...(await listPrices(db, request.actor.workspaceId))] };
    },
  });
}

import fastify from 'fastify';
import {
  serializerCompiler,
  validatorCompiler,
  type ZodTypeProvider,
} from 'fastify-type-provider-zod';
import { z } from 'zod';
import { createDataAccess, guardDataRoutes } from '#api/data/access.ts';
import { answerData } from '#api/data/envelope.ts';
import type { App } from '#api/deps.ts';
import { answerErrors } from '#api/http/error-handler.ts';
import { acceptJson } from '#api/http/body.ts';
import { createKeyUses } from '#api/identity/key-uses.ts';
import { createMeter } from '#api/data/meter.ts';
import { envelopeOf } from '#shared/contract/data/envelope.ts';
import { recordDataKeyUses } from '#shared/db/people/key-uses.ts';
import { connectDatabase, sql } from '#shared/db/pool.ts';
import type { Logger } from '#shared/platform/logger.ts';
import type { TestApi } from '#test/api/test-api.ts';

const cost = z.object({
  credits: z.coerce.number().int(),
  records: z.coerce.number().int().default(1),
});

/**
 * A process of the data API with its own connections and routes whose price is in the request: `POST /v1/pay` charges
 * it, `POST /v1/pay-and-note` also writes the request's id into the table `notes` with the charge.
 */
export async function startMeteredApp({ databaseUrl, config, app: { log } }: TestApi) {
  const db = await connectDatabase(databaseUrl, { maxPoolSize: 4 });
  const deps = { db, config, log: log as unknown as Logger };
  const meter = createMeter(deps);
  const dataKeyUses = createKeyUses(deps, recordDataKeyUses);
  const dataAccess = createDataAccess({ ...deps, meter, dataKeyUses });
  const app: App = fastify().withTypeProvider<ZodTypeProvider>();
  app.setValidatorCompiler(validatorCompiler);
  app.setSerializerCompiler(serializerCompiler);
  app.decorateRequest('dataCall');
  app.decorateRequest('dataAccount');
  acceptJson(app);
  answerErrors(app, { config, dataAccess, authenticator: undefined as never });
  guardDataRoutes(app, { dataAccess });
  const schema = { body: cost, response: { 200: envelopeOf(z.string()) } };
  const config_ = { scope: 'entities:read' } as const;
  app.post('/v1/pay', { schema, config: config_ }, async (request) => {
    await meter.charge(request, { operation: 'pay', ...request.body });
    return answerData(request, 'paid');
  });
  app.post('/v1/pay-and-note', { schema, config: config_ }, async (request) => {
    const note = `${request.id} ${String(request.headers['x-note'])}`;
    await meter.chargeWith(request, { operation: 'note', ...request.body }, (tx) =>
      tx.query(sql.unsafe`INSERT INTO notes VALUES (${note})`),
    );
    return answerData(request, 'noted');
  });
  await app.ready();
  return {
    db,
    pay: async (headers: Record<string, string>, body: unknown, path = 'pay') => {
      const answer = await app.inject({
        method: 'POST',
        url: `/v1/${path}`,
        headers: { ...headers, 'content-type': 'application/json' },
        payload: JSON.stringify(body),
      });
      return { status: answer.statusCode, headers: answer.headers, body: answer.json() };
    },
    stop: async () => {
      await app.close();
      await dataKeyUses.stop();
      await db.end();
    },
  };
}

import type { FastifyInstance, FastifyRequest } from 'fastify';
import type { ZodTypeProvider } from 'fastify-type-provider-zod';
import { z } from 'zod';
import { jsonValue } from '#shared/contract/common.ts';
import { createCallbackTokens } from '#shared/crypto/callback-tokens.ts';
import { AppError } from '#shared/errors.ts';
import { jsonBody } from '#shared/operations/inbound/event.ts';
import { acceptCallback } from '#shared/operations/waits/callbacks.ts';
import type { App, RouteContext } from '#api/deps.ts';
import { responses } from '#api/http/responses.ts';
import { callbackToken } from '#api/inbound/address.ts';

const params = z.strictObject({
  token: z.string().meta({ description: 'As in the address that the run has sent' }),
});

const received = z
  .object({ received: z.literal(true) })
  .meta({ id: 'CallbackReceived', examples: [{ received: true }] });

/** Programs that check a link get this page, and nothing happens. */
const PAGE = `<!doctype html>
<html lang="en">
<meta charset="utf-8">
<meta name="robots" content="noindex">
<title>Address of a callback</title>
<h1>Address of a callback</h1>
<p>A workflow waits here for the answer of another program: one POST request with JSON.</p>
<p>Opening this page changes nothing. Anyone who has this address can send the answer, so keep it secret.</p>
</html>
`;

/** Ends waits for anyone who has the address of one. */
export function callbackRoutes(app: App, context: RouteContext): void {
  const tokens = createCallbackTokens(context.config);
  app.register(async (plugin) => {
    const scope = plugin.withTypeProvider<ZodTypeProvider>();
    readBytes(scope);
    const findStep = async (request: FastifyRequest): Promise<void> => {
      const token = callbackToken(request.url);
      const step = token === undefined ? undefined : tokens?.stepOf(token);
      if (step === undefined) throw new AppError('not_found', 'Not found');
      request.callback = { step, body: Buffer.alloc(0) };
      // The declared content type is ignored: every type is accepted and parsed the same way.
      delete request.raw.headers['content-type'];
      delete request.raw.headers['content-encoding'];
    };
    scope.route({
      method: 'POST',
      url: '/api/callbacks/:token',
      schema: {
        tags: ['Events'],
        security: [],
        params,
        operationId: 'receiveCallback',
        summary: 'End a wait with a callback',
        description:
          'The address is the credential. The body, which is any JSON, is the output of the step that waits; it is kept if ' +
          'the step is not reached yet. The first body counts: the same one again is 200, and another one is 409. 410: the ' +
          'run has ended, or the step no longer waits. The content type does not matter.',
        body: jsonValue.meta({
          description: 'Any JSON except null. The body is read as bytes.',
          examples: [{ order: 'A-1', accepted: true }],
        }),
        response: responses({ 200: received }, 'conflict', 'gone'),
      },
      config: { capability: 'public', anyMediaType: true },
      onRequest: findStep,
      handler: async ({ callback }) => {
        const body = await jsonBody(callback.body);
        // It would look like a wait whose time ran out.
        if (body === null) throw new AppError('invalid', 'Body must be JSON, and not null');
        await acceptCallback(context.db, callback.step, body);
        return { received: true as const };
      },
    });
    scope.route({
      method: 'GET',
      url: '/api/callbacks/:token',
      // For people who open the address. Programs only send to it.
      schema: { hide: true, params, response: { 200: z.string() } },
      config: { capability: 'public' },
      onRequest: findStep,
      handler: async (_request, reply) => {
        reply.type('text/html; charset=utf-8').serializer(String);
        return PAGE;
      },
    });
  });
}

/** Keeps the raw bytes of a body, which can have any content type. */
function readBytes(scope: FastifyInstance): void {
  scope.decorateRequest('callback');
  scope.removeAllContentTypeParsers();
  scope.addContentTypeParser(
    '*',
    { parseAs: 'buffer' },
    async (request: FastifyRequest, body: Buffer) => {
      request.callback.body = body;
    },
  );
}

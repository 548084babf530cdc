import type { FastifyInstance, FastifyRequest } from 'fastify';
import type { ZodTypeProvider } from 'fastify-type-provider-zod';
import { z } from 'zod';
import { jsonObject } from '#shared/contract/common.ts';
import { SLACK_INTERACTIONS_PATH } from '#shared/contract/slack/settings.ts';
import { receiveInteraction } from '#shared/operations/slack/interactions.ts';
import type { App, RouteContext } from '#api/deps.ts';

/** A modal has at most a hundred blocks, most of them short. */
const MAX_BODY_BYTES = 524_288;

/**
 * What people click in Slack. The form, the signature and the answers are those of Slack's protocol, so the route is not part of
 * the OpenAPI document.
 */
export function slackRoutes(app: App, context: RouteContext): void {
  app.register(async (plugin) => {
    const scope = plugin.withTypeProvider<ZodTypeProvider>();
    readForms(scope);
    scope.post(SLACK_INTERACTIONS_PATH, {
      bodyLimit: MAX_BODY_BYTES,
      schema: { hide: true, response: { 200: z.union([jsonObject, z.literal('')]) } },
      config: { capability: 'public' },
      handler: async ({ headers, body }, reply) => {
        const { answer, rest } = await receiveInteraction(context, {
          timestamp: String(headers['x-slack-request-timestamp']),
          signature: String(headers['x-slack-signature']),
          body: body as Buffer,
        });
        await context.inFlight.add(rest);
        if (answer !== undefined) return answer;
        // Slack shows an error for any other body.
        return reply.type('text/plain; charset=utf-8').serializer(String).send('');
      },
    });
  });
}

/** The signature covers the bytes of the form. */
function readForms(scope: FastifyInstance): void {
  scope.removeAllContentTypeParsers();
  scope.addContentTypeParser(
    'application/x-www-form-urlencoded',
    { parseAs: 'buffer' },
    async (_request: FastifyRequest, body: Buffer) => body,
  );
}

import type { FastifyInstance } from 'fastify';

/** Sends the entity tag of a record in the header, too. Lists have none: each of their records has its own. */
export function sendEtags(app: FastifyInstance): void {
  app.addHook('preSerialization', async (_request, reply, payload) => {
    const { etag } = (payload ?? {}) as { etag?: unknown };
    if (typeof etag === 'string') reply.header('etag', `"${etag}"`);
    return payload;
  });
}

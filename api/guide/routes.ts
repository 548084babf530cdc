import type { FastifyInstance, FastifyReply } from 'fastify';
import { z } from 'zod';
import { AppError } from '#shared/errors.ts';
import { fullText, guide, llmsText } from './pages.ts';

/** It only changes with the service. */
const TTL_SECONDS = 3_600;

/** The documentation as Markdown, without a credential. `base`: the address of its links, or '' for paths. */
export function serveGuide(app: FastifyInstance, base: string): void {
  const route = {
    schema: { hide: true, response: { 200: z.string() } },
    config: { capability: 'public' as const },
    // It is text already.
    serializerCompiler: () => (text: unknown) => text as string,
  };
  const send = (reply: FastifyReply, text: string, type = 'text/plain'): FastifyReply =>
    reply
      .header('cache-control', `public, max-age=${TTL_SECONDS}`)
      .type(`${type}; charset=utf-8`)
      .send(text);
  app.get('/llms.txt', {
    ...route,
    handler: (_request, reply) => send(reply, llmsText(guide(), base)),
  });
  app.get('/llms-full.txt', {
    ...route,
    handler: (_request, reply) => send(reply, fullText(guide())),
  });
  app.get<{ Params: { page: string } }>('/docs/guide/:page', {
    ...route,
    handler: (request, reply) => {
      const page = guide()
        .flatMap((section) => section.pages)
        .find(({ name }) => request.params.page === `${name}.md`);
      if (page === undefined) throw new AppError('not_found', 'Page not found');
      return send(reply, page.text, 'text/markdown');
    },
  });
}

import type { FastifyInstance, FastifyReply } from 'fastify';
import { z } from 'zod';
import { wantsPage } from '#api/http/wants-page.ts';
import { AppError } from '#shared/errors.ts';
import { fullText, guide, llmsText } from './pages.ts';
import { loadSite } from './site.ts';

const NOT_BUILT =
  'The documentation site is not built. Run `node scripts/setup.mjs` and start the service again.';
/** It only changes with the service. */
const TTL_SECONDS = 3_600;

/** The documentation as a site and as Markdown, without a credential. `base`: the address of its links, or '' for paths. */
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
  app.get('/docs/guide', {
    ...route,
    schema: { hide: true, response: { 301: z.null() } },
    handler: (_request, reply) => reply.redirect('/docs/guide/', 301),
  });
  const site = loadSite(app);
  app.get<{ Params: { '*': string } }>('/docs/guide/*', {
    ...route,
    handler: (request, reply) => {
      const { '*': address } = request.params;
      if (!address.endsWith('.md')) {
        if (site === undefined) throw new AppError('not_found', NOT_BUILT);
        const sent = site.send(reply, address);
        if (sent !== undefined) return sent;
        return wantsPage(request) ? site.sendMissing(reply) : missing();
      }
      const page = guide()
        .flatMap((section) => section.pages)
        .find(({ path }) => path === address);
      return page === undefined ? missing() : send(reply, page.text, 'text/markdown');
    },
  });
}

function missing(): never {
  throw new AppError('not_found', 'Page not found');
}

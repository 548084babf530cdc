import { existsSync, readdirSync } from 'node:fs';
import { join } from 'node:path';
import files from '@fastify/static';
import type { FastifyInstance, FastifyReply } from 'fastify';

/** The folder of the site's build: next to the API, both in the sources and in the image. */
const built = join(import.meta.dirname, '../../site/dist');
/** Asset names contain the hash of their content. */
const ASSET_TTL_MS = 365 * 86_400_000;
const ASSETS = 'assets/';
const MISSING = '404.html';

/** Allows only the service's own files, and no inline scripts or styles. */
const POLICY = [
  "default-src 'none'",
  "script-src 'self'",
  "style-src 'self'",
  "img-src 'self'",
  "font-src 'self'",
  "connect-src 'self'",
  "base-uri 'none'",
  "form-action 'none'",
  "frame-ancestors 'none'",
].join('; ');

export interface Site {
  /** Sends the page or asset at an address below `/docs/guide/`; undefined if there is none. */
  send: (reply: FastifyReply, address: string) => FastifyReply | undefined;
  /** Sends the page for an address without a page, with status 404. */
  sendMissing: (reply: FastifyReply) => FastifyReply;
}

/** The build of the documentation site. Undefined without one: the API also works without the site. */
export function loadSite(app: FastifyInstance, folder = built): Site | undefined {
  if (!existsSync(join(folder, 'index.html'))) return undefined;
  const paths = new Set(readdirSync(folder, { recursive: true, encoding: 'utf8' }));
  app.register(files, { root: folder, serve: false, preCompressed: true });
  // Its assets have new names after an update, so a browser asks whether it has changed.
  const sendPage = (reply: FastifyReply, page: string): FastifyReply =>
    reply
      .header('content-security-policy', POLICY)
      .header('cache-control', 'no-cache')
      .sendFile(page, { cacheControl: false });
  return {
    send: (reply, address) => {
      if (address.startsWith(ASSETS)) {
        return paths.has(address)
          ? reply.sendFile(address, { immutable: true, maxAge: ASSET_TTL_MS })
          : undefined;
      }
      const page = `${address === '' ? 'index' : address}.html`;
      return paths.has(page) && page !== MISSING ? sendPage(reply, page) : undefined;
    },
    sendMissing: (reply) => sendPage(reply.code(404), MISSING),
  };
}

import { randomBytes } from 'node:crypto';
import { existsSync, readFileSync } from 'node:fs';
import { join } from 'node:path';
import files from '@fastify/static';
import type { FastifyInstance, FastifyReply, FastifyRequest, RouteOptions } from 'fastify';
import { z } from 'zod';
import { wantsPage } from '#api/http/wants-page.ts';

/** The folder of the console's build: next to the API, both in the sources and in the image. */
const builtConsole = join(import.meta.dirname, '../console/dist');
const ASSETS = '/assets/';
const NONCE = '__CSP_NONCE__';
/** Asset names contain the hash of their content. */
const ASSET_TTL_MS = 365 * 86_400_000;

/** Paths for programs. No page of the console uses them. */
const programs = /^\/(?:api|v1|docs|schemas|assets|metrics|llms(?:-full)?\.txt)(?:[/?]|$)/;

/** The console's build: one document for all of its pages, and assets that never change. */
export interface Console {
  assets: string;
  /** Whether a browser requests a page of the console. */
  isPage: (request: FastifyRequest) => boolean;
  sendPage: (reply: FastifyReply) => FastifyReply;
}

/** Reads the console's document. Undefined without a build: the API also works without the console. */
export function loadConsole(folder = builtConsole): Console | undefined {
  const path = join(folder, 'index.html');
  if (!existsSync(path)) return undefined;
  const document = readFileSync(path, 'utf8');
  return {
    assets: join(folder, 'assets'),
    isPage: (request) =>
      (request.method === 'GET' || request.method === 'HEAD') &&
      wantsPage(request) &&
      !programs.test(request.url),
    sendPage: (reply) => sendDocument(reply, document),
  };
}

/** Serves the console's first page and its assets; without a build, `/` redirects to the API reference. */
export function serveConsole(app: FastifyInstance, console: Console | undefined): void {
  app.get('/', {
    schema: { hide: true, response: { 200: z.string(), 302: z.null() } },
    config: { capability: 'public' },
    // The document is already text.
    serializerCompiler: () => (page) => page as string,
    handler: (_request, reply) =>
      console === undefined ? reply.redirect('/docs') : console.sendPage(reply),
  });
  if (console === undefined) return;
  app.register(files, {
    root: console.assets,
    prefix: ASSETS,
    preCompressed: true,
    immutable: true,
    maxAge: ASSET_TTL_MS,
    decorateReply: false,
    index: false,
  });
}

/** The plugin declares neither the access nor the responses of its files: they are public files. */
export const isConsoleAsset = (route: RouteOptions): boolean => route.url === `${ASSETS}*`;

function sendDocument(reply: FastifyReply, document: string): FastifyReply {
  const nonce = randomBytes(16).toString('base64');
  return (
    reply
      .code(200)
      .type('text/html; charset=utf-8')
      .header('content-security-policy', policyWith(nonce))
      // Pages are private, and the address of one can be a credential.
      .header('x-robots-tag', 'noindex, nofollow')
      .send(document.replaceAll(NONCE, nonce))
  );
}

/**
 * Allows only the service's own files, and no inline scripts. Styles that libraries add at run time have the nonce. The
 * editor and the graph set positions through the DOM API, which the policy allows.
 */
const policyWith = (nonce: string): string =>
  [
    "default-src 'none'",
    "script-src 'self'",
    `style-src 'self' 'nonce-${nonce}'`,
    "img-src 'self' data:",
    "font-src 'self'",
    "connect-src 'self'",
    "worker-src 'self'",
    "base-uri 'none'",
    "form-action 'none'",
    "frame-ancestors 'none'",
  ].join('; ');

import { createHash } from 'node:crypto';
import reference from '@scalar/fastify-api-reference';
import type { FastifyInstance, RouteOptions } from 'fastify';

const INLINE_SCRIPT = /<script(?![^>]*\ssrc=)[^>]*>([\s\S]*?)<\/script>/g;
const ASSET_TTL_SECONDS = 86_400;

/**
 * The reference page at `/docs`, served from the installed package: it loads no font or script from another host, and
 * sends no request there. Its policy allows the service's own files and, by digest, the page's only inline script.
 */
export function serveReference(app: FastifyInstance): void {
  app.register(async (scope) => {
    scope.addHook('onSend', async (request, reply, payload) => {
      if (request.routeOptions.url === '/docs/js/scalar.js') {
        reply.header('cache-control', `public, max-age=${ASSET_TTL_SECONDS}`);
      }
      if (
        typeof payload === 'string' &&
        String(reply.getHeader('content-type')).startsWith('text/html')
      ) {
        reply.header('content-security-policy', policyFor(payload));
      }
      return payload;
    });
    scope.register(reference, {
      routePrefix: '/docs',
      configuration: {
        sources: [
          { title: 'Operations API', slug: 'operations', url: '/api/openapi.json' },
          { title: 'Data API', slug: 'data', url: '/v1/openapi.json' },
        ],
        pageTitle: 'API reference',
        withDefaultFonts: false,
        telemetry: false,
        hideClientButton: true,
        showDeveloperTools: 'never',
        agent: { disabled: true },
        mcp: { disabled: true },
      },
    });
  });
}

function policyFor(html: string): string {
  const scripts = [...html.matchAll(INLINE_SCRIPT)].map(
    ([, code = '']) => `'sha256-${createHash('sha256').update(code).digest('base64')}'`,
  );
  return [
    "default-src 'none'",
    `script-src 'self' ${scripts.join(' ')}`,
    // The page writes its styles into the document.
    "style-src 'self' 'unsafe-inline'",
    "img-src 'self' data:",
    "font-src 'self' data:",
    "connect-src 'self'",
    "base-uri 'none'",
    "form-action 'none'",
    "frame-ancestors 'none'",
  ].join('; ');
}

/** The plugin declares neither the access nor the responses of its pages, which are public files. */
export function isReferencePage(route: RouteOptions): boolean {
  return route.url === '/docs' || route.url.startsWith('/docs/');
}

import { createHash } from 'node:crypto';
import reference from '@scalar/fastify-api-reference';
import type { FastifyInstance, RouteOptions } from 'fastify';
import { PRODUCT_NAME } from '#shared/values/product.ts';

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
        const page = inProduct(payload);
        reply.header('content-security-policy', policyFor(page));
        return page;
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
        pageTitle: `API reference · ${PRODUCT_NAME}`,
        customCss: READABLE,
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

/**
 * Names the buttons to copy, to which the package gives only an icon, lets keys scroll its lists of endpoints, and takes away
 * landmarks that share a name and names that differ from the text.
 */
const NAME_BUTTONS = `new MutationObserver(() => {
  for (const list of document.querySelectorAll('.endpoints:not([tabindex])')) list.tabIndex = 0;
  for (const card of document.querySelectorAll('.response-card[role="region"]')) card.setAttribute('role', 'group');
  for (const more of document.querySelectorAll('.show-more[aria-label]')) more.removeAttribute('aria-label');
  for (const button of document.querySelectorAll('button[class*="copy-button"]:not([aria-label])')) {
    button.setAttribute('aria-label', 'Copy');
  }
}).observe(document.body, { childList: true, subtree: true });`;

/** The page with its language and links to the console and the guide. A header would be a second banner on phones. */
const inProduct = (html: string): string =>
  html
    .replace('<html>', '<html lang="en">')
    .replace(
      '<body>',
      `<body><nav class="to-console" aria-label="Product"><a href="/">${PRODUCT_NAME}</a><a href="/docs/guide/">Guide</a></nav><script>${NAME_BUTTONS}</script>`,
    );

/** The package's own grays and greens have too little contrast, and its buttons in the list are too small. */
const READABLE = `
  .to-console { display: flex; gap: 20px; padding: 10px 24px; background: var(--scalar-background-1); border-bottom: 1px solid var(--scalar-border-color); font: 600 14px var(--scalar-font); }
  .to-console a { color: var(--scalar-color-1); text-decoration: none; }
  .to-console a:hover { text-decoration: underline; }
  .light-mode { --scalar-color-2: #4a4f55; --scalar-color-3: #5d646b; --scalar-color-accent: #16708f; --scalar-color-green: #04694a;
    --scalar-color-red: #b3000a; --scalar-color-yellow: #7a5a00; --scalar-color-blue: #00639f; --scalar-color-orange: #a83a00; }
  .dark-mode { --scalar-color-2: #bfc4c9; --scalar-color-3: #a9b0b7; --scalar-color-red: #ff7b7b; }
  .group\\/group-button > button, .property-toggle { min-width: 24px; min-height: 24px; }
`;

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

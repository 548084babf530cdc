import { mkdtempSync, rmSync, statSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { describe, expect, test } from '@jest/globals';
import fastify from 'fastify';
import { loadSite } from '#api/guide/site.ts';
import { useTestApi } from '#test/api/test-api.ts';
import { siteAddresses } from '#test/console/site-pages.ts';

const api = useTestApi({ AUTH_MODE: 'required' });
const read = (path: string) => api.call('GET', path);
const hrefs = (html: string): string[] =>
  [...html.matchAll(/(?:href|src|data-search)="([^"]+)"/g)].map(([, href = '']) => href);

describe('the documentation site', () => {
  test('has a page for every document, whose links, anchors, scripts and pictures are there', async () => {
    const addresses = siteAddresses();
    expect(addresses.length).toBeGreaterThan(60);
    const texts = new Map<string, string>();
    const known = new Set(['/', '/docs/', '/api/openapi.json', '/v1/openapi.json']);
    for (const address of addresses) {
      const { status, headers, text } = await read(address);
      expect([address, status, headers['content-type']]).toEqual([
        address,
        200,
        'text/html; charset=utf-8',
      ]);
      texts.set(address, text);
    }
    const broken: string[] = [];
    for (const [address, text] of texts) {
      for (const href of hrefs(text)) {
        if (/^(?:https?|mailto):/.test(href) || known.has(href)) continue;
        const { pathname, hash } = new URL(href, `http://x${address}`);
        const target = texts.get(pathname);
        if (target === undefined && pathname.startsWith('/docs/guide/assets/')) {
          if ((await read(pathname)).status === 200) known.add(href);
        }
        const anchor =
          hash === '' || target?.includes(` id="${decodeURIComponent(hash.slice(1))}"`);
        if (!known.has(href) && (target === undefined || anchor !== true)) {
          broken.push(`${address}: ${href}`);
        }
      }
    }
    expect(broken).toEqual([]);
  });

  test('has no inline script or style, and a policy without exceptions', async () => {
    const { headers, text } = await read('/docs/guide/approvals');
    expect(headers['content-security-policy']).toMatch(/^default-src 'none'; script-src 'self'; /);
    expect(headers['content-security-policy']).not.toMatch(/unsafe|https?:/);
    expect(headers['cache-control']).toBe('no-cache');
    expect(text).not.toMatch(/<script(?![^>]*\ssrc="\/docs\/guide\/assets\/)/);
    expect(text).not.toMatch(/<style|\sstyle=/);
    expect(text).toMatch(/aria-current="page">Approvals</);
  });

  test('is compressed, and its assets are kept permanently', async () => {
    const page = await read('/docs/guide/');
    const script = hrefs(page.text).find((href) => href.endsWith('.js')) ?? '';
    for (const [path, kept] of [
      ['/docs/guide/approvals', 'no-cache'],
      [script, 'public, max-age=31536000, immutable'],
    ]) {
      const { statusCode, headers } = await api.app.inject({
        url: path ?? '',
        headers: { 'accept-encoding': 'br' },
      });
      expect([statusCode, headers['content-encoding'], headers['cache-control']]).toEqual([
        ...[200, 'br', kept],
      ]);
    }
  });

  test('is small: 20 kB of compressed script and 200 kB of compressed search index at most', async () => {
    const { text } = await read('/docs/guide/');
    const size = (pattern: RegExp): number =>
      hrefs(text)
        .filter((href) => pattern.test(href))
        .map((href) => href.replace('/docs/guide/', ''))
        .map((path) => statSync(join(import.meta.dirname, '../../../site/dist', `${path}.br`)).size)
        .reduce((sum, each) => sum + each, 0);
    expect(size(/\.(?:js|css)$/)).toBeLessThan(20_000);
    expect(size(/\.json$/)).toBeLessThan(200_000);
  });

  test.each(['nothing', '..%2fpackage.json', 'assets/nothing.js', 'index.html', 'assets/'])(
    'has nothing at %s',
    async (address) => {
      expect((await read(`/docs/guide/${address}`)).status).toBe(404);
    },
  );

  test('answers browsers with a page where it has nothing, and programs with an error', async () => {
    for (const address of ['nothing', '404']) {
      const { statusCode, headers, body } = await api.app.inject({
        url: `/docs/guide/${address}`,
        headers: { accept: 'text/html,*/*' },
      });
      expect([statusCode, headers['content-type'], headers['cache-control']]).toEqual([
        ...[404, 'text/html; charset=utf-8', 'no-cache'],
      ]);
      expect(body).toMatch(/<h1[^>]*>Page not found/);
    }
    const { status, body } = await read('/docs/guide/nothing');
    expect([status, body]).toEqual([404, { detail: 'Page not found' }]);
  });

  test('redirects to its trailing slash, and is not there without a build', async () => {
    const { status, headers } = await read('/docs/guide');
    expect([status, headers['location']]).toEqual([301, '/docs/guide/']);
    const folder = mkdtempSync(join(tmpdir(), 'site-'));
    expect(loadSite(fastify(), folder)).toBeUndefined();
    rmSync(folder, { recursive: true });
  });
});

import { mkdirSync, mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterAll, beforeAll, describe, expect, test } from '@jest/globals';
import fastify, { type FastifyInstance } from 'fastify';
import { loadConsole, serveConsole } from '#api/console.ts';
import { startTestApi, type TestApi } from '#test/api/test-api.ts';

const html = { accept: 'text/html,application/xhtml+xml' };

describe('the console served by the API', () => {
  let api: TestApi;
  let url = '';
  beforeAll(async () => {
    api = await startTestApi();
    url = await api.app.listen({ port: 0, host: '127.0.0.1' });
  });
  afterAll(() => api.stop());

  const get = (path: string, headers: Record<string, string> = html): Promise<Response> =>
    fetch(url + path, { headers, redirect: 'manual' });

  test('returns the same document for all paths, known or not', async () => {
    const first = await get('/');
    expect(first.status).toBe(200);
    expect(first.headers.get('content-type')).toBe('text/html; charset=utf-8');
    expect(first.headers.get('cache-control')).toBe('no-store');
    const text = await first.text();
    for (const path of ['/runs/run_1?step=a', '/approvals/run_1/a%20b', '/no-such-page']) {
      const page = await get(path);
      expect(page.status).toBe(200);
      expect(withoutNonce(await page.text())).toBe(withoutNonce(text));
    }
  });

  test('allows only its own files and styles with the nonce', async () => {
    const pages = await Promise.all([get('/'), get('/')]);
    const policies = pages.map((page) => page.headers.get('content-security-policy') ?? '');
    expect(policies[0]).toMatch(/^default-src 'none'; script-src 'self'; style-src 'self' 'nonce-/);
    expect(policies[0]).not.toContain('unsafe');
    expect(policies[0]).not.toBe(policies[1]);
    const nonce = /'nonce-([^']+)'/.exec(policies[0] ?? '')?.[1] ?? '';
    const text = (await pages[0]?.text()) ?? '';
    expect(text).toContain(`<meta name="csp-nonce" content="${nonce}"`);
    expect(text).not.toContain('__CSP_NONCE__');
    expect(text).not.toMatch(/<script(?![^>]*\ssrc="\/assets\/)/);
    expect(text).not.toMatch(/https?:\/\//);
  });

  test('compresses assets and caches them permanently under hashed names', async () => {
    const script =
      /src="(\/assets\/[^"]+-[\w-]{8}\.js)"/.exec(await (await get('/')).text())?.[1] ?? '';
    for (const encoding of ['br', 'gzip']) {
      const asset = await get(script, { 'accept-encoding': encoding });
      expect(asset.status).toBe(200);
      expect(asset.headers.get('content-encoding')).toBe(encoding);
      expect(asset.headers.get('content-type')).toMatch(/^(?:text|application)\/javascript/);
      expect(asset.headers.get('cache-control')).toBe('public, max-age=31536000, immutable');
      expect(asset.headers.get('x-content-type-options')).toBe('nosniff');
    }
    expect((await get('/assets/no-such-file.js')).status).toBe(404);
    expect((await get('/assets/..%2findex.html')).status).toBeGreaterThanOrEqual(400);
  });

  test('leaves API paths and JSON clients to the API', async () => {
    for (const path of [
      '/api/no-such-thing',
      '/v1/no-such-thing',
      '/docs/no-such-thing',
      '/assets/x',
    ]) {
      const answer = await get(path);
      expect(answer.headers.get('content-type')).toMatch(/^application\/json/);
      expect(answer.status).toBeGreaterThanOrEqual(400);
    }
    const program = await get('/no-such-page', { accept: 'application/json' });
    expect(program.status).toBe(404);
    expect(await program.json()).toEqual({ detail: 'Not found' });
    const written = await fetch(`${url}/runs`, { method: 'POST', headers: html });
    expect(written.status).toBe(404);
  });

  const withoutNonce = (text: string): string => text.replace(/content="[A-Za-z0-9+/=]{24}"/, '');
});

describe('without a build', () => {
  let folder = '';
  let app: FastifyInstance;
  beforeAll(() => {
    folder = mkdtempSync(join(tmpdir(), 'console-'));
    app = fastify();
  });
  afterAll(async () => {
    await app.close();
    rmSync(folder, { recursive: true, force: true });
  });

  test('the first page redirects to the API reference', async () => {
    mkdirSync(join(folder, 'assets'));
    expect(loadConsole(folder)).toBeUndefined();
    serveConsole(app, undefined);
    const answer = await app.inject({ url: '/', headers: html });
    expect([answer.statusCode, answer.headers.location]).toEqual([302, '/docs']);
    writeFileSync(join(folder, 'index.html'), '<!doctype html>');
    expect(loadConsole(folder)).toBeDefined();
  });
});

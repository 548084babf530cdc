import { describe, expect, test } from '@jest/globals';
import { type DataScope, dataScopeNames } from '#shared/contract/data/envelope.ts';
import { expectCommitted } from '#test/api/committed-file.ts';
import { useTestApi } from '#test/api/test-api.ts';
import { addDataKey } from './data-key.ts';

// Calls every route of the data API's document with every kind of credential: a new route, or a change of a route's
// scope, is a difference that needs a review.

const api = useTestApi();

interface Route {
  method: string;
  path: string;
  url: string;
}

const routes = (): Route[] =>
  Object.entries<any>((api.app.dataSwagger() as any).paths)
    .flatMap(([path, methods]) =>
      Object.keys(methods).map((method) => ({
        method: method.toUpperCase(),
        path,
        url: path.replaceAll(/\{\w+\}/g, 'x_unknown'),
      })),
    )
    .sort((a, b) => (`${a.path} ${a.method}` < `${b.path} ${b.method}` ? -1 : 1));

const ask = async ({ method, url }: Route, headers: Record<string, string>) =>
  // Without a body, since these checks come before the body is read.
  api.send({ method: method as 'GET', url, headers });

describe('every route', () => {
  test('requires the committed scope, and names it to a key with all other scopes', async () => {
    const lines: string[] = [];
    const without = new Map<DataScope, Record<string, string>>();
    for (const scope of dataScopeNames) {
      const scopes = dataScopeNames.filter((name) => name !== scope);
      without.set(scope, (await addDataKey(api, { scopes })).headers);
    }
    for (const route of routes()) {
      const needed: string[] = [];
      for (const [scope, headers] of without) {
        const { status, body } = await ask(route, headers);
        expect(status).not.toBe(500);
        if (status !== 403) continue;
        expect(body.detail).toBe(`This action requires the '${scope}' scope`);
        needed.push(scope);
      }
      expect([route.path, needed]).toEqual([route.path, [expect.any(String)]]);
      lines.push(`${route.method} ${route.path} ${needed.join(' ')}`);
    }
    expectCommitted('test/api/data/scopes.txt', `${lines.join('\n')}\n`);
  });

  test('refuses callers without a valid data key', async () => {
    const ops = (await api.call('POST', '/api/keys', { name: 'x', role: 'admin' })).body.secret;
    const credentials: Record<string, string>[] = [
      {},
      { 'x-api-key': ops as string },
      { authorization: `Bearer ${ops}` },
      { cookie: 'session=x' },
      { 'x-api-key': `svc_live_${'0'.repeat(48)}` },
    ];
    for (const route of routes()) {
      for (const headers of credentials) {
        const { status, body, headers: told } = await ask(route, headers);
        expect([route.path, status, Object.keys(body)]).toEqual([route.path, 401, ['detail']]);
        expect(told['www-authenticate']).toBe('Bearer');
      }
    }
  });

  test('returns 400 for an unknown parameter', async () => {
    const { headers } = await addDataKey(api);
    for (const { method, url } of routes()) {
      const asked = await api.send({ method: method as 'GET', url: `${url}?nul=%00`, headers });
      expect([url, asked.status, asked.body.detail]).toEqual([
        url,
        400,
        expect.stringMatching(/^Invalid query/),
      ]);
    }
  });

  test('has headers for cost and limits, even on errors', async () => {
    const { headers } = await addDataKey(api);
    for (const route of routes()) {
      const answer = await ask(route, headers);
      expect([route.path, answer.headers['x-credits-consumed']]).toEqual([route.path, '0']);
      expect(answer.headers['ratelimit-limit']).toBe('5000');
      expect(answer.headers['cache-control']).toBe('no-store');
    }
  });
});

import { createServer, type Server } from 'node:http';
import type { AddressInfo } from 'node:net';
import { networkInterfaces } from 'node:os';
import { afterAll, beforeAll, describe, expect, test } from '@jest/globals';
import { loadConfig } from '#shared/platform/config.ts';
import { createEgress, type EgressOptions } from '#shared/platform/egress/egress.ts';
import { createOwnServices } from '#shared/platform/egress/own.ts';
import { ownServices } from '#shared/platform/egress/own-services.ts';

let server: Server;
let port = 0;
let asked = 0;
beforeAll(async () => {
  server = createServer((_request, response) => {
    asked += 1;
    response.end('ours');
  });
  await new Promise<void>((resolve) => server.listen(0, '0.0.0.0', resolve));
  port = (server.address() as AddressInfo).port;
});
afterAll(() => void server.close());

const everywhere = ['0.0.0.0/0', '::/0'];

async function outcome(url: string, options: Partial<EgressOptions>): Promise<string> {
  const egress = createEgress({ allow: everywhere, ...options });
  try {
    const { body } = await egress.request(url);
    return body.toString();
  } catch (error) {
    return error instanceof Error ? error.message : String(error);
  } finally {
    await egress.close();
  }
}

describe('servers of the installation', () => {
  const spellings = (at: number): string[] => [
    `http://127.0.0.1:${at}/`,
    `http://127.9.9.9:${at}/`,
    `http://0.0.0.0:${at}/`,
    `http://2130706433:${at}/`,
    `http://0x7f.1:${at}/`,
    `http://[::ffff:127.0.0.1]:${at}/`,
    `http://localhost:${at}/`,
    `http://named.test:${at}/`,
    ...Object.values(networkInterfaces())
      .flat()
      .filter((entry) => entry?.family === 'IPv4')
      .map((entry) => `http://${entry?.address}:${at}/`),
  ];
  const resolve = async (hostname: string): Promise<string[]> =>
    hostname === 'named.test' ? ['127.0.0.1'] : hostname === 'localhost' ? ['127.0.0.1'] : [];

  test.each(['127.0.0.1', '0.0.0.0', 'localhost', 'named.test'])(
    'configured as %s are refused in every notation, even if their network is allowed',
    async (host) => {
      asked = 0;
      for (const url of spellings(port)) {
        const said = await outcome(url, { own: [{ host, port }], resolve });
        expect([url, said]).toEqual([
          url,
          expect.stringContaining('belongs to this service itself'),
        ]);
      }
      expect(asked).toBe(0);
    },
  );

  test('are refused behind a redirect', async () => {
    const redirecting = createServer((_request, response) =>
      response.writeHead(302, { location: `http://127.0.0.1:${port}/` }).end(),
    );
    await new Promise<void>((done) => redirecting.listen(0, '127.0.0.1', done));
    const egress = createEgress({ allow: everywhere, own: [{ host: '127.0.0.1', port }] });
    asked = 0;
    try {
      const start = `http://127.0.0.1:${(redirecting.address() as AddressInfo).port}/`;
      await expect(egress.request(start, { maxRedirects: 3 })).rejects.toMatchObject({
        code: 'refused',
      });
      expect(asked).toBe(0);
    } finally {
      await egress.close();
      redirecting.close();
    }
  });

  test('do not block other ports and hosts', async () => {
    const own = [
      { host: '127.0.0.1', port: port + 1 },
      { host: '192.0.2.1', port },
      { host: 'gone.test', port },
    ];
    expect(await outcome(`http://127.0.0.1:${port}/`, { own, resolve })).toBe('ours');
  });

  test('include the collector of traces only at a private address', async () => {
    const config = loadConfig({ OTEL_EXPORTER_OTLP_ENDPOINT: `http://collector.test:${port}` });
    const own = ownServices(config);
    expect(own).toContainEqual({ host: 'collector.test', port, onlyPrivate: true });
    const isOwn = (address: string) =>
      createOwnServices(own, async () => [address])([address], port);
    expect(await isOwn('127.0.0.1')).toBe(true);
    expect(await isOwn('10.0.0.7')).toBe(true);
    expect(await isOwn('203.0.114.7')).toBe(false);
  });

  test('come from the configuration', () => {
    const config = loadConfig({
      API_PORT: '9000',
      DATABASE_URL: 'postgres://user:secret@db.internal/workflows',
      TEMPORAL_ADDRESS: 'temporal.internal:7000',
      TEMPORAL_UI_URL: 'https://ui.internal',
      WORKER_METRICS_PORT: '9100',
      EGRESS_DENY: 'cache.internal:6379, [fd00::1]:80',
    });
    expect(ownServices(config)).toEqual([
      { host: '127.0.0.1', port: 9000 },
      { host: '127.0.0.1', port: 9100 },
      { host: 'cache.internal', port: 6379 },
      { host: 'fd00::1', port: 80 },
      { host: 'db.internal', port: 5432 },
      { host: 'ui.internal', port: 443 },
      { host: 'temporal.internal', port: 7000 },
    ]);
  });

  test.each(['cache.internal', 'cache.internal:', 'a:b', 'http://a:80', 'a:99999', ':80'])(
    'EGRESS_DENY=%s is refused',
    (value) => {
      expect(() => loadConfig({ EGRESS_DENY: value })).toThrow(/EGRESS_DENY.*host:port/);
    },
  );
});

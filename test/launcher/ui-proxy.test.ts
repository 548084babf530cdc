import { createServer, type IncomingMessage, request, type Server } from 'node:http';
import type { AddressInfo } from 'node:net';
import { afterEach, beforeEach, describe, expect, test } from '@jest/globals';
import { startUiProxy, type UiProxy } from '#scripts/stack/ui-proxy.ts';

let ui: Server;
let proxy: UiProxy;
let received: string[] = [];
beforeEach(async () => {
  received = [];
  ui = createServer((incoming, outgoing) => {
    let body = '';
    incoming.on('data', (chunk: Buffer) => (body += chunk.toString()));
    incoming.once('end', () => {
      received.push(`${incoming.method} ${incoming.url} ${body}`);
      outgoing.writeHead(201, { 'x-from': 'ui' }).end(`echo ${body}`);
    });
  });
  await new Promise<void>((resolve) => ui.listen(0, '127.0.0.1', resolve));
  const uiPort = (ui.address() as AddressInfo).port;
  proxy = await startUiProxy({ port: 0, uiPort, publicUrl: 'https://flows.example.com' });
});
afterEach(async () => {
  await proxy.close();
  ui.close();
});

function ask(
  method: string,
  headers: Record<string, string>,
  body = '',
): Promise<{ status: number | undefined; from: unknown; text: string }> {
  return new Promise((resolve, reject) => {
    const path = '/api/v1/namespaces?x=1';
    const sent = request({ host: '127.0.0.1', port: proxy.port, method, path, headers });
    sent.once('error', reject);
    sent.once('response', (answer: IncomingMessage) => {
      let text = '';
      answer.on('data', (chunk: Buffer) => (text += chunk.toString()));
      answer.once('end', () =>
        resolve({ status: answer.statusCode, from: answer.headers['x-from'], text }),
      );
    });
    sent.end(body);
  });
}

describe('the Temporal UI of npm start', () => {
  test.each(['localhost', '127.0.0.1', '[::1]', 'workflows', 'flows.example.com'])(
    'responds at %s',
    async (name) => {
      const host = name.includes('example') ? name : `${name}:${proxy.port}`;
      expect(await ask('GET', { host })).toEqual({ status: 201, from: 'ui', text: 'echo ' });
      expect(received).toEqual(['GET /api/v1/namespaces?x=1 ']);
    },
  );

  test('refuses other host names', async () => {
    for (const host of [
      'attacker.example',
      'localhost.attacker.example:8233',
      '127.0.0.1.nip.io',
    ]) {
      expect(await ask('GET', { host })).toMatchObject({ status: 403, from: undefined });
    }
    expect(received).toEqual([]);
  });

  test('accepts writes from its own pages and programs, not from other origins', async () => {
    const host = `localhost:${proxy.port}`;
    const own = { host, origin: `http://${host}` };
    expect(await ask('POST', own, 'a')).toMatchObject({ status: 201, text: 'echo a' });
    expect(await ask('POST', { host }, 'b')).toMatchObject({ status: 201, text: 'echo b' });
    for (const origin of ['https://attacker.example', 'null', 'http://localhost:3000']) {
      expect(await ask('POST', { host, origin }, 'c')).toMatchObject({ status: 403 });
    }
    expect(received.map((line) => line.at(-1))).toEqual(['a', 'b']);
  });

  test('reports that the UI does not respond while it restarts', async () => {
    await new Promise<void>((resolve) => void ui.close(() => resolve()));
    const answer = await ask('GET', { host: `localhost:${proxy.port}` });
    expect(answer).toEqual({
      status: 502,
      from: undefined,
      text: 'The Temporal UI does not answer\n',
    });
  });
});

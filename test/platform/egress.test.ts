import { EventEmitter, once } from 'node:events';
import type { ServerResponse } from 'node:http';
import { setTimeout as sleep } from 'node:timers/promises';
import { brotliCompressSync, deflateSync, gzipSync } from 'node:zlib';
import { afterEach, describe, expect, it } from '@jest/globals';
import {
  checkUserHeaders,
  createEgress,
  type Egress,
  type EgressError,
  type EgressOptions,
} from '#shared/platform/egress/egress.ts';
import { messageOf } from '#shared/errors.ts';
import { type FakeServer, startHttpServer, startTcpServer } from '#test/fakes/http-server.ts';

const open: { close: () => Promise<void> }[] = [];
afterEach(async () => {
  await Promise.all(open.splice(0).map((one) => one.close()));
});

function guard(options: Partial<EgressOptions> = {}): Egress {
  const egress = createEgress({ allow: ['127.0.0.1'], ...options });
  open.push(egress);
  return egress;
}

async function serve(...args: Parameters<typeof startHttpServer>): Promise<FakeServer> {
  const server = await startHttpServer(...args);
  open.push(server);
  return server;
}

async function serveRaw(...args: Parameters<typeof startTcpServer>): Promise<FakeServer> {
  const server = await startTcpServer(...args);
  open.push(server);
  return server;
}

const refused = expect.objectContaining({ name: 'EgressError', code: 'refused' });

describe('requests', () => {
  it('reach an allowed address and return status, headers and body', async () => {
    const server = await serve((_request, response) => {
      response.writeHead(418, { 'x-tea': 'green' }).end('short and stout');
    });
    const answer = await guard().request(`${server.url}/pot?a=1`, { method: 'put', body: 'x' });
    expect(answer).toMatchObject({
      status: 418,
      headers: { 'x-tea': 'green' },
      url: `${server.url}/pot?a=1`,
    });
    expect(answer.body.toString()).toBe('short and stout');
    expect(server.seen[0]).toMatchObject({ method: 'PUT', url: '/pot?a=1', body: 'x' });
    expect(server.seen[0]?.headers['user-agent']).toBe('durable-workflows');
  });

  it('to internal IP addresses are refused without a lookup', async () => {
    const server = await serve((_request, response) => void response.end('secret'));
    const asked: string[] = [];
    const egress = guard({
      allow: [],
      resolve: async (host) => {
        asked.push(host);
        return ['8.8.8.8'];
      },
    });
    await expect(egress.request(server.url)).rejects.toEqual(refused);
    expect(asked).toEqual([]);
    expect(server.connections()).toBe(0);
  });

  it('are refused if any address of the name is internal', async () => {
    const server = await serve((_request, response) => void response.end());
    for (const addresses of [
      ['127.0.0.1', '10.0.0.1'],
      ['8.8.8.8', '127.0.0.2'],
      ['127.0.0.1', 'fe80::1%lo'],
      ['::ffff:10.0.0.1'],
    ]) {
      const egress = guard({ resolve: async () => addresses });
      await expect(egress.request(`http://inside.example:${server.port}/`)).rejects.toEqual(
        refused,
      );
    }
    expect(server.connections()).toBe(0);
  });

  it('connect to the checked address, with one lookup per connection', async () => {
    const server = await serve((request, response) => void response.end(request.headers.host));
    let asked = 0;
    // The second result is the rebinding: it must never be used for the connection that the first one allowed.
    const egress = guard({
      resolve: async () => {
        asked += 1;
        return asked === 1 ? ['127.0.0.1'] : ['10.255.255.1'];
      },
    });
    const url = `http://rebind.example:${server.port}/`;
    const first = await egress.request(url);
    expect(first.body.toString()).toBe(`rebind.example:${server.port}`);
    expect(asked).toBe(1);
    await server.close();
    // A new connection resolves the name again, and the new address is checked.
    await expect(egress.request(url)).rejects.toMatchObject({
      code: expect.stringMatching(/refused|unreachable/),
    });
    await expect(egress.request(url)).rejects.toEqual(refused);
  });

  it('try the next of several allowed addresses', async () => {
    const server = await serve((_request, response) => void response.end('here'));
    const egress = guard({
      allow: ['127.0.0.0/8'],
      resolve: async () => ['127.0.0.77', '127.0.0.1'],
    });
    const answer = await egress.request(`http://two.example:${server.port}/`);
    expect(answer.body.toString()).toBe('here');
  });

  it('use the name for TLS and the checked address to connect', async () => {
    let hello = Buffer.alloc(0);
    const server = await serveRaw((socket) => {
      socket.on('data', (chunk) => {
        hello = Buffer.concat([hello, chunk]);
        socket.destroy();
      });
    });
    const egress = guard({ resolve: async () => ['127.0.0.1'] });
    await expect(egress.request(`https://named.example:${server.port}/`)).rejects.toMatchObject({
      code: 'unreachable',
    });
    expect(hello.toString('latin1')).toContain('named.example');
  });

  it.each([
    ['file:///etc/passwd'],
    ['ftp://127.0.0.1/'],
    ['gopher://127.0.0.1:6379/_x'],
    ['data:text/plain,hello'],
    ['javascript:alert(1)'],
    ['blob:http://127.0.0.1/1'],
    ['http://user@127.0.0.1/'],
    ['http://user:secret@127.0.0.1/'],
    ['https://:secret@127.0.0.1/'],
    ['http://'],
    ['//127.0.0.1/'],
    ['http://[::1'],
    ['http://a b/'],
    [''],
  ])('to the URL %j are invalid', async (url) => {
    const egress = guard();
    await expect(egress.request(url)).rejects.toMatchObject({ code: 'invalid_request' });
    await expect(egress.fetch(url)).rejects.toThrow();
    await expect(egress.request(url)).rejects.not.toThrow('secret');
  });

  it('fail with the same message for a closed port, an unknown name and a hangup', async () => {
    const closed = await serve(() => undefined);
    await closed.close();
    const rude = await serveRaw((socket) => socket.destroy());
    const egress = guard({
      resolve: async (host) => {
        if (host === 'nowhere.example') throw new Error('ENOTFOUND 10.0.0.53');
        return ['127.0.0.1'];
      },
    });
    const urls = [
      `http://a.example:${closed.port}/?token=s3cret`,
      'http://nowhere.example/',
      `http://a.example:${rude.port}/`,
    ];
    for (const url of urls) {
      await expect(egress.request(url)).rejects.toMatchObject({
        message: `'${new URL(url).host}' could not be reached`,
      });
    }
  });

  it.each([
    ['nothing', []],
    ['no address', ['']],
    ['another name', ['localhost']],
    [
      'a thousand addresses, the last of them inside',
      [...Array<string>(999).fill('8.8.8.8'), '10.0.0.1'],
    ],
  ])('fail when a name resolves to %s', async (_what, addresses) => {
    const egress = guard({ resolve: async () => addresses });
    await expect(egress.request('http://odd.example/')).rejects.toMatchObject({
      code: expect.stringMatching(/^(refused|unreachable)$/),
    });
  });

  it('check the current address for every connection', async () => {
    const server = await serve((_request, response) => {
      response.writeHead(200, { connection: 'close' }).end('ok');
    });
    let round = 0;
    const egress = guard({
      resolve: async () => [(round += 1) % 2 === 1 ? '127.0.0.1' : '127.0.0.2'],
    });
    const outcomes = [];
    for (let n = 0; n < 10; n += 1) {
      const answer = egress.request(`http://flipping.example:${server.port}/`);
      outcomes.push(
        await answer.then(() => 'ok').catch((error: unknown) => (error as { code: string }).code),
      );
    }
    expect(outcomes).toEqual(Array(5).fill(['ok', 'refused']).flat());
    expect(server.connections()).toBe(5);
  });

  it.each(['http://127.0.0.1:65536/', 'http://127.0.0.1:-1/', 'http://127.0.0.1:8a/'])(
    'to the invalid port of %s are refused',
    async (url) => {
      await expect(guard().request(url)).rejects.toMatchObject({ code: 'invalid_request' });
    },
  );

  it('fail if the resolver never responds', async () => {
    const egress = guard({ connectTimeoutMs: 50, resolve: () => new Promise(() => undefined) });
    await expect(egress.request('http://silent.example/')).rejects.toMatchObject({
      code: 'unreachable',
    });
  });
});

describe('redirects', () => {
  it('are returned by default, also by fetch', async () => {
    const server = await serve(
      (_request, response) => void response.writeHead(302, { location: '/next' }).end(),
    );
    const egress = guard();
    expect(await egress.request(server.url)).toMatchObject({
      status: 302,
      headers: { location: '/next' },
    });
    const answer = await egress.fetch(server.url, { redirect: 'follow' });
    expect(answer.status).toBe(302);
    expect(answer.headers.get('location')).toBe('/next');
    expect(server.seen).toHaveLength(2);
  });

  it('are followed on request, and every hop is checked', async () => {
    const inner = await serve((_request, response) => void response.end('inner secret'));
    const outer = await serve((_request, response) => {
      response.writeHead(302, { location: `http://inside.example:${inner.port}/` }).end();
    });
    const egress = guard({
      resolve: async (host) => (host === 'inside.example' ? ['127.0.0.2'] : ['127.0.0.1']),
    });
    const wanted = egress.request(`http://outside.example:${outer.port}/`, { maxRedirects: 5 });
    await expect(wanted).rejects.toEqual(refused);
    expect(inner.connections()).toBe(0);
  });

  it.each([
    ['file:///etc/passwd'],
    ['http://169.254.169.254/latest/meta-data'],
    ['http://user:pw@127.0.0.1/'],
  ])('to %s are refused', async (location) => {
    const server = await serve(
      (_request, response) => void response.writeHead(307, { location }).end(),
    );
    const wanted = guard().request(server.url, { maxRedirects: 5 });
    await expect(wanted).rejects.toMatchObject({
      code: expect.stringMatching(/refused|invalid_request/),
    });
  });

  it('stop after the fifth', async () => {
    const server = await serve((request, response) => {
      response.writeHead(302, { location: `/${Number(request.url.slice(1)) + 1}` }).end();
    });
    const wanted = guard().request(`${server.url}/0`, { maxRedirects: 5 });
    await expect(wanted).rejects.toMatchObject({ code: 'too_many_redirects' });
    expect(server.seen.map((request) => request.url)).toEqual(['/0', '/1', '/2', '/3', '/4', '/5']);
  });

  it('to another origin drop credentials in any header', async () => {
    const other = await serve((_request, response) => void response.end('ok'));
    const first = await serve((request, response) => {
      const location = request.url === '/same' ? `${first.url}/there` : `${other.url}/there`;
      response.writeHead(request.url === '/there' ? 200 : 307, { location }).end();
    });
    const headers = {
      Authorization: 'Bearer s',
      Cookie: 'a=b',
      'X-Api-Key': 'k',
      'x-tenant-thing': 't',
      Accept: 'text/html',
    };
    const egress = guard();
    await egress.request(`${first.url}/away`, { headers, maxRedirects: 5 });
    await egress.request(`${first.url}/same`, { headers, maxRedirects: 5 });
    const away = other.seen[0]?.headers ?? {};
    expect(away).toMatchObject({ accept: 'text/html' });
    expect(Object.keys(away).filter((name) => /auth|cookie|key|tenant/.test(name))).toEqual([]);
    expect(first.seen.at(-1)?.headers).toMatchObject({
      authorization: 'Bearer s',
      cookie: 'a=b',
      'x-api-key': 'k',
    });
  });

  it.each([
    [301, 'POST', 'GET', ''],
    [302, 'POST', 'GET', ''],
    [303, 'PUT', 'GET', ''],
    [307, 'POST', 'POST', 'payload'],
    [308, 'PUT', 'PUT', 'payload'],
  ])('with %d change a %s to a %s', async (status, method, expected, body) => {
    const server = await serve((request, response) => {
      response.writeHead(request.url === '/end' ? 200 : status, { location: '/end' }).end();
    });
    await guard().request(`${server.url}/`, {
      method,
      body: 'payload',
      headers: { 'content-type': 'text/x' },
      maxRedirects: 1,
    });
    expect(server.seen[1]).toMatchObject({ method: expected, url: '/end', body });
    expect(server.seen[1]?.headers['content-type']).toBe(body === '' ? undefined : 'text/x');
  });
});

describe('limits', () => {
  it.each([
    ['gzip', gzipSync],
    ['br', brotliCompressSync],
    ['deflate', deflateSync],
    ['gzip, gzip', (body: Buffer) => gzipSync(gzipSync(body))],
  ] as const)('a %s bomb is stopped at its unpacked size', async (encoding, pack) => {
    const bomb = pack(Buffer.alloc(64 * 1024 * 1024));
    expect(bomb.length).toBeLessThan(1024 * 1024);
    const server = await serve((_request, response) => {
      response.writeHead(200, { 'content-encoding': encoding }).end(bomb);
    });
    const egress = guard({ fetchMaxResponseBytes: 1024 * 1024 });
    const wanted = egress.request(server.url, { maxResponseBytes: 1024 * 1024 });
    await expect(wanted).rejects.toMatchObject({ code: 'too_large' });
    const answer = await egress.fetch(server.url);
    await expect(answer.arrayBuffer()).rejects.toMatchObject({ code: 'too_large' });
  });

  it('a body at the limit is accepted, and one byte more is refused', async () => {
    const server = await serve(
      (request, response) => void response.end('x'.repeat(Number(request.url.slice(1)))),
    );
    const egress = guard();
    expect(
      (await egress.request(`${server.url}/1000`, { maxResponseBytes: 1000 })).body,
    ).toHaveLength(1000);
    const wanted = egress.request(`${server.url}/1001`, { maxResponseBytes: 1000 });
    await expect(wanted).rejects.toMatchObject({ code: 'too_large' });
  });

  it('an endless body is stopped and its connection closed', async () => {
    let gone: Promise<unknown> | undefined;
    const server = await serve((_request, response) => {
      gone = once(response, 'close');
      const timer = setInterval(() => response.write('x'.repeat(65_536)), 1);
      response.on('close', () => clearInterval(timer));
    });
    const wanted = guard().request(server.url, { maxResponseBytes: 500_000 });
    await expect(wanted).rejects.toMatchObject({ code: 'too_large' });
    await gone;
  });

  it.each([
    ['no answer at all', () => undefined],
    [
      'a body that drips',
      (_request: unknown, response: ServerResponse) => {
        const timer = setInterval(() => response.write('.'), 20);
        response.on('close', () => clearInterval(timer));
      },
    ],
  ])('%s times out', async (_what, answer) => {
    const server = await serve(answer);
    const wanted = guard().request(server.url, { timeoutMs: 150 });
    await expect(wanted).rejects.toMatchObject({ code: 'timeout' });
    const slow = guard({ fetchTimeoutMs: 150 });
    await expect(slow.fetch(server.url).then((response) => response.text())).rejects.toMatchObject({
      code: 'timeout',
    });
  });

  it('endless headers are stopped', async () => {
    const server = await serveRaw((socket) => {
      socket.write('HTTP/1.1 200 OK\r\n');
      const timer = setInterval(() => socket.write(`x-${'a'.repeat(8000)}: 1\r\n`), 1);
      socket.on('close', () => clearInterval(timer));
    });
    await expect(guard().request(server.url)).rejects.toMatchObject({ code: 'unreachable' });
  });

  it('a truncated body is an error', async () => {
    const server = await serveRaw((socket) => {
      socket.once('data', () => socket.end('HTTP/1.1 200 OK\r\ncontent-length: 100\r\n\r\nhalf'));
    });
    await expect(guard().request(server.url)).rejects.toMatchObject({ code: 'unreachable' });
  });

  it('an abort throws the reason of the caller, also during the body', async () => {
    const server = await serve((_request, response) => void response.write('begun'));
    const egress = guard();
    const reason = new Error('cancelled by test');
    await expect(egress.request(server.url, { signal: AbortSignal.abort(reason) })).rejects.toBe(
      reason,
    );
    const controller = new AbortController();
    const wanted = egress.request(server.url, { signal: controller.signal });
    setTimeout(() => controller.abort(reason), 50);
    await expect(wanted).rejects.toBe(reason);

    const streaming = new AbortController();
    const answer = await egress.fetch(server.url, { signal: streaming.signal });
    setTimeout(() => streaming.abort(reason), 50);
    await expect(answer.text()).rejects.toBe(reason);
  });

  it('closing aborts active requests', async () => {
    const server = await serve((_request, response) => void response.write('begun'));
    const egress = guard();
    const wanted = egress.request(server.url);
    const settled = expect(wanted).rejects.toMatchObject({ name: 'EgressError' });
    while (server.seen.length === 0) await sleep(5);
    await egress.close();
    await settled;
  });
});

describe('fetch for SDKs', () => {
  it('sends a Request with its body and length', async () => {
    const server = await serve((request, response) => void response.end(request.body));
    const request = new Request(server.url, {
      method: 'POST',
      body: 'hello',
      headers: { 'x-a': '1' },
    });
    const answer = await guard().fetch(request);
    expect(await answer.text()).toBe('hello');
    expect(server.seen[0]?.headers).toMatchObject({ 'content-length': '5', 'x-a': '1' });
  });

  it('streams chunks as they arrive', async () => {
    const firstRead = new EventEmitter();
    const server = await serve(async (_request, response) => {
      const read = once(firstRead, 'read');
      response.write('one');
      await read;
      response.end('two');
    });
    const answer = await guard().fetch(new URL(server.url));
    const chunks: string[] = [];
    for await (const chunk of answer.body ?? []) {
      chunks.push(Buffer.from(chunk).toString());
      firstRead.emit('read');
    }
    expect(chunks).toEqual(['one', 'two']);
  });

  it('rejects an unknown HTTP status as a broken response', async () => {
    const server = await serveRaw((socket) => {
      socket.once('data', () => socket.end('HTTP/1.1 999 Odd\r\ncontent-length: 2\r\n\r\nhi'));
    });
    await expect(guard().fetch(server.url)).rejects.toMatchObject({ code: 'unreachable' });
    await expect(guard().request(server.url)).rejects.toMatchObject({ code: 'unreachable' });
  });

  it('returns 204 without a body', async () => {
    const server = await serve((_request, response) => void response.writeHead(204).end());
    const answer = await guard().fetch(server.url);
    expect([answer.status, answer.body]).toEqual([204, null]);
  });
});

describe('headers', () => {
  it.each([
    'Host',
    'host',
    'Content-Length',
    'Connection',
    'Keep-Alive',
    'Proxy-Connection',
    'Proxy-Authorization',
    'Transfer-Encoding',
    'TE',
    'Trailer',
    'Upgrade',
    'Expect',
    'bad name',
    'bad:name',
    'bad\r\nname',
    '',
    'ünicode',
  ])('%j cannot be set', async (name) => {
    const server = await serve((_request, response) => void response.end());
    const wanted = guard().request(server.url, { headers: { [name]: 'x' } });
    await expect(wanted).rejects.toMatchObject({ code: 'invalid_request' });
    expect(server.connections()).toBe(0);
  });

  it.each(['a\r\nX-Injected: 1', 'a\nb', 'a\rb', 'a\0b', 'a\u{1f600}b', 'a\u0100'])(
    'the value %j is refused',
    (value) => {
      expect(() => checkUserHeaders({ 'x-a': value })).toThrow("The value of header 'x-a'");
    },
  );

  it('of service signatures can be set only by the service', async () => {
    const ofService = ['X-Service-Signature', 'x-service-timestamp', 'X-SERVICE-DELIVERY'];
    for (const name of [...ofService, 'Webhook-Id', 'webhook-timestamp', 'webhook-signature']) {
      expect(() => checkUserHeaders({ [name]: 'x' })).toThrow(`Header '${name}' cannot be set`);
    }
    const server = await serve((_request, response) => void response.end());
    await guard().request(server.url, { headers: { 'X-Service-Signature': 't=1,v1=ab' } });
    expect(server.seen[0]?.headers['x-service-signature']).toBe('t=1,v1=ab');
  });
});

describe('failures', () => {
  it('are logged with their cause', async () => {
    const told: EgressError[] = [];
    const egress = guard({
      allow: [],
      resolve: async () => {
        throw new Error('SERVFAIL from 10.0.0.53');
      },
      onFailure: (error) => told.push(error),
    });
    await expect(egress.request('http://a.example/')).rejects.toThrow();
    await expect(egress.fetch('http://10.0.0.1/')).rejects.toThrow();
    expect(told.map((error) => error.code)).toEqual(['unreachable', 'refused']);
    expect(messageOf(told[0]?.cause)).toBe('SERVFAIL from 10.0.0.53');
  });
});

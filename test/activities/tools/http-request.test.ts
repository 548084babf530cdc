import type { ServerResponse } from 'node:http';
import { beforeEach, describe, expect, it } from '@jest/globals';
import { createHttpRequest } from '#activities/tools/http-request.ts';
import { retryAfterMs } from '#shared/platform/calls/outside.ts';
import { createEgress } from '#shared/platform/egress/egress.ts';
import type { JsonObject } from '#shared/json.ts';
import { type Seen, sendJson, startHttpServer } from '#test/fakes/http-server.ts';
import { toolCall } from '#test/fakes/node-call.ts';
import { useStageEach } from '#test/support/stage.ts';

let answer: (request: Seen, response: ServerResponse) => void;

beforeEach(() => {
  answer = (request, response) => sendJson(response, 200, { saw: request.body });
});
const egress = useStageEach(() => createEgress({ allow: ['127.0.0.1'] }));
const server = useStageEach(() =>
  startHttpServer((request, response) => answer(request, response)),
);

const send = (params: JsonObject, rest: Parameters<typeof toolCall>[2] = {}) =>
  createHttpRequest(
    egress,
    undefined,
  )(toolCall('http_request', { url: server.url, ...params }, rest));

const failure = (fields: Record<string, unknown>) =>
  expect.objectContaining({ name: 'NodeError', ...fields });

describe('http_request', () => {
  it('sends method, query, headers, body and the idempotency key, and reads JSON', async () => {
    const result = await send({
      url: `${server.url}/items?fixed=1`,
      method: 'post',
      query: { q: 'a b&c', n: 3, list: ['x', 'y'], gone: null },
      headers: { 'X-Trace': 'abc', 'X-Count': 5 },
      body: { name: 'Ünï', list: [1, null] },
    });
    expect(result).toMatchObject({
      output: {
        status: 200,
        headers: { 'content-type': 'application/json' },
        body: { saw: '{"name":"Ünï","list":[1,null]}' },
      },
      costMicros: 0,
    });
    const [seen] = server.seen;
    expect(seen).toMatchObject({
      method: 'POST',
      url: '/items?fixed=1&q=a+b%26c&n=3&list=x&list=y',
    });
    expect(seen?.headers).toMatchObject({
      'x-trace': 'abc',
      'x-count': '5',
      'content-type': 'application/json',
      'idempotency-key': 'run_1/step/0',
    });
  });

  it.each<[string, number]>([
    ['7', 7_000],
    ['0.5', 500],
    ['86400', 300_000],
    ['Thu, 01 Jan 1970 00:01:00 GMT', 45_000],
    ['Thursday, 01-Jan-70 00:01:00 GMT', 45_000],
    ['Thu Jan  1 00:01:00 1970', 45_000],
    ['Thu, 01 Jan 1970 00:00:00 GMT', 0],
    ['soon', 0],
    ['-7', 0],
    ['', 0],
  ])('waits for the delay in Retry-After: %s', async (header, ms) => {
    expect(retryAfterMs(header, 15_000)).toBe(ms);
    answer = (_request, response) => void response.writeHead(429, { 'retry-after': '7' }).end();
    await expect(send({})).rejects.toEqual(failure({ retryable: true, retryAfterMs: 7_000 }));
  });

  it.each([
    ['nested deeper than 100 levels', '['.repeat(4_000) + ']'.repeat(4_000)],
    ['nested deeper than 100 levels', '{"a":'.repeat(10_000) + '1' + '}'.repeat(10_000)],
    ['more than 200000 values', `[${Array(1_600_000).fill('[]').join(',')}]`],
  ])('fails once with JSON %s', async (problem, body) => {
    answer = (_request, response) =>
      void response.writeHead(200, { 'content-type': 'application/json' }).end(body);
    await expect(send({})).rejects.toEqual(
      failure({
        message: expect.stringMatching(
          new RegExp(`^The JSON of 127\\.0\\.0\\.1:\\d+ is too large: ${problem}`),
        ),
        retryable: false,
        definite: true,
      }),
    );
    expect(server.seen).toHaveLength(1);
  });

  it('keeps every digit of numbers that no double holds', async () => {
    answer = (_request, response) =>
      void response
        .writeHead(200, { 'content-type': 'application/json' })
        .end('{"id": 7615917337495251231, "rate": 1e400, "count": 3}');
    expect(await send({})).toMatchObject({
      output: { body: { id: '7615917337495251231', rate: '1e400', count: 3 } },
    });
  });

  it('sends an object as a form if its content type says so', async () => {
    const headers = { 'CONTENT-TYPE': 'application/x-www-form-urlencoded;charset=UTF-8' };
    const deep = { a: [1] };
    const body = {
      To: '+1 5',
      text: 'a&b=c ü',
      list: ['x', 1, null, deep],
      none: null,
      on: true,
      deep,
    };
    await send({ method: 'POST', headers, body });
    const [seen] = server.seen;
    expect(seen?.headers['content-type']).toBe(headers['CONTENT-TYPE']);
    expect(seen?.body).toBe(
      'To=%2B1+5&text=a%26b%3Dc+%C3%BC&list=x&list=1&list=%7B%22a%22%3A%5B1%5D%7D&on=true&deep=%7B%22a%22%3A%5B1%5D%7D',
    );
    expect([...new URLSearchParams(seen?.body)].slice(0, 2)).toEqual([
      ['To', '+1 5'],
      ['text', 'a&b=c ü'],
    ]);
    await send({ method: 'POST', headers, body: ['x'] });
    await send({ method: 'POST', headers, body: 'a=b c' });
    expect(server.seen.slice(1).map((each) => each.body)).toEqual(['["x"]', 'a=b c']);
  });

  it("keeps the author's key, content type and text body", async () => {
    await send({
      method: 'PUT',
      body: 'a,b',
      headers: { 'idempotency-key': 'mine', 'CONTENT-TYPE': 'text/csv' },
    });
    expect(server.seen[0]).toMatchObject({ body: 'a,b' });
    expect(server.seen[0]?.headers).toMatchObject({
      'idempotency-key': 'mine',
      'content-type': 'text/csv',
    });
  });

  it.each([
    ['text/plain', '{"a":1}', '{"a":1}'],
    ['application/json', '{"a":1}', { a: 1 }],
    ['application/problem+json; charset=utf-8', '[1]', [1]],
    ['APPLICATION/JSON', 'null', null],
    ['application/json', 'not json', 'not json'],
    ['application/jsonp', '{"a":1}', '{"a":1}'],
    ['text/plain; charset=iso-8859-1', Buffer.from([0xe9]), 'é'],
    ['text/plain; charset=nonsense', 'a', 'a'],
    ['application/octet-stream', Buffer.from([0xff, 0x41]), '\ufffdA'],
  ])('reads a %s body %j as %j', async (type, body, expected) => {
    answer = (_request, response) =>
      void response.writeHead(200, { 'content-type': type }).end(body);
    expect(await send({})).toMatchObject({ output: { body: expected } });
  });

  it.each([
    [400, false],
    [401, false],
    [404, false],
    [408, true],
    [409, false],
    [425, true],
    [429, true],
    [500, true],
    [503, true],
    [304, false],
  ])('fails on %d; retryable: %s', async (status, retryable) => {
    answer = (_request, response) =>
      void response.writeHead(status).end(status === 304 ? '' : `no: ${'x'.repeat(600)}`);
    const text = status === 304 ? '304' : `${status}: no: ${'x'.repeat(496)}`;
    await expect(send({})).rejects.toEqual(
      failure({ message: `127.0.0.1:${server.port} answered ${text}`, retryable, definite: true }),
    );
  });

  it('follows five redirects, none to a private address', async () => {
    answer = (request, response) => {
      const hop = Number(request.url.slice(1));
      if (hop < 5) response.writeHead(302, { location: `/${hop + 1}` }).end();
      else sendJson(response, 200, { hop });
    };
    expect(await send({ url: `${server.url}/0` })).toMatchObject({ output: { body: { hop: 5 } } });
    answer = (_request, response) =>
      void response.writeHead(302, { location: 'http://10.0.0.1/' }).end();
    await expect(send({})).rejects.toEqual(
      failure({
        message: "The address of '10.0.0.1' is not allowed",
        retryable: false,
        definite: false,
      }),
    );
  });

  it.each([
    [{ headers: { Host: 'inner' } }, "Header 'Host' cannot be set"],
    [{ headers: { 'X-Service-Signature': 'x' } }, "Header 'X-Service-Signature' cannot be set"],
    [{ headers: { 'x-a': 'b\r\nHost: inner' } }, "The value of header 'x-a'"],
    [{ headers: { 'x-a\r\nHost': 'b' } }, 'Header name'],
    [{ url: 'http://169.254.169.254/' }, "The address of '169.254.169.254' is not allowed"],
    [{ url: 'file:///etc/passwd' }, 'must start with http'],
    [{ url: 'nonsense' }, 'The URL is not valid'],
    [{ url: 7 }, "'url'"],
    [{ method: 'CONNECT' }, "'method'"],
    [{ method: 'TRACE' }, "'method'"],
    [{ method: 'GET', body: 'x' }, 'cannot be sent'],
    [{ querry: {} }, 'querry'],
  ])('refuses %j permanently', async (params, message) => {
    await expect(send(params as JsonObject)).rejects.toEqual(
      failure({ message: expect.stringContaining(message), retryable: false, definite: false }),
    );
    expect(server.connections()).toBe(0);
  });

  it('limits the body to 5 MB and the time to the node timeout', async () => {
    answer = (_request, response) => void response.end(Buffer.alloc(5 * 1024 * 1024 + 1));
    await expect(send({})).rejects.toEqual(
      failure({ message: expect.stringContaining('exceeds 5242880 bytes') }),
    );
    answer = () => undefined;
    await expect(send({}, { node: { timeout_seconds: 0.1 } })).rejects.toEqual(
      failure({
        message: expect.stringContaining('did not respond in full within 0.1 s'),
        retryable: true,
      }),
    );
  });

  it("ends with the signal's reason on abort", async () => {
    answer = () => undefined;
    const controller = new AbortController();
    const reason = new Error('run cancelled');
    const wanted = send({}, { signal: controller.signal });
    setTimeout(() => controller.abort(reason), 30);
    await expect(wanted).rejects.toBe(reason);
  });
});

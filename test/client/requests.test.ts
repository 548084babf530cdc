import { closingSocket } from '#test/fakes/closing-socket.ts';
import { afterEach, describe, expect, jest, test } from '@jest/globals';
import type { ServerResponse } from 'node:http';
import {
  ApiError,
  type ClientOptions,
  ConnectionError,
  createClient,
  etagOf,
} from '#client/index.ts';
import {
  type FakeServer,
  type Seen,
  sendJson,
  startHttpServer,
  startTcpServer,
} from '#test/fakes/http-server.ts';

let server: FakeServer;
afterEach(() => server.close());

/** A server that sends these responses in order and repeats the last one. */
async function answering(
  answers: ((response: ServerResponse, request: Seen) => void)[],
  options: ClientOptions = {},
) {
  let index = 0;
  server = await startHttpServer((request, response) => {
    answers[Math.min(index++, answers.length - 1)]!(response, request);
  });
  return createClient({ baseUrl: server.url, ...options });
}

const ok =
  (body: unknown = []) =>
  (response: ServerResponse) =>
    sendJson(response, 200, body);
const refuse =
  (status: number, headers: Record<string, string> = {}, detail = 'No') =>
  (response: ServerResponse) => {
    response.writeHead(status, { 'content-type': 'application/json', ...headers });
    response.end(JSON.stringify({ detail }));
  };
const reset = (response: ServerResponse) => response.destroy();
const hang = () => undefined;

const failure = (promise: Promise<unknown>): Promise<any> =>
  promise.then(
    () => {
      throw new Error('It should have failed');
    },
    (error: unknown) => error,
  );

describe('a request', () => {
  test.each(['', '/', '///'])('goes to /api under a base URL that ends with %j', async (end) => {
    await answering([ok()]);
    await createClient({ baseUrl: `${server.url}/somewhere${end}` }).listWorkflows();
    expect(server.seen[0]!.url).toBe('/somewhere/api/workflows');
  });

  test('sends the API key rather than the token if both are set', async () => {
    const client = await answering([ok()], { apiKey: 'ops_secret', token: 'session' });
    await client.listWorkflows();
    expect(server.seen[0]!.headers).toMatchObject({ 'x-api-key': 'ops_secret' });
    expect(server.seen[0]!.headers).not.toHaveProperty('authorization');
  });

  test('sends a token as a bearer token', async () => {
    const client = await answering([ok()], { token: 'session' });
    await client.listWorkflows();
    expect(server.seen[0]!.headers['authorization']).toBe('Bearer session');
  });

  test('sends no credential if none is set', async () => {
    const client = await answering([ok()]);
    await client.listWorkflows();
    expect(server.seen[0]!.headers).not.toHaveProperty('x-api-key');
    expect(server.seen[0]!.headers).not.toHaveProperty('authorization');
  });

  test.each(['a/b', 'a?b#c', 'ü ö', '%2e%2e'])(
    'escapes the ID %j as one path segment',
    async (id) => {
      const client = await answering([ok({})]);
      await client.getRun(id);
      const { pathname, search } = new URL(server.seen[0]!.url, server.url);
      expect(decodeURIComponent(pathname)).toBe(`/api/runs/${id}`);
      expect(pathname.split('/')).toHaveLength(4);
      expect(search).toBe('');
    },
  );

  test.each(['', '.', '..', undefined as unknown as string])(
    'is not sent for the ID %j, which would change the path',
    async (id) => {
      const client = await answering([ok({})]);
      await expect(client.deleteWorkflow(id)).rejects.toThrow(TypeError);
      expect(server.seen).toEqual([]);
    },
  );

  test('requests deltas in the address of a stream', async () => {
    const urls: string[] = [];
    const client = await answering([ok()], {
      token: 'a b',
      webSocket: closingSocket((url) => urls.push(url)),
    });
    await failure(client.stream('run_1', { deltas: true }).next());
    await failure(client.stream('run_1').next());
    expect(urls.map((url) => url.split('/stream')[1])).toEqual([
      '?token=a+b&deltas=true',
      '?token=a+b',
    ]);
  });

  test('omits undefined query parameters', async () => {
    const client = await answering([ok({ runs: [], next_cursor: null })]);
    await client.listRuns({ status: 'failed', limit: undefined });
    expect(server.seen[0]!.url).toBe('/api/runs?status=failed');
  });

  test('reads all pages of a list that returns an array, or one page on request', async () => {
    const rows = Array.from({ length: 450 }, (_, n) => ({ id: `wf_${n}` }));
    const page = (response: ServerResponse, { url }: Seen) => {
      const query = new URL(url, server.url).searchParams;
      const offset = Number(query.get('offset') ?? 0);
      sendJson(response, 200, rows.slice(offset, offset + Number(query.get('limit') ?? 200)));
    };
    const client = await answering([page]);
    expect(await client.listWorkflows()).toEqual(rows);
    expect(await client.listMembers()).toEqual(rows);
    expect(await client.listMembers({ limit: 200 })).toEqual(rows.slice(0, 200));
    expect(await client.listMembers({ offset: 440 })).toEqual(rows.slice(440));
  });

  test('returns undefined for 204 and for an empty body', async () => {
    const client = await answering([(response) => response.writeHead(204).end(), (r) => r.end()]);
    expect(await client.deleteBudget('bud_1')).toBeUndefined();
    expect(await client.deleteBudget('bud_1')).toBeUndefined();
  });
});

describe('client options', () => {
  const good = async () => answering([ok()]);

  test.each(['nowhere', 'ftp://x', 'http://me:secret@x', 'http://x?y=1', ''])(
    'with the base URL %j are refused',
    async (baseUrl) => {
      await good();
      expect(() => createClient({ baseUrl })).toThrow(/^baseUrl must/);
    },
  );

  test('with a credential that no header can hold are refused without revealing it', async () => {
    await good();
    for (const secret of ['ops_secret\n', 'ops_sécret', '', ' ']) {
      const refusal = await failure((async () => createClient({ apiKey: secret }))());
      expect(refusal).toBeInstanceOf(TypeError);
      expect(refusal.message).toBe('apiKey must be printable ASCII text');
    }
  });
});

describe('an API error', () => {
  test('has the status, detail, request ID and retry delay', async () => {
    const client = await answering([
      refuse(402, { 'x-request-id': 'req-1', 'retry-after': '7' }, 'Budget exhausted'),
    ]);
    const error = await failure(client.listWorkflows());
    expect(error).toBeInstanceOf(ApiError);
    expect(error).toMatchObject({
      status: 402,
      detail: 'Budget exhausted',
      requestId: 'req-1',
      retryAfter: 7,
    });
  });

  test('remembers the entity tag of a record, not of a copy', async () => {
    const client = await answering([
      (response) => {
        response.writeHead(200, { 'content-type': 'application/json', etag: '"abc"' });
        response.end('{"id": "bud_1"}');
      },
    ]);
    const budget = await client.getBudget('bud_1');
    expect([etagOf(budget), etagOf({ ...budget })]).toEqual(['"abc"', undefined]);
  });

  test.each([
    ['abc', '"abc"'],
    ['"abc"', '"abc"'],
    ['W/"abc"', 'W/"abc"'],
    ['*', '*'],
  ])('sends the tag %s as %s, and shows the current record after 412', async (given, sent) => {
    const client = await answering([
      (response) => sendJson(response, 412, { detail: 'Changed', current: { revision: 2 } }),
    ]);
    const error = await failure(client.saveDraft('wf_1', {}, { ifMatch: given }));
    expect(server.seen[0]!.headers['if-match']).toBe(sent);
    expect(error).toMatchObject({ status: 412, detail: 'Changed', current: { revision: 2 } });
  });

  test.each([
    ['text/html', '<html><h1>Bad gateway</h1></html>', 'Internal Server Error'],
    ['application/json', '{"detail": ["a"]}', '["a"]'],
    ['application/json', '{"detail": ', 'Internal Server Error'],
    ['application/json', 'null', 'Internal Server Error'],
    ['text/plain', '', 'Internal Server Error'],
  ])('with body %s %j has the detail %j', async (type, body, detail) => {
    const client = await answering([
      (response) => response.writeHead(500, { 'content-type': type }).end(body),
    ]);
    expect(await failure(client.listWorkflows())).toMatchObject({ status: 500, detail });
  });

  test('is thrown for a 200 with an HTML page', async () => {
    const client = await answering([(response) => response.end('<html></html>')]);
    expect(await failure(client.listWorkflows())).toMatchObject({
      name: 'ApiError',
      status: 200,
      detail: expect.stringContaining('not JSON'),
    });
  });

  test('is thrown for a redirect, so that credentials go nowhere else', async () => {
    const elsewhere = await startHttpServer((_request, response) => sendJson(response, 200, []));
    const client = await answering(
      [(response) => response.writeHead(302, { location: elsewhere.url }).end()],
      { apiKey: 'ops_secret' },
    );
    expect(await failure(client.listWorkflows())).toMatchObject({ status: 302 });
    expect(elsewhere.seen).toEqual([]);
    await elsewhere.close();
  });
});

describe('a request without a response', () => {
  test('times out after the timeout of the client or the call', async () => {
    const client = await answering([hang], { timeout: 1 });
    const started = performance.now();
    const error = await failure(client.listWorkflows());
    expect(error).toBeInstanceOf(ConnectionError);
    expect(error).toMatchObject({ timedOut: true, message: 'No answer within 1 s' });
    await failure(client.listWorkflows({ timeout: 0.5 }));
    const took = performance.now() - started;
    expect(took).toBeGreaterThan(1_490);
    expect(server.seen).toHaveLength(2);
  });

  test('times out in the middle of a body', async () => {
    const client = await answering(
      [(response) => void response.writeHead(200, { 'content-length': '100' }).write('[')],
      { timeout: 0.2 },
    );
    expect(await failure(client.listWorkflows())).toMatchObject({ timedOut: true });
  });

  test('ends when its caller aborts, with the reason of the caller', async () => {
    const client = await answering([hang]);
    const controller = new AbortController();
    const reason = new Error('never mind');
    setTimeout(() => controller.abort(reason), 50);
    expect(await failure(client.listWorkflows({ signal: controller.signal }))).toBe(reason);
    expect(await failure(client.listWorkflows({ signal: controller.signal }))).toBe(reason);
    expect(server.seen).toHaveLength(1);
  });

  test('names an unreachable address', async () => {
    await answering([ok()]);
    const nowhere = createClient({ baseUrl: 'http://127.0.0.1:1', retries: 0 });
    const error = await failure(nowhere.listWorkflows());
    expect(error).toBeInstanceOf(ConnectionError);
    expect(error.message).toContain('http://127.0.0.1:1 cannot be reached');
  });

  test('fails with a connection error if the server does not speak HTTP', async () => {
    server = await startTcpServer((socket) => socket.end('SSH-2.0-OpenSSH_9\r\n'));
    const client = createClient({ baseUrl: server.url, retries: 0 });
    expect(await failure(client.listWorkflows())).toBeInstanceOf(ConnectionError);
  });
});

describe('retrying', () => {
  test.each([
    ['a broken connection', reset],
    ['429', refuse(429, { 'retry-after': '0' })],
    ['502', refuse(502)],
    ['503', refuse(503, { 'retry-after': '0' })],
    ['504', refuse(504)],
  ])('a read survives %s', async (_name, trouble) => {
    const client = await answering([trouble, trouble, ok([])]);
    expect(await client.listWorkflows()).toEqual([]);
    expect(server.seen).toHaveLength(3);
  });

  test('starting a run keeps its idempotency key, and each start has another', async () => {
    const client = await answering([reset, refuse(503), ok({ id: 'run_1' }), ok({ id: 'run_2' })]);
    await client.run('wf_1', { a: 1 });
    await client.run('wf_1', { a: 1 });
    const keys = server.seen.map(({ headers }) => headers['idempotency-key']);
    expect(keys.slice(0, 3)).toEqual(Array(3).fill(keys[0]));
    expect(keys[0]).toMatch(/^[0-9a-f]{32}$/);
    expect(keys[3]).toMatch(/^[0-9a-f]{32}$/);
    expect(keys[3]).not.toBe(keys[0]);
  });

  test('stops after the configured number of retries', async () => {
    const client = await answering([refuse(503, { 'retry-after': '0' })], { retries: 4 });
    expect(await failure(client.listWorkflows())).toMatchObject({ status: 503 });
    expect(server.seen).toHaveLength(5);
  });

  test('waits for Retry-After in seconds or as a date', async () => {
    const date = new Date(Date.now() + 2_000).toUTCString();
    const client = await answering([
      refuse(503, { 'retry-after': '1' }),
      refuse(429, { 'retry-after': date }),
      ok([]),
    ]);
    const started = performance.now();
    await client.listWorkflows();
    expect(performance.now() - started).toBeGreaterThan(990);
    expect(server.seen).toHaveLength(3);
  });

  test('is skipped if it would exceed the timeout of the call', async () => {
    // A client that waited for either would outlast the test.
    const client = await answering([refuse(503, { 'retry-after': '7200' })], { timeout: 3_600 });
    expect(await failure(client.listWorkflows())).toMatchObject({ status: 503, retryAfter: 7_200 });
    expect(server.seen).toHaveLength(1);
  });

  test.each([400, 401, 403, 404, 409, 422, 500])('is not done after %d', async (status) => {
    const client = await answering([refuse(status), ok()]);
    expect(await failure(client.listWorkflows())).toMatchObject({ status });
    expect(server.seen).toHaveLength(1);
  });

  test('is skipped for writes, which may have succeeded', async () => {
    const client = await answering([reset, refuse(503), refuse(429), ok({})]);
    expect(await failure(client.createWorkflow({ name: 'x' }))).toBeInstanceOf(ConnectionError);
    expect(await failure(client.cancel('run_1'))).toMatchObject({ status: 503 });
    expect(await failure(client.deleteWorkflow('wf_1'))).toMatchObject({ status: 429 });
    expect(server.seen).toHaveLength(3);
  });

  test('stops when the caller aborts', async () => {
    const client = await answering([refuse(503, { 'retry-after': '20' })]);
    const signal = AbortSignal.timeout(100);
    expect(await failure(client.listWorkflows({ signal }))).toMatchObject({ name: 'TimeoutError' });
    expect(server.seen).toHaveLength(1);
  });
});

describe('waiting for a run', () => {
  test('ends with status 408 if the service hangs', async () => {
    const client = await answering([ok({ id: 'run_1', status: 'pending' }), hang]);
    const error = await failure(client.run('wf_1', {}, { wait: true, timeout: 0.4 }));
    expect(error).toMatchObject({ name: 'WaitTimeoutError', status: 408, runId: 'run_1' });
  });

  test('polls twice a second by default', async () => {
    const pausesMs = async (options: { pollInterval?: number }) => {
      const running = ok({ id: 'run_1', status: 'running' });
      const client = await answering([
        ...[running, running, running],
        ok({ id: 'run_1', status: 'success' }),
      ]);
      const timers = jest.spyOn(globalThis, 'setTimeout');
      try {
        await client.waitForRun('run_1', options);
        const wanted = (options.pollInterval ?? 0.5) * 1_000;
        return timers.mock.calls.map(([, ms]) => ms).filter((ms) => ms === wanted);
      } finally {
        timers.mockRestore();
        await server.close();
      }
    };
    const began = performance.now();
    expect(await pausesMs({})).toEqual([500, 500, 500]);
    expect(performance.now() - began).toBeGreaterThan(1_490);
    expect(await pausesMs({ pollInterval: 0.05 })).toEqual([50, 50, 50]);
  });

  test('limits polling with an interval of 0', async () => {
    const client = await answering([ok({ id: 'run_1', status: 'running' })]);
    await failure(client.waitForRun('run_1', { timeout: 0.3, pollInterval: 0 }));
    expect(server.seen.length).toBeLessThanOrEqual(31);
  });

  test('survives a short outage', async () => {
    const client = await answering([
      ok({ id: 'run_1', status: 'running' }),
      reset,
      refuse(503),
      ok({ id: 'run_1', status: 'paused' }),
    ]);
    const run = await client.run('wf_1', {}, { wait: true, pollInterval: 0.01 });
    expect(run.status).toBe('paused');
  });
});

import { afterAll, describe, expect, test } from '@jest/globals';
import { type FakeServer, startHttpServer } from '#test/fakes/http-server.ts';
import type { OpenApiDocument } from './document.ts';
import { asCurl } from './failures.ts';
import { reportOf } from './report.ts';
import { type FuzzResult, runFuzz } from './run-fuzz.ts';

// A service that violates its document in one way per operation, to test that each check finds its violation.

const error = {
  type: 'object',
  properties: { detail: { type: 'string' } },
  required: ['detail'],
  additionalProperties: false,
};
const json = (schema: object) => ({
  description: 'x',
  content: { 'application/json': { schema } },
});
const thing = {
  type: 'object',
  properties: { id: { type: 'string' }, at: { type: 'string', format: 'date-time' } },
  required: ['id', 'at'],
  additionalProperties: false,
};
const operation = (operationId: string, responses: object = {}, rest: object = {}) => ({
  operationId,
  responses: { 200: json(thing), 400: json(error), 404: json(error), ...responses },
  ...rest,
});
const body = (properties: object) => ({
  requestBody: {
    required: true,
    content: {
      'application/json': { schema: { type: 'object', properties, additionalProperties: false } },
    },
  },
});

const document = {
  openapi: '3.1.0',
  paths: {
    '/api/sound': { get: operation('sound') },
    '/api/shape': { get: operation('shape') },
    '/api/format': { get: operation('format') },
    '/api/status': { get: operation('status') },
    '/api/type': { get: operation('type') },
    '/api/empty': { delete: operation('empty', { 204: { description: 'Done' } }) },
    '/api/fault': { post: operation('fault', {}, body({ note: { type: 'string' }, rest: {} })) },
    '/api/detail': { get: operation('detail') },
    '/api/stack': { get: operation('stack') },
    '/api/header': {
      get: operation('header', {
        200: {
          ...json(thing),
          headers: { 'x-left': { required: true, schema: { type: 'integer' } } },
        },
      }),
    },
    '/api/lax': { post: operation('lax', {}, body({ size: { type: 'integer', maximum: 5 } })) },
    '/api/silent': { get: operation('silent') },
  },
} as unknown as OpenApiDocument;

const sound = { id: 'x', at: '2026-11-01T09:30:00.000Z' };
interface Planned {
  status?: number;
  type?: string;
  body?: unknown;
}
const refusal = (detail: string): Planned => ({ status: 400, body: { detail } });

/** The response of each operation to every request. */
const answers: Record<string, Planned> = {
  sound: { body: sound },
  shape: { body: { ...sound, secret: 1 } },
  format: { body: { ...sound, at: 'yesterday' } },
  status: { status: 418, body: { detail: 'short and stout' } },
  type: { type: 'text/html', body: sound },
  empty: { status: 204, type: 'text/plain', body: undefined },
  fault: { status: 500, body: { detail: 'Internal error' } },
  detail: { status: 404, body: { error: 'no' } },
  stack: refusal('boom\n    at run (/srv/api/app.ts:12:3)'),
  header: { body: sound },
  lax: { body: sound },
};

const servers: FakeServer[] = [];
afterAll(async () => {
  await Promise.all(servers.map((server) => server.close()));
});

async function fuzz(seed: string, requests = 400): Promise<FuzzResult> {
  const server = await startHttpServer((request, response) => {
    const name = /^\/api\/(\w+)/.exec(request.url)?.[1] ?? '';
    if (name === 'silent') {
      response.socket?.destroy();
      return;
    }
    const isKnown = request.method in methodsOf(name);
    const {
      status = 200,
      type = 'application/json',
      body: answered,
    } = isKnown ? (answers[name] ?? refusal('x')) : refusal('nothing of the kind');
    // Its response depends only on this part of the body.
    const isHarmless = name === 'fault' && !request.body.includes('"note"');
    const text = JSON.stringify(isHarmless ? sound : answered);
    response
      .writeHead(isHarmless ? 200 : status, { 'content-type': type, 'x-request-id': 'req_1' })
      .end(text);
  });
  servers.push(server);
  const who = { name: 'owner', headers: {} };
  return runFuzz({
    seed,
    requests,
    service: {
      url: server.url,
      outside: 'http://127.0.0.1:9',
      documents: { operations: document, data: { paths: {} } },
      tools: [],
      cast: { owner: who, crowd: who, others: [[1, who]], dataKeys: [[1, who]] },
      stock: [],
      own: [],
      processes: {},
      stop: server.close,
    },
  });
}

const methodsOf = (name: string): Record<string, unknown> =>
  Object.fromEntries(
    Object.keys(document.paths[`/api/${name}`] ?? {}).map((method) => [method.toUpperCase(), true]),
  );

describe('a service that breaks its document', () => {
  let found: FuzzResult;
  const failureAt = (path: string, place: string) =>
    found.failures.find((each) => each.operation.endsWith(path) && each.at === place);

  test('receives requests to all operations', async () => {
    found = await fuzz('1');
    expect(found.requests).toBe(400);
    expect([...found.operations.values()].every(({ sent }) => sent > 0)).toBe(true);
  });

  test.each([
    ['a field that no schema has', '/api/shape', ' additionalProperties secret'],
    ['a value of another format', '/api/format', '/at format'],
    ['a status that is not documented', '/api/status', 'status'],
    ['another content type', '/api/type', 'content type'],
    ['a fault', '/api/fault', 'fault'],
    ['a refusal of another shape', '/api/detail', ' required detail'],
    ['frames of a stack', '/api/stack', 'leak'],
    ['a header that is missing', '/api/header', 'header x-left'],
    ['a body that the document forbids', '/api/lax', 'accepted  additionalProperties surprise'],
    ['no answer', '/api/silent', 'answer'],
  ])('is reported for %s', (_what, path, place) => {
    expect(failureAt(path, place)).toBeDefined();
  });

  test('is not reported for documented responses', () => {
    expect(found.failures.filter(({ operation: name }) => /sound|empty/.test(name))).toEqual([]);
  });

  test('has each bug reported once, with its number of responses', () => {
    const keys = found.failures.map(({ operation: name, status, at }) => `${name}${status}${at}`);
    expect(new Set(keys).size).toBe(keys.length);
    expect(failureAt('/api/shape', ' additionalProperties secret')!.count).toBeGreaterThan(10);
  });

  test('has the request of each bug minimized', () => {
    const { request } = failureAt('/api/fault', 'fault')!;
    if (request.json !== undefined) expect(Object.keys(request.json as object)).toEqual(['note']);
    expect(request.path).toBe('/api/fault');
    expect(asCurl(request)).toContain(`curl -sS -X POST "$API"'/api/fault'`);
  });

  test('is reported readably', () => {
    const report = reportOf(found);
    expect(report).toMatch(/^seed {9}1$/m);
    expect(report).toMatch(/never succeeded: GET \/api\/status \(418 short and stout/);
    expect(report).toMatch(/GET \/api\/shape answered 200, \d+ times/);
    expect(report).toMatch(/seed 1, request \d+, /);
  });
});

test('the same seed sends the same requests', async () => {
  const [first, second, other] = [await fuzz('7', 120), await fuzz('7', 120), await fuzz('8', 120)];
  const told = ({ failures, classes, statuses }: FuzzResult) => ({
    classes,
    statuses,
    failures: failures.map(({ request, problem }) => [request.number, request.path, problem]),
  });
  expect(told(first)).toEqual(told(second));
  expect(told(first)).not.toEqual(told(other));
});

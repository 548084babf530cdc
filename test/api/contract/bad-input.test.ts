import { afterAll, beforeAll, describe, expect, test } from '@jest/globals';
import { addDataKey } from '#test/api/data/data-key.ts';
import { type Operation, operationsOf } from '#test/support/api-operations.ts';
import { replaceAt, wrongValuesOf } from '#test/support/wrong-values.ts';
import { oneStep, startTestApi, type TestApi } from '#test/api/test-api.ts';

// Sends everything that the OpenAPI documents forbid to every operation. Most need no record: a request is checked
// before what it refers to is looked up.

let api: TestApi;
let key: Record<string, string>;
const ids = { wf: '', run: '' };
beforeAll(async () => {
  api = await startTestApi({ ENCRYPTION_KEY: 'a key for the tests alone' });
  key = (await addDataKey(api)).headers;
  ids.wf = (await api.call('POST', '/api/workflows', { name: 'x', graph: oneStep })).body.id;
  ids.run = (await api.call('POST', `/api/workflows/${ids.wf}/runs`, { ticket: 'x' })).body.id;
});
afterAll(async () => api.stop());

const send = (
  route: string,
  payload: string | Buffer,
  type = 'application/json',
  headers: Record<string, string> = {},
) => {
  const [method = '', path = ''] = route.split(' ');
  const url = path.replace(':wf', ids.wf).replace(':run', ids.run);
  return api.send({
    method: method as 'POST',
    url,
    headers: { 'content-type': type, ...headers },
    payload,
  });
};

const refused = (answer: { status: number; body: unknown }, status: number, detail: RegExp) => {
  expect(answer).toMatchObject({ status, body: { detail: expect.stringMatching(detail) } });
  expect(Object.keys(answer.body as object)).toEqual(['detail']);
};

/** Operations that check their body in another way. */
const otherwise = [
  'POST /api/mcp',
  'POST /api/hooks/{workflow_id}/{secret}',
  'POST /api/callbacks/{token}',
];
const withBodies = (): Operation[] =>
  operationsOf(api.app).filter(({ body, name }) => body !== undefined && !otherwise.includes(name));
const urlOf = ({ path }: Operation): string => path.replaceAll(/\{\w+\}/g, 'X_UNKNOWN');
/** Sends a request to an operation; returns a line about an answer that does not refuse it so, else nothing. */
const unlessRefused = async (
  operation: Operation,
  {
    query = '',
    payload,
    type = 'application/json',
  }: { query?: string; payload?: string | Buffer; type?: string },
  status: number,
  detail: RegExp | string,
): Promise<string[]> => {
  const isData = operation.path.startsWith('/v1/');
  const answer = await api.send({
    method: operation.method as 'POST',
    url: `${urlOf(operation)}${query}`,
    headers: { ...(payload === undefined ? {} : { 'content-type': type }), ...(isData ? key : {}) },
    payload: payload ?? '',
  });
  const wanted = isData && status === 400 && query === '' ? 422 : status;
  const text: string = answer.body?.detail ?? '';
  const fits = typeof detail === 'string' ? text.includes(detail) : detail.test(text);
  if (answer.status === wanted && fits && Object.keys(answer.body).length === 1) return [];
  return [
    `${operation.name} ${query.slice(0, 50)} ${type} ${payload?.toString().slice(0, 50)}: ${answer.status} ${answer.text.slice(0, 200)}`,
  ];
};

describe('every operation with a body refuses', () => {
  test.each<[string, RegExp, string | Buffer]>([
    ...['{', '{"a":}', 'nonsense', '{"a":1}}', '{"a":01}', '\ufeff{'].map(
      (text): [string, RegExp, string] => [text, /^Invalid body: not valid JSON/, text],
    ),
    ['bytes', /^Invalid body: not valid UTF-8/, Buffer.from('{"name":"\xff\xfe"}', 'latin1')],
    ['__proto__', /__proto__/, '{"__proto__":{"admin":true}}'],
    ['constructor', /constructor/, '{"a":{"constructor":{"prototype":{"x":1}}}}'],
    ['__proto__, escaped', /__proto__/, '{"\\u005f\\u005fproto__":1}'],
    ['a text', /^Invalid body: /, '"text"'],
    ['a number', /^Invalid body: /, '7'],
    ['a NUL', /^Invalid body: \S+ contains a NUL/, '{"name":"a\\u0000b"}'],
    ['half a character', /^Invalid body: \S+ contains a lone surrogate/, '{"name":"a\\ud800b"}'],
    ['the other half', /lone surrogate/, '{"name":"\\udc00"}'],
    ['a NUL in a key', /has a key that contains a NUL/, '{"a\\u0000":1}'],
    ['half a character in a key', /has a key that contains a lone surrogate/, '{"\\ud83d":1}'],
    ['a number too large for JSON', /too large/, '{"name":1e999}'],
    ...['9007199254740992', '-12345678901234567890'].map((number): [string, RegExp, string] => [
      `the integer ${number}`,
      /^Invalid body: name\.0\.id is an integer beyond ±9007199254740991.*send it as a string$/,
      `{"name":[{"id":${number}}]}`,
    ]),
    ['deep nesting', /nested deeper/, `{"name":${'['.repeat(50_000)}${']'.repeat(50_000)}}`],
  ])('%s, with %s', async (_what, detail, payload) => {
    const wrong: string[] = [];
    for (const operation of withBodies()) {
      wrong.push(...(await unlessRefused(operation, { payload }, 400, detail)));
    }
    expect(wrong).toEqual([]);
  });

  test('a body of 2 MB, or of 22 MB where it can be an API document', async () => {
    const bodyOf = (bytes: number) => JSON.stringify({ name: 'x'.repeat(bytes) });
    const documents = ['/api/tools/import', '/api/tools/{id}/refresh'];
    const wrong: string[] = [];
    for (const operation of withBodies()) {
      if (operation.path === '/api/data/ingest') continue;
      const isDocument = documents.includes(operation.path);
      const payload = bodyOf(isDocument ? 22_000_000 : 2_000_000);
      const detail = isDocument ? /^The body is larger than 21 MB$/ : /1 MB/;
      wrong.push(...(await unlessRefused(operation, { payload }, 413, detail)));
    }
    expect(wrong).toEqual([]);
  });

  test('other content types', async () => {
    const types = [
      'text/plain',
      'application/x-www-form-urlencoded',
      'multipart/form-data; boundary=x',
      'application/jsonx',
      'application/json\ttext/plain',
      ' text/plain ; charset=application/json',
      'application/json, text/plain',
      'garbage',
    ];
    const wrong: string[] = [];
    for (const operation of withBodies()) {
      for (const type of types) {
        const request = { payload: '{}', type };
        wrong.push(...(await unlessRefused(operation, request, 415, /application\/json/)));
      }
    }
    expect(wrong).toEqual([]);
  });

  test('each wrong value of a field, naming it', async () => {
    const wrong: string[] = [];
    let asked = 0;
    for (const operation of withBodies()) {
      for (const { path, value } of wrongValuesOf(operation.body!)) {
        const payload = JSON.stringify(replaceAt(operation.example ?? {}, path, value));
        const name =
          path.at(-1) === 'surprise' ? `unknown field '${path.join('.')}'` : path.join('.');
        const detail = path.length === 0 ? /^Invalid body: / : name;
        wrong.push(...(await unlessRefused(operation, { payload }, 400, detail)));
        asked += 1;
      }
    }
    expect(wrong).toEqual([]);
    expect(asked).toBeGreaterThan(500);
  }, 60_000);
});

test('every operation refuses each wrong value of its query, naming it', async () => {
  const wrong: string[] = [];
  let asked = 0;
  for (const operation of operationsOf(api.app)) {
    const parameters = operation.parameters.filter((parameter) => parameter.in === 'query');
    if (operation.isSocket || parameters.length === 0) continue;
    const values = parameters.flatMap(({ name, schema }): [string, string][] => {
      // Wrong integers are in test/api/runs/inputs.test.ts.
      if (schema.type === 'integer') return [];
      if (schema.type === 'number') {
        const { minimum = 0, maximum } = schema;
        const beyond = [minimum - 1, ...(maximum === undefined ? [] : [maximum + 1])];
        return ['', 'x', '1e1', 'NaN', ...beyond.map(String)].map((text) => [name, text]);
      }
      return wrongValuesOf(schema).flatMap(({ value }) =>
        typeof value === 'string' ? [[name, value]] : [],
      );
    });
    for (const [name, value] of [...values, ['surprise', '1'] as const]) {
      const query = `?${new URLSearchParams({ [name]: value }).toString()}`;
      const detail = name === 'surprise' ? "unknown field 'surprise'" : name;
      wrong.push(...(await unlessRefused(operation, { query }, 400, detail)));
      asked += 1;
    }
  }
  expect(wrong).toEqual([]);
  expect(asked).toBeGreaterThan(100);
});

test.each<[string, unknown, RegExp]>([
  ['POST /api/workflows', {}, /^Invalid body: name is required$/],
  ['POST /api/workflows', { name: 7 }, /name must be a string, not number$/],
  ['POST /api/workflows', { name: 'x', graph: [] }, /graph must be an object/],
  ['PUT /api/workflows/:wf', { run_cap_usd: 1e300 }, /run_cap_usd/],
  ['PUT /api/workflows/:wf/checks', [{ name: 'a', type: 'contains' }], /0\.value/],
  [
    'PUT /api/workflows/:wf/checks',
    [{ name: 'a', type: 'max_cost_usd', value: 'x' }],
    /0\.value must be a number/,
  ],
  [
    'PUT /api/workflows/:wf/checks',
    [{ type: 'max_cost_usd', value: 1, foo: 1 }],
    /unknown field '0\.foo'/,
  ],
  ['POST /api/runs/:run/approve', { input: [] }, /input must be a JSON object/],
])('%s with %j says what is wrong', async (route, body, detail) => {
  refused(await send(route, JSON.stringify(body)), 400, detail);
});

describe('queries and paths', () => {
  test.each<[string, number, RegExp]>([
    ['/api/runs?cursor=nonsense', 400, /cursor/],
    ['/api/runs?__proto__=2', 400, /unknown field|Invalid query/],
    ['/api/runs?workflow_id=a%00b', 400, /^Invalid query: workflow_id contains a NUL/],
    ['/api/runs/run_unknown/events', 404, /^Run not found$/],
    ['/api/approvals?cursor=%F0%9F%92%A9', 400, /cursor/],
    ['/api/workflows/wf_%00', 400, /^Invalid path: id contains a NUL/],
    ['/api/workflows/%E0%A4%A', 400, /not a valid URL/],
    ['/api/workflows/wf_unknown', 404, /^Workflow not found$/],
    [`/api/workflows/${'x'.repeat(900)}`, 404, /^Workflow not found$/],
    [`/api/workflows/${'x'.repeat(2_000)}`, 404, /^Not found$/],
    ['/api/workflows/__proto__', 404, /^Workflow not found$/],
    ['/api/workflows/wf_unknown/versions?cursor=dg', 400, /cursor/],
    ['/api/workflows/wf_unknown/versions/0', 400, /^Invalid path: version/],
    ['/api/workflows/wf_unknown/versions/latest', 400, /^Invalid path: version/],
    ['/api/workflows/wf_unknown/versions/2147483648', 400, /^Invalid path: version/],
    ['/api/workflows/wf_unknown/versions/diff', 400, /^Invalid query: from/],
    ['/api/workflows/wf_unknown/versions/diff?from=1&to=x', 400, /^Invalid query: to/],
    ['/api/runs/run_unknown', 404, /^Run not found$/],
    ['/api/runs/', 404, /^Not found$/],
    ['/api/workflows/', 404, /^Not found$/],
    ['/api/nothing', 404, /^Not found$/],
    ['/nothing', 404, /^Not found$/],
  ])('GET %s is %i', async (url, status, detail) => {
    const answer = await api.send({ method: 'GET', url });
    refused(answer, status, detail);
  });

  test.each([
    ['PATCH', '/api/workflows', 'GET, HEAD, POST'],
    ['DELETE', '/api/workflows', 'GET, HEAD, POST'],
    ['GET', '/api/runs/run_x/approve', 'POST'],
    ['GET', '/api/hooks/wf_x/0123', 'POST'],
    ['POST', '/api/runs/run_x?x=1', 'GET, HEAD'],
  ])('an unsupported method returns 405 and Allow (%s %s)', async (method, url, allow) => {
    const answer = await api.send({ method: method as 'PATCH', url });
    refused(answer, 405, new RegExp(`^${method} is not allowed here: use ${allow}$`));
    expect(answer.headers['allow']).toBe(allow);
  });

  test('a compressed body is refused', async () => {
    const headers = { 'content-type': 'application/json', 'content-encoding': 'gzip' };
    const sendTo = (url: string) => api.send({ method: 'POST', url, headers, payload: '{}' });
    refused(await sendTo('/api/workflows'), 415, /^Content-Encoding must be identity/);
  });
});

test('a reason has at most 1,000 characters after trimming', async () => {
  const reason = ` ${'x'.repeat(1_000)} `;
  // The request is valid, but no gate is open.
  refused(
    await send('POST /api/runs/:run/approve', JSON.stringify({ reason })),
    409,
    /not paused at a gate/,
  );
});

test('a key named constructor is accepted', async () => {
  const answer = await send(
    'POST /api/workflows/:wf/runs',
    '{"constructor":"x","hasOwnProperty":1,"ticket":"y"}',
  );
  expect(answer.status).toBe(201);
  expect(answer.body.input).toEqual({ constructor: 'x', hasOwnProperty: 1, ticket: 'y' });
});

test('unusual but valid text is stored unchanged', async () => {
  const ticket = 'emoji 💩, nbsp\u00a0, rtl \u202e, bell \u0007, \uffff';
  const answer = await send('POST /api/workflows/:wf/runs', JSON.stringify({ ticket }));
  expect([answer.status, answer.body.input]).toEqual([201, { ticket }]);
});

import { afterAll, beforeAll, describe, expect, test } from '@jest/globals';
import { oneStep, startTestApi, type TestApi } from '#test/api/test-api.ts';

/** Every route that takes a body, with a valid body. */
const bodies = {
  'POST /api/workflows': { name: 'x' },
  'PUT /api/workflows/:wf': { name: 'x' },
  'POST /api/workflows/:wf/publish': {},
  'POST /api/workflows/:wf/validate': {},
  'PUT /api/workflows/:wf/checks': [],
  'POST /api/workflows/:wf/runs': { ticket: 'x' },
  'POST /api/runs/:run/approve': { approved: true },
  'POST /api/runs/:run/resume': {},
  'POST /api/runs/:run/cancel': {},
  'PUT /api/workspace': { name: 'x' },
  'PUT /api/workspace/prices': { prices: [] },
  'POST /api/members/invite': { name: 'x', email: 'x@example.com', role: 'viewer' },
} as const;
const routes = Object.keys(bodies) as (keyof typeof bodies)[];
const routesWithText = routes.filter(
  (route) => !/publish|validate|resume|cancel|checks|prices/.test(route),
);

let api: TestApi;
const ids = { wf: '', run: '' };
beforeAll(async () => {
  api = await startTestApi();
  ids.wf = (await api.call('POST', '/api/workflows', { name: 'x', graph: oneStep })).body.id;
  ids.run = (await api.call('POST', `/api/workflows/${ids.wf}/runs`, { ticket: 'x' })).body.id;
});
afterAll(async () => api.stop());

const send = (route: string, payload: string | Buffer, type = 'application/json') => {
  const [method = '', path = ''] = route.split(' ');
  const url = path.replace(':wf', ids.wf).replace(':run', ids.run);
  return api.send({ method: method as 'POST', url, headers: { 'content-type': type }, payload });
};

const refused = (answer: { status: number; body: unknown }, status: number, detail: RegExp) => {
  expect(answer).toMatchObject({ status, body: { detail: expect.stringMatching(detail) } });
  expect(Object.keys(answer.body as object)).toEqual(['detail']);
};

describe.each(routes)('%s refuses', (route) => {
  test.each(['{', '{"a":}', 'nonsense', '{"a":1}}', '{"a":01}', '\ufeff{'])(
    'malformed JSON %j',
    async (text) => {
      refused(await send(route, text), 400, /^Invalid body: not valid JSON/);
    },
  );

  test('invalid UTF-8', async () => {
    const bytes = Buffer.concat([
      Buffer.from('{"name":"'),
      Buffer.from([0xff, 0xfe]),
      Buffer.from('"}'),
    ]);
    refused(await send(route, bytes), 400, /^Invalid body: not valid UTF-8/);
  });

  test('keys that reach a prototype', async () => {
    refused(await send(route, '{"__proto__":{"admin":true}}'), 400, /__proto__/);
    refused(await send(route, '{"a":{"constructor":{"prototype":{"x":1}}}}'), 400, /constructor/);
    refused(await send(route, '{"\\u005f\\u005fproto__":1}'), 400, /__proto__/);
  });

  test('a body of 2 MB', async () => {
    refused(await send(route, JSON.stringify({ name: 'x'.repeat(2_000_000) })), 413, /1 MB/);
  });

  test.each([
    'text/plain',
    'application/x-www-form-urlencoded',
    'multipart/form-data; boundary=x',
    'application/jsonx',
    'application/json\ttext/plain',
    ' text/plain ; charset=application/json',
    'application/json, text/plain',
    'garbage',
  ])('content type %j', async (type) => {
    refused(await send(route, JSON.stringify(bodies[route]), type), 415, /application\/json/);
  });

  test('a body of the wrong type', async () => {
    const text = Array.isArray(bodies[route]) ? '{}' : '[]';
    refused(await send(route, text), 400, /^Invalid body: .*(array|object|record)/);
    refused(await send(route, '"text"'), 400, /^Invalid body: /);
    refused(await send(route, '7'), 400, /^Invalid body: /);
  });
});

describe.each(routes.filter((route) => !route.endsWith('/runs') && !route.endsWith('/checks')))(
  '%s refuses',
  (route) => {
    test('an unknown field, naming it', async () => {
      const body = { ...(bodies[route] as object), surprise: 1, toString: 2 };
      refused(await send(route, JSON.stringify(body)), 400, /unknown field 'surprise'/);
    });
  },
);

describe.each(routesWithText)('%s refuses', (route) => {
  const wrap = (text: string) => {
    const [key] = Object.keys(bodies[route]);
    const deep = route.endsWith('approve')
      ? `{"input":{"deep":[{"at":${text}}]}}`
      : `{"${key}":${text}}`;
    return deep;
  };

  test('NUL characters and lone surrogates anywhere', async () => {
    refused(await send(route, wrap('"a\\u0000b"')), 400, /^Invalid body: \S+ contains a NUL/);
    refused(
      await send(route, wrap('"a\\ud800b"')),
      400,
      /^Invalid body: \S+ contains a lone surrogate/,
    );
    refused(await send(route, wrap('"\\udc00"')), 400, /lone surrogate/);
    refused(await send(route, '{"a\\u0000":1}'), 400, /has a key that contains a NUL/);
    refused(await send(route, '{"\\ud83d":1}'), 400, /has a key that contains a lone surrogate/);
  });

  test('numbers too large for JSON', async () => {
    refused(await send(route, wrap('1e999')), 400, /too large/);
  });

  test('integers that would be rounded, naming the path', async () => {
    for (const number of ['9007199254740992', '-12345678901234567890']) {
      refused(
        await send(route, wrap(`[{"id":${number}}]`)),
        400,
        /^Invalid body: \S+\.0\.id is an integer beyond ±9007199254740991.*send it as a string$/,
      );
    }
  });

  test('JSON nested too deeply', async () => {
    refused(
      await send(route, wrap(`${'['.repeat(50_000)}${']'.repeat(50_000)}`)),
      400,
      /nested deeper/,
    );
  });
});

describe('fields of the wrong type are named', () => {
  test.each<[string, unknown, RegExp]>([
    ['POST /api/workflows', {}, /name is required/],
    ['POST /api/workflows', { name: 7 }, /name must be a string, not number/],
    ['POST /api/workflows', { name: '   ' }, /name /],
    ['POST /api/workflows', { name: 'x'.repeat(201) }, /name /],
    ['POST /api/workflows', { name: 'x', description: null }, /description must be a string/],
    ['POST /api/workflows', { name: 'x', graph: [] }, /graph must be an object/],
    ['POST /api/workflows', { name: 'x', graph: { nodes: {} } }, /graph\.nodes must be an array/],
    ['POST /api/workflows', { name: 'x', run_cap_usd: -1 }, /run_cap_usd/],
    ['POST /api/workflows', { name: 'x', run_cap_usd: 1e300 }, /run_cap_usd/],
    ['PUT /api/workflows/:wf', { name: null }, /name must be a string/],
    ['PUT /api/workflows/:wf', { run_cap_usd: '1' }, /run_cap_usd must be a number/],
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
    ['POST /api/runs/:run/approve', { approved: 'yes' }, /approved must be a boolean/],
    ['POST /api/runs/:run/approve', { input: [] }, /input must be a JSON object/],
    ['POST /api/runs/:run/approve', { node_id: 5 }, /node_id must be a string/],
    ['POST /api/runs/:run/approve', { reason: 5 }, /reason must be a string/],
    ['POST /api/runs/:run/approve', { reason: null }, /reason must be a string/],
    ['POST /api/runs/:run/approve', { reason: 'x'.repeat(1_001) }, /reason /],
    [
      'PUT /api/workspace/prices',
      { prices: [{ model: 'a/b' }] },
      /prices\.0\.input_usd_per_million is required/,
    ],
  ])('%s %j', async (route, body, detail) => {
    refused(await send(route, JSON.stringify(body)), 400, detail);
  });
});

describe('queries and paths', () => {
  test.each<[string, number, RegExp]>([
    ['/api/runs?limit=0', 400, /^Invalid query: limit/],
    ['/api/runs?limit=201', 400, /^Invalid query: limit/],
    ['/api/runs?limit=ten', 400, /^Invalid query: limit/],
    ['/api/runs?limit=1.5', 400, /^Invalid query: limit/],
    ['/api/runs?limit=1&limit=2', 400, /^Invalid query: limit/],
    ['/api/runs?status=done', 400, /^Invalid query: status/],
    ['/api/runs?trigger=magic', 400, /^Invalid query: trigger/],
    ['/api/runs?since=yesterday', 400, /^Invalid query: since/],
    ['/api/runs?since=2026-13-45T00:00:00Z', 400, /^Invalid query: since/],
    ['/api/runs?cursor=nonsense', 400, /cursor/],
    ['/api/runs?cursor=', 400, /^Invalid query: cursor/],
    ['/api/runs?page=2', 400, /unknown field 'page'/],
    ['/api/runs?__proto__=2', 400, /unknown field|Invalid query/],
    ['/api/runs?workflow_id=a%00b', 400, /^Invalid query: workflow_id contains a NUL/],
    ['/api/runs/run_unknown/events?limit=0', 400, /^Invalid query: limit/],
    ['/api/runs/run_unknown/events?limit=1001', 400, /^Invalid query: limit/],
    ['/api/runs/run_unknown/events?after=-1', 400, /^Invalid query: after/],
    ['/api/runs/run_unknown/events?after=first', 400, /^Invalid query: after/],
    ['/api/runs/run_unknown/events?after=1e300', 400, /^Invalid query: after/],
    ['/api/runs/run_unknown/events?cursor=1', 400, /unknown field 'cursor'/],
    ['/api/runs/run_unknown/events', 404, /^Run not found$/],
    ['/api/approvals?limit=1000', 400, /^Invalid query: limit/],
    ['/api/approvals?cursor=%F0%9F%92%A9', 400, /cursor/],
    ['/api/workflows?cursor=1', 400, /unknown field 'cursor'/],
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

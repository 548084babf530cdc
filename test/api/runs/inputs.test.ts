import { afterAll, beforeAll, describe, expect, test } from '@jest/globals';
import { MAX_PAGE } from '#shared/contract/common.ts';
import { parseTime } from '#shared/time.ts';
import { addDataKey } from '#test/api/data/data-key.ts';
import { addEndpoint } from '#test/api/data/records.ts';
import { oneStep, startTestApi, type TestApi } from '#test/api/test-api.ts';

// Applies the same input checks to every route of the OpenAPI documents, so that none is missed.

let api: TestApi;
let key: Record<string, string>;
const ids: Record<string, string> = {};
beforeAll(async () => {
  api = await startTestApi({ ENCRYPTION_KEY: 'a key for the tests alone' });
  key = (await addDataKey(api)).headers;
  ids.endpoint = await addEndpoint(api);
  ids.workflow = (await api.call('POST', '/api/workflows', { name: 'x', graph: oneStep })).body.id;
  ids.run = (await api.call('POST', `/api/workflows/${ids.workflow}/runs`, {})).body.id;
});
afterAll(async () => api.stop());

const ask = (method: string, url: string, body?: unknown) =>
  api.call(method, url, body, url.startsWith('/v1/') ? key : {});

interface Get {
  path: string;
  /** With parameters replaced by ids. */
  url: string;
  parameters: { name: string; in: string; required?: boolean; schema: any }[];
  answer: any;
}

/** Every GET of both documents that returns JSON. */
const gets = (): Get[] =>
  [api.app.swagger(), api.app.dataSwagger()].flatMap((document: any) =>
    Object.entries<any>(document.paths).flatMap(([path, { get }]) => {
      const answer = get?.responses['200']?.content?.['application/json']?.schema;
      if (answer === undefined) return [];
      const id = path.includes('/endpoints/') || path.includes('/webhooks/') ? 'endpoint' : 'run';
      const url = path.replaceAll(/\{\w+\}/g, ids[path.includes('/workflows/') ? 'workflow' : id]!);
      const named = document.components.schemas[answer.$ref?.split('/').at(-1)];
      return [{ path, url, parameters: get.parameters ?? [], answer: named ?? answer }];
    }),
  );

const query = ({ parameters }: Get, name: string) =>
  parameters.find((parameter) => parameter.in === 'query' && parameter.name === name);

describe('a list that returns a bare array', () => {
  const lists = () => gets().filter(({ answer }) => answer.type === 'array');

  test('exists only at these paths', () => {
    expect(
      lists()
        .map(({ path }) => path)
        .sort(),
    ).toEqual([
      '/api/authorizations',
      '/api/budgets',
      '/api/connection-presets',
      '/api/connections',
      '/api/data/feeds',
      '/api/data/keys',
      '/api/data/sources',
      '/api/governance/events',
      '/api/keys',
      '/api/members',
      '/api/queues',
      '/api/schedules',
      '/api/secrets',
      '/api/templates',
      '/api/tools',
      '/api/webhooks',
      '/api/workflows',
      '/api/workflows/{id}/triggers',
    ]);
  });

  test('accepts a limit and offset within bounds, and documents both', async () => {
    for (const list of lists()) {
      expect(query(list, 'limit')?.schema).toMatchObject({
        type: 'integer',
        minimum: 1,
        maximum: MAX_PAGE,
        default: MAX_PAGE,
      });
      expect(query(list, 'offset')?.schema).toMatchObject({
        type: 'integer',
        minimum: 0,
        default: 0,
      });
      for (const asked of [
        'limit=1',
        'limit=200',
        'offset=0',
        'offset=1000000',
        'limit=7&offset=7',
      ]) {
        const { status, body } = await ask('GET', `${list.url}?${asked}`);
        expect([list.url, asked, status, body]).toEqual([list.url, asked, 200, expect.any(Array)]);
      }
    }
  });

  test('continues each page where the previous one ended', async () => {
    for (const { url } of lists()) {
      const all = (await ask('GET', url)).body as { id: string }[];
      const pages = [];
      for (let offset = 0; offset <= all.length; offset += 3) {
        pages.push(...(await ask('GET', `${url}?limit=3&offset=${offset}`)).body);
      }
      expect(pages.map(({ id }) => id)).toEqual(all.map(({ id }) => id));
    }
  });
});

test('every data API list documents a limit and a cursor', () => {
  const lists = gets().filter(
    ({ path, answer }) => path.startsWith('/v1/') && answer.properties?.data?.type === 'array',
  );
  expect(lists.map(({ path }) => path)).toContain('/v1/webhooks');
  for (const list of lists) {
    expect(query(list, 'limit')?.schema).toMatchObject({ minimum: 1, maximum: 100, default: 25 });
    expect(query(list, 'cursor')?.schema).toMatchObject({ type: 'string' });
  }
});

describe('an integer in a query', () => {
  const numbers = () =>
    gets().flatMap((get) =>
      get.parameters
        .filter((parameter) => parameter.in === 'query' && parameter.schema.type === 'integer')
        .map((parameter) => ({ get, name: parameter.name, schema: parameter.schema })),
    );

  test('is refused if malformed or out of bounds, naming the field', async () => {
    expect(numbers().length).toBeGreaterThan(40);
    for (const { get, name, schema } of numbers()) {
      const wrong = ['', 'x', '1.5', '-1', '1e1', '+1', ' 1', '٣', '9'.repeat(400)];
      if (schema.minimum > 0) wrong.push('0', String(schema.minimum - 1));
      if (schema.maximum < Number.MAX_SAFE_INTEGER) wrong.push(String(Number(schema.maximum) + 1));
      for (const value of wrong) {
        const { status, body } = await ask(
          'GET',
          `${get.url}?${name}=${encodeURIComponent(value)}`,
        );
        expect([get.url, name, value, status]).toEqual([get.url, name, value, 400]);
        expect(body.detail).toMatch(
          new RegExp(`^Invalid query: (.*; )?${name} must be a whole number`),
        );
      }
    }
  });

  test('is refused if given twice', async () => {
    for (const { get, name } of numbers()) {
      const { status, body } = await ask('GET', `${get.url}?${name}=1&${name}=1`);
      expect([get.url, status, body.detail]).toEqual([
        get.url,
        400,
        `Invalid query: ${name} is given more than once`,
      ]);
    }
  });
});

const times: [string, string][] = [
  ['2026-01-01', '2026-01-01T00:00:00.000Z'],
  ['2024-02-29', '2024-02-29T00:00:00.000Z'],
  ['2026-01-01T09:30:00Z', '2026-01-01T09:30:00.000Z'],
  ['2026-01-01T09:30Z', '2026-01-01T09:30:00.000Z'],
  ['2026-01-01T09:30:00.5Z', '2026-01-01T09:30:00.500Z'],
  ['2026-01-01T09:30:00.123456789Z', '2026-01-01T09:30:00.123Z'],
  ['2026-01-01T00:00:00+16:00', '2025-12-31T08:00:00.000Z'],
  ['2026-01-01T00:00:00+23:59', '2025-12-31T00:01:00.000Z'],
  ['2026-01-01T00:00:00-23:59', '2026-01-01T23:59:00.000Z'],
  ['2026-01-01T00:00:00+0530', '2025-12-31T18:30:00.000Z'],
  ['2026-01-01T00:00:00-08', '2026-01-01T08:00:00.000Z'],
  ['0001-01-01', '0001-01-01T00:00:00.000Z'],
  ['0000-12-31T23:00:00-02:00', '0001-01-01T01:00:00.000Z'],
  ['0099-06-01T00:00:00Z', '0099-06-01T00:00:00.000Z'],
  ['9999-12-31T23:59:59.999Z', '9999-12-31T23:59:59.999Z'],
];
const noTimes = [
  '',
  'yesterday',
  'now',
  'infinity',
  '2026',
  '2026-01',
  '2026-1-1',
  '2026-13-01',
  '2026-02-29',
  '2026-04-31T00:00:00Z',
  '2026-01-01T00:00:00',
  '2026-01-01 00:00:00Z',
  '2026-01-01T24:00:00Z',
  '2026-01-01T00:60:00Z',
  '2026-01-01T00:00:60Z',
  '2026-01-01T00:00:00+24:00',
  '2026-01-01T00:00:00+00:60',
  '2026-01-01T00:00:00Z+01:00',
  '+002026-01-01T00:00:00Z',
  '1767225600',
  '2026-01-01T00:00:00Z\n',
];
const outOfRange = [
  '0000-12-31',
  '0001-01-01T00:00:00+00:01',
  '9999-12-31T23:59:59-01:00',
  '9999-12-31T23:59:59.999-00:01',
];

test.each(times)('reads the time %s as %s', (text, time) => {
  expect(parseTime(text)).toEqual({ time });
});

test('agrees with Date on times that both can parse', () => {
  for (let round = 0; round < 5_000; round += 1) {
    const at = new Date(Math.floor((Math.random() * 2 - 1) * 6e13));
    const text = at.toISOString();
    if (text.startsWith('-')) continue;
    expect(parseTime(text)).toEqual({ time: text });
    const hours = String(Math.floor(Math.random() * 24)).padStart(2, '0');
    const withOffset = text.replace('Z', `${Math.random() < 0.5 ? '+' : '-'}${hours}:30`);
    expect(parseTime(withOffset)).toEqual({ time: new Date(withOffset).toISOString() });
  }
});

describe('a time in a query', () => {
  const parameters = () =>
    gets().flatMap((get) =>
      get.parameters
        .filter(({ schema }) => schema.format === 'date-time')
        .map(({ name }) => ({ get, name })),
    );
  const answer = async ({ get, name }: { get: Get; name: string }, time: string) => {
    const { status, body } = await ask('GET', `${get.url}?${name}=${encodeURIComponent(time)}`);
    return [get.path, name, time, status, status === 200 ? '' : body.detail];
  };

  test('is accepted everywhere in every ISO 8601 form', async () => {
    expect(parameters().length).toBeGreaterThanOrEqual(12);
    for (const parameter of parameters()) {
      for (const [time] of times) {
        expect(await answer(parameter, time)).toEqual([
          parameter.get.path,
          parameter.name,
          time,
          200,
          '',
        ]);
      }
    }
  });

  test('is refused if malformed or outside the years 1 to 9999, naming the field', async () => {
    for (const parameter of parameters()) {
      for (const time of [...noTimes, ...outOfRange]) {
        const { get, name } = parameter;
        const why = outOfRange.includes(time) ? 'must be in the years' : 'must be an ISO 8601 date';
        expect(await answer(parameter, time)).toEqual([
          get.path,
          name,
          time,
          400,
          expect.stringContaining(`Invalid query: ${name} ${why}`),
        ]);
      }
    }
  });
});

describe('a time in a body', () => {
  const bodies: [string, string, (time: string) => unknown][] = [
    [
      '/api/data/keys',
      'expires_at',
      (expires_at) => ({ name: 'k', mode: 'live', scopes: ['usage:read'], expires_at }),
    ],
    ['/v1/webhooks/:endpoint/redeliver', 'since', (since) => ({ since })],
    ['/api/webhooks/:endpoint/redeliver', 'since', (since) => ({ since })],
    ['/api/webhooks/:endpoint/redeliver', 'since', (since) => ({ since })],
    ['/api/data/sources/:source/report', 'checked_at', (checked_at) => ({ ok: true, checked_at })],
  ];

  test.each(bodies)('of POST %s is refused if invalid: %s', async (path, name, bodyOf) => {
    const source = await ask('POST', '/api/data/sources', { name: `S${Math.random()}`, type: 't' });
    const url = path.replace(':endpoint', ids.endpoint!).replace(':source', source.body.id);
    for (const time of [...noTimes, ...outOfRange]) {
      const { status, body } = await ask('POST', url, bodyOf(time));
      expect([time, status]).toEqual([time, url.startsWith('/v1/') ? 422 : 400]);
      expect(body.detail).toMatch(
        new RegExp(`^Invalid body: ${name} must be (in the years|an ISO)`),
      );
    }
    const far = name === 'expires_at' ? '9999-12-31T23:59:59-00:00' : '2026-01-01T00:00:00+16:00';
    expect((await ask('POST', url, bodyOf(far))).status).toBeLessThan(300);
  });

  test('is returned in UTC with milliseconds', async () => {
    const { body } = await ask('POST', '/api/data/keys', {
      name: 'k',
      mode: 'live',
      scopes: ['usage:read'],
      expires_at: '2090-01-01T00:00:00+16:00',
    });
    expect(body.expires_at).toBe('2089-12-31T08:00:00.000Z');
  });
});

describe.each([
  ['/api/auth/signup', { name: 'N', password: 'a long enough password' }],
  ['/api/members/invite', { name: 'N', role: 'viewer' }],
])('an email address given to %s', (url, more) => {
  test.each([
    '.=*fu@0',
    '.a@b.c',
    'a.@b.c',
    'a..b@c.d',
    'a@0',
    'a@b.0',
    'a@-b.c',
    'a@b-.c',
    'a@b..c',
    'a@.b',
    'a b@c.d',
    '@b.c',
    'a@',
    'a',
  ])('is refused: %s', async (email) => {
    const { status, body } = await ask('POST', url, { ...more, email });
    expect([status, body.detail]).toEqual([400, 'Invalid body: email must be an email address']);
  });

  test.each(['ada@example.com', 'a.b+c_d@sub.example-1.co', "o'neil@localhost", 'x@1and1.de'])(
    'is accepted: %s',
    async (address) => {
      const email = `${url.length}${address}`;
      expect((await ask('POST', url, { ...more, email })).status).toBe(201);
    },
  );
});

describe('an amount of money in a body', () => {
  const budget = (limit_usd: number) => ({ name: 'b', limit_usd });
  const places: [string, string, string, (amount: number) => unknown, boolean][] = [
    ['POST', '/api/workflows', 'run_cap_usd', (run_cap_usd) => ({ name: 'x', run_cap_usd }), false],
    ['PUT', '/api/workflows/:workflow', 'run_cap_usd', (run_cap_usd) => ({ run_cap_usd }), false],
    ['POST', '/api/budgets', 'limit_usd', budget, false],
    ['PUT', '/api/budgets/:budget', 'limit_usd', (limit_usd) => ({ limit_usd }), false],
    [
      'POST',
      '/api/budgets',
      'reservation_estimate_usd',
      (reservation_estimate_usd) => ({ ...budget(1), reservation_estimate_usd }),
      false,
    ],
    [
      'POST',
      '/api/runs/:run/budget-override',
      'cap_usd',
      (cap_usd) => ({ approved: true, cap_usd }),
      false,
    ],
    [
      'POST',
      '/api/workflows/:workflow/experiments',
      'budget_usd',
      (budget_usd) => ({ candidate: { version: 1 }, runs: { last: 1 }, budget_usd }),
      false,
    ],
    [
      'PUT',
      '/api/workspace/prices',
      'prices.0.input_usd_per_million',
      (input_usd_per_million) => ({
        prices: [{ model: 'a/b', input_usd_per_million, output_usd_per_million: 0 }],
      }),
      true,
    ],
    [
      'PUT',
      '/api/workflows/:workflow/checks',
      '0.value',
      (value) => [{ name: 'c', type: 'max_cost_usd', value }],
      true,
    ],
  ];

  test.each(places)('of %s %s is a whole number of micro-dollars: %s', async (...place) => {
    const [method, path, name, bodyOf, mayBeZero] = place;
    const made = await ask('POST', '/api/budgets', budget(1));
    const url = path
      .replace(':workflow', ids.workflow!)
      .replace(':budget', made.body.id)
      .replace(':run', ids.run!);
    const send = async (amount: number) => ask(method, url, bodyOf(amount));
    for (const amount of [4.9e-7, 5e-7, 1e-300, 0.0000015, 1.0000001, 0.1 + 0.2]) {
      const { status, body } = await send(amount);
      const why = amount < 0.000001 && !mayBeZero ? 'at least 0\\.000001' : 'at most six decimals';
      expect([amount, status]).toEqual([amount, 400]);
      expect(body.detail).toMatch(
        new RegExp(`${name.replaceAll('.', '\\.')} must (be|have) ${why}`),
      );
    }
    expect((await send(0)).status === 400).toBe(!mayBeZero);
    expect((await send(-0.000001)).status).toBe(400);
    for (const amount of [0.000001, 0.3, 0.999999, 123_456.654321]) {
      // Nothing is left to override, and no run has ended, but the amount was valid.
      const refusals = path.endsWith('override')
        ? [409]
        : path.endsWith('experiments')
          ? [422]
          : [];
      expect([200, 201, ...refusals]).toContain((await send(amount)).status);
    }
    if (name !== 'limit_usd' && name !== 'run_cap_usd') return;
    for (let round = 0; round < 30; round += 1) {
      const amount = Math.ceil(Math.random() ** 8 * 1e15) / 1e6;
      expect((await send(amount)).body[name]).toBe(amount);
    }
  });
});

import { gzipSync } from 'node:zlib';
import type { Random } from '#test/storm/random.ts';
import { bytesOf, type Draft } from './draft.ts';
import { bodyWrongs, type Wrong } from './wrong-bodies.ts';

const withHeaders = (
  name: string,
  weight: number,
  headers: (random: Random) => Draft['headers'],
  only: (draft: Draft) => boolean = () => true,
): Wrong => ({
  name,
  weight,
  spoil: (draft, random) =>
    only(draft) ? { ...draft, headers: { ...draft.headers, ...headers(random) } } : undefined,
});

const hasBody = (draft: Draft): boolean => bytesOf(draft) !== undefined;

const headerWrongs: readonly Wrong[] = [
  withHeaders(
    'another content type',
    3,
    (random) => ({
      'content-type': random.pick([
        ...[
          'text/plain',
          'application/xml',
          'multipart/form-data; boundary=x',
          'application/json; charset=latin1',
        ],
        ...[
          'application/x-www-form-urlencoded',
          'garbage',
          'application/jsonp',
          'application/x-ndjson',
          '',
        ],
      ]),
    }),
    hasBody,
  ),
  {
    name: 'a compressed body',
    weight: 1,
    spoil: (draft) => {
      const bytes = bytesOf(draft);
      if (bytes === undefined || draft.operation.surface === 'hooks') return undefined;
      return {
        ...draft,
        json: undefined,
        bytes: gzipSync(bytes),
        headers: { ...draft.headers, 'content-encoding': 'gzip' },
      };
    },
    unreadable: true,
  },
  withHeaders('an odd Authorization', 2, (random) => ({
    authorization: random.pick([
      'Bearer',
      'Bearer ',
      'Basic dXNlcjpwYXNz',
      'bearer x',
      'Bearer a b',
      'x'.repeat(5_000),
    ]),
  })),
  withHeaders('an odd key', 2, (random) => ({
    'x-api-key': random.pick([
      '',
      'ops_',
      'svc_live_',
      'svc_test_x',
      `ops_${'x'.repeat(3_000)}`,
      'ops_\u00e9',
      "ops_'--",
    ]),
  })),
  withHeaders('an odd Idempotency-Key', 1, (random) => ({
    'idempotency-key': random.pick(['', 'a'.repeat(256), '\u00e9', ' ', 'a,b']),
  })),
  withHeaders('a header twice', 1, (random) => ({
    [random.pick(['authorization', 'x-api-key', 'idempotency-key', 'x-request-id', 'accept'])]: [
      'a',
      'b',
    ],
  })),
  withHeaders('odd headers', 1, (random) =>
    random.pick<Draft['headers']>([
      { accept: 'text/html' },
      { accept: 'application/xml;q=0.9' },
      { 'x-request-id': 'x'.repeat(500) },
      { 'x-forwarded-for': 'not an address, , 1.2.3.4:99, ::1%eth0' },
      { range: 'bytes=0-1' },
      { 'if-none-match': '*' },
      { expect: '100-continue' },
      { origin: 'http://evil.example' },
      { 'accept-encoding': 'br, gzip' },
      { 'x-http-method-override': 'DELETE' },
      { cookie: 'session=x' },
    ]),
  ),
];

const badNumbers = [
  '0',
  '-1',
  '1.5',
  '201',
  '101',
  '1e3',
  '0x10',
  '',
  ' 1',
  '٣',
  'NaN',
  'Infinity',
  '99999999999999999999',
  '+1',
  '-0',
];
const badTexts = [
  '',
  ' ',
  '\u0000',
  '\u2028',
  'x'.repeat(3_000),
  '😀',
  "'",
  '[]',
  'null',
  'true',
  '2026-13-45',
  '2026-02-30T00:00:00Z',
  '0000-01-01',
  '+275760-09-13T00:00:00Z',
  '1',
];

const queryWrongs: readonly Wrong[] = [
  {
    name: 'an odd query value',
    weight: 5,
    spoil: (draft, random) => {
      const known = draft.operation.parameters.filter((each) => each.in === 'query');
      if (known.length === 0) return undefined;
      const { name, schema } = random.pick(known);
      const value = random.pick(
        schema.type === 'integer' || schema.type === 'number'
          ? [...badNumbers, ...badTexts]
          : badTexts,
      );
      return {
        ...draft,
        query: [...draft.query.filter(([other]) => other !== name), [name, value]],
      };
    },
  },
  {
    name: 'an unknown query parameter',
    weight: 1,
    spoil: (draft, random) => ({
      ...draft,
      query: [
        ...draft.query,
        [random.pick(['surprise', '__proto__', 'constructor', 'limit[]', 'a.b', '']), '1'],
      ],
    }),
  },
  {
    name: 'a query parameter twice',
    weight: 2,
    spoil: (draft, random) => {
      const known = draft.operation.parameters.filter((each) => each.in === 'query');
      if (known.length === 0) return undefined;
      const { name } = random.pick(known);
      return {
        ...draft,
        query: [...draft.query, [name, '1'], [name, random.pick(['1', '2', ''])]],
      };
    },
  },
  {
    name: 'broken percent-encoding in the query',
    weight: 1,
    spoil: (draft, random) => ({
      ...draft,
      rawQuery: random.pick([
        'limit=%',
        'limit=%zz',
        'cursor=%ff',
        'limit=%00',
        '%c3%28=1',
        '&&&',
        '=',
        'limit',
        'a=b=c',
        '?limit=1',
        'limit=1#x',
      ]),
    }),
  },
  {
    name: 'a spoiled cursor',
    weight: 3,
    spoil: (draft, random, state) => {
      if (!draft.operation.parameters.some(({ name }) => name === 'cursor')) return undefined;
      const own = state.cursor(draft.operation, random) ?? 'eyJhIjoxfQ';
      const cut = random.int(0, own.length);
      const cursor = random.pick([
        own.slice(0, cut),
        `${own.slice(0, cut)}A${own.slice(cut + 1)}`,
        `${own}${own}`,
        own.toUpperCase(),
        state.anyCursor(random) ?? own,
        Buffer.from('{"at":"x","id":null}').toString('base64url'),
        Buffer.from('[9e999,"\\u0000"]').toString('base64url'),
      ]);
      return {
        ...draft,
        query: [...draft.query.filter(([name]) => name !== 'cursor'), ['cursor', cursor]],
      };
    },
  },
];

const badIds = [
  '',
  '.',
  '..',
  ' ',
  '*',
  'null',
  '0',
  '-1',
  'undefined',
  '\u0000',
  '\u2028',
  "' OR 1=1--",
  'a/b',
  '😀',
  'x'.repeat(999),
  'x'.repeat(1_001),
  'wf_00000000000000000000000000',
  '%2e%2e',
  '\\',
];

const pathWrongs: readonly Wrong[] = [
  {
    name: 'an odd id',
    weight: 4,
    spoil: (draft, random) => {
      const names = Object.keys(draft.pathValues);
      if (names.length === 0) return undefined;
      return {
        ...draft,
        pathValues: { ...draft.pathValues, [random.pick(names)]: random.pick(badIds) },
      };
    },
  },
  {
    name: 'an id of something else, or of nothing any more',
    weight: 4,
    spoil: (draft, random, state) => {
      const names = Object.keys(draft.pathValues);
      const id = random.chance(0.5) ? state.goneId(random) : state.anyId(random);
      if (names.length === 0 || id === undefined) return undefined;
      return { ...draft, pathValues: { ...draft.pathValues, [random.pick(names)]: id } };
    },
  },
  {
    name: 'a bent path',
    weight: 2,
    spoil: (draft, random) => ({
      ...draft,
      bend: random.pick<(path: string) => string>([
        (path) => `${path}/`,
        (path) => path.replace('/', '//'),
        (path) => `${path}%`,
        (path) => `${path}%zz`,
        (path) => `${path}%c3%28`,
        (path) => `${path}/%00`,
        (path) => path.toUpperCase(),
        (path) => `${path};a=b`,
        (path) => `${path}/surprise`,
        (path) => path.replace(/\/[^/]+$/, '/..%2f..'),
        (path) => path.replace('/api', '/api/.').replace('/v1', '/v1/x/..'),
      ]),
    }),
  },
  {
    name: 'another method',
    weight: 3,
    spoil: (draft, random) => ({
      ...draft,
      method: random.pick([
        'GET',
        'HEAD',
        'POST',
        'PUT',
        'PATCH',
        'DELETE',
        'OPTIONS',
        'TRACE',
        'PROPFIND',
        'REPORT',
        'QUERY',
      ]),
    }),
  },
];

export const wrongs: readonly Wrong[] = [
  ...bodyWrongs,
  ...headerWrongs,
  ...queryWrongs,
  ...pathWrongs,
];

import { expect, test } from '@jest/globals';
import { challengeOf, scopesIn } from '#shared/platform/calls/challenge.ts';

const METADATA = 'https://tools.example.com/.well-known/oauth-protected-resource';

test.each<[header: string | undefined, read: object | undefined]>([
  [undefined, undefined],
  ['', undefined],
  ['Basic realm="Bearer scope=x"', undefined],
  ['Bearer', {}],
  ['bearer realm="x"', {}],
  [`Bearer resource_metadata="${METADATA}"`, { resourceMetadata: METADATA }],
  [`Bearer Resource_Metadata=${METADATA}`, { resourceMetadata: METADATA }],
  ['Bearer scope="a b  a"', { scopes: ['a', 'b'] }],
  ['Bearer scope=""', { scopes: [] }],
  ['Bearer error="insufficient_scope", scope="a"', { error: 'insufficient_scope', scopes: ['a'] }],
  [
    'Basic realm="a, Bearer scope=\\"no\\"", Bearer scope="yes", Digest scope="other"',
    { scopes: ['yes'] },
  ],
  ['Negotiate, Bearer scope = "a"', { scopes: ['a'] }],
  ['Bearer error="a \\"quoted\\" text"', { error: 'a "quoted" text' }],
  ['Bearer scope="never closed', {}],
  ['Bearer token68==, scope="a"', { scopes: ['a'] }],
  [`Bearer scope="${'x'.repeat(8_000)}"`, undefined],
])('%s', (header, read) => {
  const nothing = { resourceMetadata: undefined, scopes: undefined, error: undefined };
  expect(challengeOf(header)).toEqual(read === undefined ? undefined : { ...nothing, ...read });
});

test('scopes are those of RFC 6749, each once, and at most 100', () => {
  expect(scopesIn(['a', 'a', 'b c', '"', '\\', '\u0000', '', 7, null, 'x'.repeat(301)])).toEqual([
    'a',
  ]);
  expect(scopesIn(Array.from({ length: 200 }, (_, at) => `s${at}`)).length).toBe(100);
});

import { describe, expect, test } from '@jest/globals';
import { renderWithSecrets } from '#shared/graph/expression/secret-template.ts';
import { canonicalHost, fillPlaces, goesToHosts } from '#shared/values/secrets.ts';
import type { JsonObject } from '#shared/json.ts';

/** The parameters with `<NAME>` for each secret that was put in. */
function filled(templates: JsonObject, state: JsonObject = {}): JsonObject {
  const { params, secrets } = renderWithSecrets('http_request', templates, state);
  return fillPlaces(params, secrets, (text, places) =>
    places.reduce((done, { marker, name }) => done.replaceAll(marker, `<${name}>`), text),
  );
}

describe('a reference to a secret', () => {
  test.each<[string, JsonObject, JsonObject, JsonObject]>([
    ['alone', { body: '{secrets.A}' }, {}, { body: '<A>' }],
    ['twice', { body: '{secrets.A}:{secrets.A}' }, {}, { body: '<A>:<A>' }],
    [
      'in a list',
      { body: ['x', { k: '{secrets.A}{secrets.B}' }] },
      {},
      { body: ['x', { k: '<A><B>' }] },
    ],
    ['beside data', { query: { q: '{x}{secrets.A}' } }, { x: 1 }, { query: { q: '1<A>' } }],
    [
      'beside data with a marker',
      { body: '{x}{secrets.A}' },
      { x: '{secrets.A}' },
      { body: '{secrets.A}<A>' },
    ],
    [
      'beside data with a numbered marker',
      { body: '{x}{secrets.A}' },
      { x: '{secrets.A~1}{secrets.A}' },
      { body: '{secrets.A~1}{secrets.A}<A>' },
    ],
    [
      'beside data that becomes a marker',
      { body: '{x}ets.A}{secrets.A}' },
      { x: '{secr' },
      { body: '{secrets.A}<A>' },
    ],
    ['beside an escaped one', { body: '{{secrets.A}}{secrets.A}' }, {}, { body: '{secrets.A}<A>' }],
    [
      'under the name of a key of the state',
      { body: '{secrets.A}' },
      { secrets: { A: 'data' } },
      { body: '<A>' },
    ],
    [
      'only where it may stand',
      { body: 'x', url: 'https://h/' },
      {},
      { body: 'x', url: 'https://h/' },
    ],
  ])('%s', (_what, templates, state, expected) => {
    expect(filled(templates, state)).toEqual(expected);
  });

  test('is data in the parameters of other tools', () => {
    const { params, secrets } = renderWithSecrets('send_email', { text: '{{secrets.A}}' }, {});
    expect([params, secrets]).toEqual([{ text: '{secrets.A}' }, []]);
  });
});

describe('an allowed host', () => {
  test.each([
    ['API.Example.com', 'api.example.com'],
    ['*.example.com', '*.example.com'],
    ['host:8443', 'host:8443'],
    ['*.example.com.', '*.example.com'],
    ['[::1]:80', '[::1]:80'],
    ['bücher.example', 'xn--bcher-kva.example'],
    ...[
      '',
      '*',
      '*.com',
      '*.a.',
      '*.1.2.3.4',
      'https://a.example',
      'a.example/x',
      'u@a.example',
      'a.example:0',
      'a.example:99999',
      'a b',
      'a.*.example',
    ].map((text): [string, undefined] => [text, undefined]),
  ])('%s is %s', (text, canonical) => {
    expect(canonicalHost(text)).toBe(canonical);
  });

  test.each([
    ['https://api.example.com/x', true],
    ['http://api.example.com/', true],
    ['https://API.EXAMPLE.COM/', true],
    ['https://api.example.com:8443/', false],
    ['https://example.com/', false],
    ['https://xapi.example.com/', false],
    ['https://api.example.com.evil.test/', false],
    ['https://api.example.com./', false],
    ['https://a.b.wild.test/', true],
    ['https://wild.test/', false],
    ['https://evilwild.test/', false],
    ['https://port.test:8443/', true],
    ['https://port.test/', false],
  ])('%s is among them: %s', (url, allowed) => {
    const hosts = ['api.example.com', '*.wild.test', 'port.test:8443'];
    expect(goesToHosts(new URL(url), hosts)).toBe(allowed);
  });
});

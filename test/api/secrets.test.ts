import { describe, expect, test } from '@jest/globals';
import { useTestApi } from './test-api.ts';

const api = useTestApi({ ENCRYPTION_KEY: 'a key of this test, long enough' });

const body = { value: 'a value of this test', allowed_hosts: ['api.example.com'] };
const put = (name: string, change: object = {}) =>
  api.call('PUT', `/api/secrets/${name}`, { ...body, ...change });

describe('secrets', () => {
  test('are created, replaced, read and deleted, without their values', async () => {
    const created = await put('KEY', { allowed_hosts: ['API.example.com', 'api.example.com'] });
    expect([created.status, created.headers['location']]).toEqual([201, '/api/secrets/KEY']);
    const replaced = await put('KEY', { description: 'For lookups' });
    const read = await api.call('GET', '/api/secrets/KEY');
    expect([replaced.status, read.status, read.body]).toEqual([200, 200, replaced.body]);
    expect(read.body).toEqual({
      name: 'KEY',
      allowed_hosts: ['api.example.com'],
      description: 'For lookups',
      created_at: expect.any(String),
      updated_at: expect.any(String),
      last_used_at: null,
      etag: expect.any(String),
    });
    expect((await api.call('DELETE', '/api/secrets/KEY')).status).toBe(204);
    expect((await api.call('DELETE', '/api/secrets/KEY')).status).toBe(404);
    expect((await api.call('GET', '/api/secrets/KEY')).body.detail).toBe('Secret not found');
    const { logs } = (await api.call('GET', '/api/audit?target_type=secret')).body;
    expect(logs.map(({ action, target_id }: any) => [action, target_id])).toEqual([
      ['delete', 'KEY'],
      ['update', 'KEY'],
      ['create', 'KEY'],
    ]);
    expect(JSON.stringify(logs)).not.toContain(body.value);
  });

  test.each<[string, string, object]>([
    ['a name in lower case', 'key', {}],
    ['a name that is too long', 'K'.repeat(65), {}],
    ['a short value', 'KEY', { value: 'short' }],
    ['a value of spaces', 'KEY', { value: ' '.repeat(20) }],
    ['a value that is too long', 'KEY', { value: 'x'.repeat(8_001) }],
    ['no hosts', 'KEY', { allowed_hosts: [] }],
    [
      'too many hosts',
      'KEY',
      { allowed_hosts: Array.from({ length: 21 }, (_, n) => `h${n}.test`) },
    ],
    ['a host with a scheme', 'KEY', { allowed_hosts: ['https://api.example.com'] }],
    ['any host', 'KEY', { allowed_hosts: ['*'] }],
    ['any host of a country', 'KEY', { allowed_hosts: ['api.example.com', '*.co.uk'] }],
    ['any site of a host for many', 'KEY', { allowed_hosts: ['*.github.io:8443'] }],
    ['an unknown field', 'KEY', { host: 'x' }],
  ])('are refused with %s, without repeating the value', async (_what, name, change) => {
    const { status, text } = await put(name, change);
    expect([status, text.includes(body.value)]).toEqual([400, false]);
  });
});

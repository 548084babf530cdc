import { mkdtempSync, readFileSync, rmSync, statSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterAll, beforeAll, describe, expect, test } from '@jest/globals';
import { settleDataKey } from '#scripts/seed/data-key.ts';
import { startTestApi, type TestApi } from '#test/api/test-api.ts';

let api: TestApi;
let apiUrl: string;
let folder: string;
beforeAll(async () => {
  api = await startTestApi();
  apiUrl = await api.app.listen({ host: '127.0.0.1', port: 0 });
  folder = mkdtempSync(join(tmpdir(), 'data-key-'));
});
afterAll(async () => {
  rmSync(folder, { recursive: true });
  await api.stop();
});

const keys = async (): Promise<{ id: string; prefix: string }[]> =>
  (await api.call('GET', '/api/data/keys')).body;

describe('the example data key', () => {
  test('is created once, for test data, in a file that only its owner can read', async () => {
    const file = join(folder, 'kept');
    const secret = await settleDataKey({ apiUrl }, file);
    expect(await settleDataKey({ apiUrl }, file)).toBe(secret);
    expect(secret).toMatch(/^svc_test_/);
    expect(readFileSync(file, 'utf8')).toBe(`${secret}\n`);
    expect(statSync(file).mode & 0o077).toBe(0);
    const headers = { authorization: `Bearer ${secret}` };
    expect((await api.call('GET', '/v1/usage', undefined, headers)).status).toBe(200);
    expect(await keys()).toHaveLength(1);
  });

  test('is not created again after it was revoked', async () => {
    const file = join(folder, 'kept');
    const [key] = await keys();
    await api.call('DELETE', `/api/data/keys/${key!.id}`);
    expect(await settleDataKey({ apiUrl }, file)).toBeUndefined();
    expect(await keys()).toHaveLength(1);
  });

  test('is created again if the stored key belongs to another database', async () => {
    const file = join(folder, 'other');
    writeFileSync(file, 'svc_test_nobody_knows_this_one\n');
    const secret = await settleDataKey({ apiUrl }, file);
    expect(readFileSync(file, 'utf8')).toBe(`${secret}\n`);
    expect(await keys()).toHaveLength(2);
  });
});

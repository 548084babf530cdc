import { mkdtemp, rm } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterAll, beforeAll, describe, test } from '@jest/globals';
import { preparePythonTools, pythonChecks } from '#test/clients/python.ts';
import { patiently } from '#test/support/patience.ts';
import { type Service, startService } from '#test/support/served-api.ts';

const ownerPassword = 'open sesame, please';
const tools = await preparePythonTools();

if ('missing' in tools) {
  // Shown as skipped, and not as passed.
  describe.skip(`the Python client (not on this machine: ${tools.missing})`, () => {
    test.each(pythonChecks)('$title', () => undefined);
  });
} else {
  describe('the Python client', () => {
    let service: Service;
    let folder: string;
    beforeAll(async () => {
      folder = await mkdtemp(join(tmpdir(), 'python-client-'));
      service = await startService({ AUTH_MODE: 'required', OWNER_PASSWORD: ownerPassword });
    });
    afterAll(async () => {
      await service.close();
      await rm(folder, { recursive: true, force: true });
    });

    test.each(pythonChecks)(
      '$title',
      ({ check }) => check(tools, { apiUrl: service.apiUrl, ownerPassword }, folder),
      patiently(120_000),
    );
  });
}

import { execFile } from 'node:child_process';
import { join } from 'node:path';
import { promisify } from 'node:util';
import { afterAll, beforeAll, describe, expect, test } from '@jest/globals';
import { createTestDatabase, type TestDatabase } from '#test/support/database.ts';
import { setting } from '#test/support/settings.ts';
import { testTemporal } from '#test/support/temporal.ts';
import { reportOf } from './report.ts';
import { type FuzzResult, runFuzz } from './run-fuzz.ts';
import { type FuzzedService, startFuzzedService } from './target.ts';

/** About fifteen for each operation: some succeed only when a run is in the right state. */
const REQUESTS = 3_000;

/** They need what only an email, a browser, a request of a run or a socket has. */
const OUT_OF_REACH: ReadonlySet<string> = new Set([
  'POST /api/decide',
  'POST /api/decide/open',
  'POST /api/authorizations',
  'POST /api/authorizations/preview',
  'DELETE /api/authorizations/{id}',
  'POST /api/callbacks/{token}',
  'GET /api/stream',
]);

describe('the service', () => {
  let database: TestDatabase;
  let service: FuzzedService;
  let result: FuzzResult;
  beforeAll(async () => {
    database = await createTestDatabase();
    const { address, taskQueuePrefix } = testTemporal();
    service = await startFuzzedService({
      databaseUrl: database.url,
      temporalAddress: address,
      taskQueuePrefix,
      workflowBundle: setting('WORKFLOW_BUNDLE'),
    });
    result = await runFuzz({ service, seed: '1', requests: REQUESTS });
  }, 240_000);
  afterAll(async () => {
    await service?.stop();
    await database?.drop();
  });

  test('answers every request as documented', () => {
    expect(result.failures.length === 0 ? '' : reportOf(result)).toBe('');
    expect(result.requests).toBe(REQUESTS);
  });

  test('succeeds for most operations and on every surface', () => {
    const never = [...result.operations].filter(
      ([name, { succeeded }]) => succeeded === 0 && !OUT_OF_REACH.has(name),
    );
    const refused = never.map(
      ([name, { sent, refusals }]) => `${name} (${sent}): ${refusals.at(-1) ?? ''}`,
    );
    const few = never.length < 0.15 * result.operations.size;
    expect(few ? [] : refused).toEqual([]);
    expect(result.linked).toBeGreaterThan(REQUESTS / 2);
    expect(Object.values(result.surfaces).every((count) => count > 20)).toBe(true);
  });
});

describe('npm run fuzz', () => {
  const run = promisify(execFile);
  const script = join(import.meta.dirname, '../../scripts/fuzz.ts');

  test.each([
    [['--requests', '0'], '--requests must be a whole number from 1 to 10000000.'],
    [['--requests', 'many'], '--requests must be a whole number from 1 to 10000000.'],
    [['--seed', ''], '--seed must be 1 to 40 letters, digits or underscores.'],
    [['--surprise'], /^Unknown option '--surprise'/],
  ])('refuses %j in one line', async (args, sentence) => {
    const failed = await run(process.execPath, [script, ...args]).then(
      () => undefined,
      (error: unknown) => error as { code: number; stderr: string; stdout: string },
    );
    expect(failed).toMatchObject({ code: 2, stdout: '' });
    const [line, ...more] = failed!.stderr.trim().split('\n');
    expect(more).toEqual([]);
    if (typeof sentence === 'string') expect(line).toBe(sentence);
    else expect(line).toMatch(sentence);
  });
});

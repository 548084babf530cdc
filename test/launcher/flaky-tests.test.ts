import { mkdirSync, mkdtempSync, symlinkSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { expect, test } from '@jest/globals';
import { runJest } from '#scripts/tests/jest.ts';
import { longTests } from '#scripts/tests/long-tests.ts';
import { soakTest } from '#test/support/soak.ts';

/** A project of its own, with test files of these sources. */
function projectOf(files: Record<string, string>): string {
  const projectDir = mkdtempSync(join(tmpdir(), 'flaky-'));
  mkdirSync(join(projectDir, 'test'));
  symlinkSync(join(import.meta.dirname, '../../node_modules'), join(projectDir, 'node_modules'));
  for (const [name, source] of Object.entries(files)) {
    writeFileSync(join(projectDir, 'test', `${name}.test.cjs`), source);
  }
  writeFileSync(
    join(projectDir, 'jest.config.cjs'),
    "module.exports = { transform: {}, testMatch: ['**/*.test.cjs'] };",
  );
  return projectDir;
}

/** A test that fails the first time. */
const once = (title: string): string => `
  const { existsSync, writeFileSync } = require('node:fs');
  test('${title}', () => {
    const before = existsSync(__filename + '.ran');
    writeFileSync(__filename + '.ran', '');
    expect(before).toBe(true);
  });
  test('of the same file', () => undefined);`;

const run = (files: Record<string, string>, repeats: boolean) => {
  const projectDir = projectOf(files);
  const env = { ...process.env, NODE_OPTIONS: '' };
  const options = { projectDir, env, folder: projectDir, running: new Set<never>() };
  return runJest([], { ...options, say: () => undefined }, { repeats });
};

test('a file that fails runs again alone, and is flaky if it then passes', async () => {
  const files = {
    good: "test('passes', () => undefined);",
    flaky: once('is late'),
    broken: "test('fails', () => { throw new Error('always'); });",
  };
  expect(await run(files, true)).toEqual({
    ...{ passed: 3, failed: 1, skipped: 0 },
    flaky: ['test/flaky.test.cjs is late'],
  });
  expect(await run(files, false)).toEqual({ passed: 2, failed: 2, skipped: 0, flaky: [] });
});

soakTest('many failed files do not run again: the change is at fault', async () => {
  const files = Object.fromEntries(
    Array.from({ length: 6 }, (_each, at) => [`flaky-${at}`, once('is late')]),
  );
  expect(await run(files, true)).toEqual({ passed: 6, failed: 6, skipped: 0, flaky: [] });
});

soakTest('a file that cannot be loaded the first time counts with its tests', async () => {
  const source = `
    const { existsSync, writeFileSync } = require('node:fs');
    const before = existsSync(__filename + '.ran');
    writeFileSync(__filename + '.ran', '');
    if (!before) throw new Error('not yet');
    test('one', () => undefined);
    test('two', () => undefined);`;
  expect(await run({ late: source }, true)).toEqual({
    ...{ passed: 2, failed: 0, skipped: 0 },
    flaky: ['test/late.test.cjs'],
  });
});

test('a test that takes longer than a busy machine explains belongs in the soak', () => {
  const took = (file: string, ...seconds: (number | null)[]) => ({
    name: `/project/test/${file}`,
    assertionResults: seconds.map((duration, at) => ({
      // The first waited for what did not come.
      status: at === 0 ? 'failed' : 'passed',
      fullName: `title ${at}`,
      duration: duration === null ? null : duration * 1_000,
    })),
  });
  const results = [took('a.test.ts', 125, 119, null, 121), took('b.soak.test.ts', 500)];
  expect(longTests(results, '/project')).toEqual([
    'too long: test/a.test.ts title 3 took 121 s. Outside of the soak a test has 30 s on an idle machine: wait for less, or move it to test/a.soak.test.ts',
  ]);
});

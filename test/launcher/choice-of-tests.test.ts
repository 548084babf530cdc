import { execFile } from 'node:child_process';
import { join } from 'node:path';
import { promisify } from 'node:util';
import { expect, test } from '@jest/globals';
import { chooseTests } from '#scripts/related/choose.ts';
import { addReaders, distances } from '#scripts/related/graph.ts';
import { isWhole, jestArguments, numbersOf, tierOf } from '#scripts/tests/tiers.ts';

const projectDir = join(import.meta.dirname, '../..');

const related = (file: string, distance: number, seconds = 5) => ({ file, distance, seconds });

test('counts the imports between a change and its dependents', () => {
  const importers = new Map([
    ['a.ts', new Set(['b.ts', 'c.ts'])],
    ['b.ts', new Set(['c.ts', 'd.ts'])],
    ['d.ts', new Set(['a.ts'])],
  ]);
  expect([...distances(['a.ts'], importers)]).toEqual([
    ['a.ts', 0],
    ['b.ts', 1],
    ['c.ts', 1],
    ['d.ts', 2],
  ]);
});

test('chooses tests that import the change first, then tests of that name, then the nearest', () => {
  const tests = [
    related('test/api/people.test.ts', 3),
    related('test/api/data.test.ts', 2),
    related('test/api/runs/list.test.ts', 4),
    related('test/graph/plain.test.ts', 1),
  ];
  expect(chooseTests(tests, ['api/routes/ops/runs/runs.ts'], 60)).toEqual([
    'test/graph/plain.test.ts',
    'test/api/runs/list.test.ts',
    'test/api/data.test.ts',
    'test/api/people.test.ts',
  ]);
  const resumes = [related('test/db/runs.test.ts', 2), related('test/engine/resume.test.ts', 4)];
  expect(chooseTests(resumes, ['shared/db/runs/resumes.ts'], 60)[0]).toBe(resumes[1]?.file);
});

test('knows the laws that hold for every route and every statement', () => {
  const importers = new Map<string, Set<string>>();
  addReaders(importers, ['api/routes/ops/runs/runs.ts', 'shared/db/runs/frames.ts']);
  const foreignIds = 'test/security/foreign-ids.test.ts';
  expect([...importers.values()].map((readers) => [...readers])).toEqual([
    ['test/api/contract/access-matrix.test.ts', foreignIds],
    [foreignIds],
  ]);
});

test('skips tests over the time limit, but never all', () => {
  const tests = [
    related('test/engine/long.test.ts', 1, 100),
    related('test/engine/short.test.ts', 2, 4),
    related('test/engine/other.test.ts', 3, 3),
  ];
  expect(chooseTests(tests, ['shared/x.ts'], 60)).toEqual(['test/engine/long.test.ts']);
  expect(chooseTests(tests.slice(1), ['shared/x.ts'], 5)).toEqual(['test/engine/short.test.ts']);
});

test('leaves out the soak unless it is requested or a file is named', () => {
  const argumentsOf = (...args: string[]) => {
    const { tier, rest } = tierOf(args);
    return jestArguments(tier, rest).join(' ');
  };
  const without = String.raw`--testPathIgnorePatterns=/node_modules/ --testPathIgnorePatterns=\.soak\.test\.ts$`;
  expect(argumentsOf()).toBe(without);
  expect(argumentsOf('--env=test/support/other.ts')).toBe(`${without} --env=test/support/other.ts`);
  expect(argumentsOf('-t', 'a title')).toBe(`${without} -t a title`);
  expect(argumentsOf('test/engine/crashes')).toBe('test/engine/crashes');
  const soak = argumentsOf('--tier', 'soak', '--shard', '1/4').split(' ');
  expect(soak.slice(0, 4).join(' ')).toBe(
    String.raw`--shard 1/4 \.soak\.test\.ts$ /graph/generated/.*\.test\.ts$`,
  );
  // With all rounds of their races.
  expect(soak.slice(4)).toContain(String.raw`/test/api/people/members\.test\.ts$`);
  expect(numbersOf('soak', [])).toMatchObject({ ALL_ROUNDS: 'on' });
  expect(numbersOf('short', [])).toEqual({});
  // A person who names a file wants all of its tests; --related chooses for the short tier.
  expect(numbersOf('short', ['test/engine/agents'])).toEqual({ SOAK_TESTS: 'on' });
  expect(numbersOf('short', ['--runTestsByPath', 'test/engine/agents.test.ts'])).toEqual({});
  expect(argumentsOf('--tier', 'all')).toBe('');
  expect(() => tierOf(['--tier', 'long'])).toThrow('--tier takes one of short, soak, all');
  expect([isWhole([]), isWhole(['--shard', '2/4']), isWhole(['-t', 'x'])]).toEqual([
    true,
    true,
    false,
  ]);
});

test('assigns each file of the soak to one of four shards', async () => {
  const filesOf = async (...shard: string[]) => {
    const jest = join(projectDir, 'node_modules/jest/bin/jest.js');
    const args = [jest, '--listTests', '--json', ...jestArguments('soak', shard)];
    const { stdout } = await promisify(execFile)(process.execPath, args, { cwd: projectDir });
    return JSON.parse(stdout) as string[];
  };
  const shards = await Promise.all([1, 2, 3, 4].map((k) => filesOf('--shard', `${k}/4`)));
  expect(shards.flat().toSorted()).toEqual((await filesOf()).toSorted());
  const sizes = shards.map(({ length }) => length);
  expect(Math.max(...sizes) - Math.min(...sizes)).toBeLessThanOrEqual(1);
});

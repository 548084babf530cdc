import { relative } from 'node:path';
import { patiently } from '#test/support/patience.ts';
import { isSoak } from './tiers.ts';

/** For one test outside the soak, on an idle machine. */
const LIMIT_SECONDS = 30;

interface FileResult {
  name: string;
  assertionResults: { status: string; fullName: string; duration?: number | null }[];
}

/**
 * One line for each test outside the soak that passed, but took longer than a busy machine explains. A test that failed
 * may have waited for its time limit.
 */
export const longTests = (results: readonly FileResult[], projectDir: string): string[] =>
  results
    .filter(({ name }) => !isSoak(name))
    .flatMap(({ name, assertionResults }) =>
      assertionResults
        .filter(({ status }) => status === 'passed')
        .map(({ fullName, duration }) => ({ fullName, ms: duration ?? 0 }))
        .filter(({ ms }) => ms > patiently(LIMIT_SECONDS * 1_000))
        .map(({ fullName, ms }) => lineOf(relative(projectDir, name), fullName, ms)),
    );

const lineOf = (file: string, title: string, ms: number): string =>
  [
    `too long: ${file} ${title} took ${Math.round(ms / 1_000)} s.`,
    `Outside of the soak a test has ${LIMIT_SECONDS} s on an idle machine:`,
    `wait for less, or move it to ${file.replace(/\.test\.(\w+)$/, '.soak.test.$1')}`,
  ].join(' ');

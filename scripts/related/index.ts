import { execFileSync } from 'node:child_process';
import { isSoak } from '#scripts/tests/tiers.ts';
import { chooseTests } from './choose.ts';
import { readDurations } from './durations.ts';
import { projectFiles } from './files.ts';
import { addReaders, distances, importersOf } from './graph.ts';

/**
 * The sum of the files' times. Four run at the same time, so all fit into a minute on two processors, including the start of
 * the servers.
 */
const BUDGET_SECONDS = 75;

/** For a file that has not run on this machine yet. Real runs, browsers and processes take longer than requests. */
const slow = /^test\/(?:engine|console|cli|launcher|client)\//;
const unknownSeconds = (file: string): number => (slow.test(file) ? 25 : 5);

const isTest = (file: string): boolean => /^test\/.*\.test\.ts$/.test(file);

export interface RelatedTests {
  changed: string[];
  /** Test files to run, at most a minute's worth. */
  chosen: string[];
  /** Other test files that depend on a change; only a full run includes them. */
  left: number;
}

/** The tests nearest to the changes since the last commit, or to that commit if nothing has changed since. */
export function relatedTests(projectDir: string): RelatedTests {
  const git = (...args: string[]): string[] =>
    execFileSync('git', args, { cwd: projectDir, encoding: 'utf8' }).split('\n').filter(Boolean);
  const edited = [
    ...git('diff', '--name-only', '--diff-filter=d', 'HEAD'),
    ...git('ls-files', '--others', '--exclude-standard'),
  ];
  const changed =
    edited.length > 0 ? edited : git('diff', '--name-only', '--diff-filter=d', 'HEAD~1', 'HEAD');
  const durations = readDurations(projectDir);
  const present = projectFiles(projectDir, '*.ts', '*.tsx');
  const importers = importersOf(projectDir, present);
  addReaders(importers, [...present, ...changed]);
  const related = [...distances(changed, importers)]
    // A soak file that reads a changed file is the test for it.
    .filter(([file, distance]) => isTest(file) && (distance <= 1 || !isSoak(file)))
    .map(([file, distance]) => ({
      file,
      distance,
      seconds: durations[file] ?? unknownSeconds(file),
    }));
  const chosen = chooseTests(related, changed, BUDGET_SECONDS);
  return { changed, chosen, left: related.length - chosen.length };
}

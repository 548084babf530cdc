import { spawnSync } from 'node:child_process';
import { existsSync, mkdirSync, readFileSync, writeFileSync } from 'node:fs';
import { dirname, join } from 'node:path';
import { projectFiles } from '#scripts/related/files.ts';
import { digestsOf } from './digests.ts';

/**
 * The lint check. Rules that know types can change their verdict on a file when another file changes that it imports. So
 * a file is linted unless it has passed with the same text, the same texts of everything it imports, and the same
 * packages and configuration. `.cache/lint.json` holds what has passed.
 */
const projectDir = join(import.meta.dirname, '../..');
const cacheFile = join(projectDir, '.cache/lint.json');

const readPassed = (): Record<string, string> =>
  existsSync(cacheFile)
    ? (JSON.parse(readFileSync(cacheFile, 'utf8')) as Record<string, string>)
    : {};

const digests = digestsOf(projectDir, projectFiles(projectDir, '*.ts', '*.tsx', '*.mjs', '*.json'));
const passed = readPassed();
const changed = [...digests].filter(([file, made]) => passed[file] !== made).map(([file]) => file);
if (changed.length > 0) {
  // Beyond some hundred files, the arguments are longer than a command line may be.
  const paths = changed.length > 300 ? ['.'] : changed;
  const { status } = spawnSync(
    process.execPath,
    [
      join(projectDir, 'node_modules/oxlint/bin/oxlint'),
      '--no-error-on-unmatched-pattern',
      ...paths,
    ],
    { cwd: projectDir, stdio: 'inherit' },
  );
  process.exitCode = status ?? 1;
}
if (process.exitCode === undefined || process.exitCode === 0) {
  mkdirSync(dirname(cacheFile), { recursive: true });
  writeFileSync(cacheFile, JSON.stringify(Object.fromEntries(digests)));
}

import { execFileSync, spawnSync } from 'node:child_process';
import { createHash } from 'node:crypto';
import { existsSync, mkdirSync, readFileSync, writeFileSync } from 'node:fs';
import { dirname, join } from 'node:path';
import { importersOf } from '#scripts/related/graph.ts';

/**
 * The lint check. Rules that know types can change their verdict on a file when another file changes that it imports. So
 * a file is linted unless it has passed with the same text, the same texts of everything it imports, and the same
 * packages and configuration. `.cache/lint.json` holds what has passed.
 */
const projectDir = join(import.meta.dirname, '../..');
const cacheFile = join(projectDir, '.cache/lint.json');

/** Texts that all verdicts depend on, and files that declare types of other modules or of the global scope. */
const GLOBAL = /^(?:package-lock\.json|oxlint\.config\.ts|.*tsconfig.*\.json|.*\.d\.m?ts)$/;
const declares = /^declare (?:module|global)\b/m;

const digest = (...parts: readonly string[]): string => {
  const hash = createHash('sha256');
  for (const part of parts) hash.update(part).update('\0');
  return hash.digest('base64url');
};

/** For each source file, the digest of all texts that its verdict depends on. */
function digestsOf(files: readonly string[]): Map<string, string> {
  const texts = new Map(files.map((file) => [file, readFileSync(join(projectDir, file), 'utf8')]));
  const sources = files.filter((file) => /\.(?:ts|tsx|mjs)$/.test(file));
  const imports = new Map<string, string[]>();
  for (const [target, importers] of importersOf(projectDir, sources)) {
    for (const importer of importers)
      imports.set(importer, [...(imports.get(importer) ?? []), target]);
  }
  const shared = digest(
    ...[...texts].filter(([file, text]) => GLOBAL.test(file) || declares.test(text)).flat(),
  );
  const known = new Map<string, string>();
  // Imports have no circles: the import law forbids them.
  const digestOf = (file: string): string => {
    const found = known.get(file);
    if (found !== undefined) return found;
    const imported = (imports.get(file) ?? []).sort().map(digestOf);
    const made = digest(shared, texts.get(file) ?? '', ...imported);
    known.set(file, made);
    return made;
  };
  return new Map(sources.map((file) => [file, digestOf(file)]));
}

const readPassed = (): Record<string, string> =>
  existsSync(cacheFile)
    ? (JSON.parse(readFileSync(cacheFile, 'utf8')) as Record<string, string>)
    : {};

const files = execFileSync('git', ['ls-files', '--cached', '--others', '--exclude-standard'], {
  cwd: projectDir,
  encoding: 'utf8',
});
const digests = digestsOf(
  files
    .split('\n')
    .filter((file) => /\.(?:ts|tsx|mjs|json)$/.test(file) && existsSync(join(projectDir, file))),
);
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

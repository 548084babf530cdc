import { readFileSync } from 'node:fs';
import { join, posix } from 'node:path';

const importPattern = /(?:\bfrom\s*|\bimport\s*\(?\s*)(['"])((?:#|\.{1,2}\/)[^'"\n]+)\1/g;

/** The files that a source file imports, including types, by their paths in the project. */
export const importsOf = (file: string, source: string): string[] =>
  [...source.matchAll(importPattern)].map(([, , specifier = '']) => {
    const [path = ''] = specifier.split('?');
    return path.startsWith('#')
      ? path.slice(1)
      : posix.normalize(posix.join(posix.dirname(file), path));
  });

/** Which files import which: `importers.get('shared/a.ts')` has the files that import it. */
export function importersOf(
  projectDir: string,
  files: readonly string[],
): Map<string, Set<string>> {
  const importers = new Map<string, Set<string>>();
  for (const file of files) {
    for (const target of importsOf(file, readFileSync(join(projectDir, file), 'utf8'))) {
      const known = importers.get(target);
      if (known === undefined) importers.set(target, new Set([file]));
      else known.add(file);
    }
  }
  return importers;
}

/**
 * Files that are read or started by path, with their readers, as if these imported them. Some tests hold a law for all files
 * of a folder.
 */
const readByPath: readonly [path: RegExp, reader: string][] = [
  [/^workflows\/(?:index|payload-converter|native-payloads)\.ts$/, 'test/support/engine.ts'],
  [/^(?:worker\/workflow-thread|shared\/platform\/threads\/thread)\.ts$/, 'test/support/engine.ts'],
  [/^shared\/platform\/secrets\/password-hasher\.ts$/, 'shared/platform/secrets/passwords.ts'],
  [/^(?:api|worker)\/main\.ts$/, 'test/support/processes.ts'],
  [/^cli\/main\.ts$/, 'test/cli/ops.ts'],
  [/^console\/(?:src\/main\.tsx|index\.html|vite\.config\.ts|.*\.css)$/, 'test/console/browser.ts'],
  [/^api\/routes\//, 'test/api/contract/access-matrix.test.ts'],
  [/^(?:api\/routes|shared\/db)\/.*\.ts$/, 'test/security/foreign-ids.test.ts'],
  [/^migrations\//, 'test/db/migrate.test.ts'],
  [/^migrations\//, 'test/db/schema-dump.test.ts'],
  [/^shared\/db\/functions\//, 'test/db/schema-dump.test.ts'],
  [/^shared\/db\/functions\//, 'shared/db/runs/admission.ts'],
  [/^scripts\/(?:start|demo|storm|fuzz)\.ts$/, 'test/launcher/start.test.ts'],
  [
    /^(?:Dockerfile|docker-compose\.yml|docker\/|\.env\.example)/,
    'test/launcher/image.soak.test.ts',
  ],
  [/\.md$/, 'test/docs/links.test.ts'],
  [/^\.ci\//, 'test/launcher/flaky-tests.test.ts'],
];

/** Adds the readers of files that are read by path. */
export function addReaders(importers: Map<string, Set<string>>, files: readonly string[]): void {
  for (const file of files) {
    for (const [path, reader] of readByPath) {
      if (!path.test(file)) continue;
      const known = importers.get(file);
      if (known === undefined) importers.set(file, new Set([reader]));
      else known.add(reader);
    }
  }
}

/** The number of imports between a file and the nearest changed one; changed files have 0. */
export function distances(
  changed: readonly string[],
  importers: ReadonlyMap<string, ReadonlySet<string>>,
): Map<string, number> {
  const found = new Map(changed.map((file) => [file, 0]));
  for (const [file, distance] of found) {
    for (const importer of importers.get(file) ?? []) {
      if (!found.has(importer)) found.set(importer, distance + 1);
    }
  }
  return found;
}

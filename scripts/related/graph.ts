import { readFileSync } from 'node:fs';
import { join, posix } from 'node:path';

const importPattern = /(?:\bfrom\s*|\bimport\s*\(?\s*)(['"])(\.{1,2}\/[^'"\n]+)\1/g;

/** Which file imports which, types included: `importers.get('shared/a.ts')` has the files that import it. */
export function importersOf(
  projectDir: string,
  files: readonly string[],
): Map<string, Set<string>> {
  const importers = new Map<string, Set<string>>();
  for (const file of files) {
    const source = readFileSync(join(projectDir, file), 'utf8');
    for (const [, , specifier = ''] of source.matchAll(importPattern)) {
      const [path = ''] = specifier.split('?');
      const target = posix.normalize(posix.join(posix.dirname(file), path));
      const known = importers.get(target);
      if (known === undefined) importers.set(target, new Set([file]));
      else known.add(file);
    }
  }
  return importers;
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

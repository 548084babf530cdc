import { createHash } from 'node:crypto';
import { existsSync, readFileSync } from 'node:fs';
import { join } from 'node:path';
import { importsOf } from '#scripts/related/graph.ts';

/** Texts that all verdicts depend on, and files that declare types of other modules or of the global scope. */
const GLOBAL = /^(?:package-lock\.json|oxlint\.config\.ts|.*tsconfig.*\.json|.*\.d\.m?ts)$/;
const declares = /^declare (?:module|global)\b/m;

const digest = (...parts: readonly string[]): string => {
  const hash = createHash('sha256');
  for (const part of parts) hash.update(part).update('\0');
  return hash.digest('base64url');
};

/** For each source file, the digest of all texts that its verdict depends on. */
export function digestsOf(projectDir: string, files: readonly string[]): Map<string, string> {
  const read = (file: string): string => {
    const path = join(projectDir, file);
    return existsSync(path) ? readFileSync(path, 'utf8') : '';
  };
  const texts = new Map(files.map((file) => [file, read(file)]));
  const sources = files.filter((file) => /\.(?:ts|tsx|mjs)$/.test(file));
  const shared = digest(
    ...[...texts].filter(([file, text]) => GLOBAL.test(file) || declares.test(text)).flat(),
  );
  const known = new Map<string, string>();
  const digestOf = (file: string): string => {
    const found = known.get(file);
    if (found !== undefined) return found;
    // The import law reports a circle; here it only must not be endless.
    known.set(file, '');
    const text = texts.get(file) ?? read(file);
    const made = digest(shared, text, ...importsOf(file, text).map(digestOf));
    known.set(file, made);
    return made;
  };
  return new Map(sources.map((file) => [file, digestOf(file)]));
}

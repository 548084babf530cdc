// Whether console/dist was built from the current sources. It has no dependencies, since the setup uses it.
import { createHash } from 'node:crypto';
import { existsSync, readdirSync, readFileSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';

/** The console's sources, as folders and files, without its tests. */
const sources = [
  'docs',
  'console/src',
  'console/index.html',
  'console/vite.config.ts',
  'console/tsconfig.json',
];
const alongside = ['client', 'shared', 'package-lock.json'];

/** @param {string} projectDir */
const markerPath = (projectDir) => join(projectDir, 'console', 'dist', '.built-from');

/** The hash of all inputs of the build. @param {string} projectDir */
export function consoleSourcesHash(projectDir) {
  const hash = createHash('sha256');
  for (const source of [...sources, ...alongside]) {
    for (const path of filesOf(projectDir, source)) {
      hash
        .update(`${path}\0`)
        .update(readFileSync(join(projectDir, path)))
        .update('\0');
    }
  }
  return hash.digest('hex');
}

/** @param {string} projectDir @param {string} hash of the sources */
export const isConsoleBuilt = (projectDir, hash) =>
  existsSync(markerPath(projectDir)) && readFileSync(markerPath(projectDir), 'utf8') === hash;

/** @param {string} projectDir @param {string} hash of the sources as they were before the build */
export const markConsoleBuilt = (projectDir, hash) => writeFileSync(markerPath(projectDir), hash);

/** @param {string} projectDir @param {string} path */
function filesOf(projectDir, path) {
  const full = join(projectDir, path);
  if (!existsSync(full)) return [];
  try {
    return readdirSync(full, { recursive: true, withFileTypes: true })
      .filter((entry) => entry.isFile())
      .map((entry) => join(entry.parentPath, entry.name).slice(projectDir.length + 1))
      .sort();
  } catch (error) {
    if (/** @type {NodeJS.ErrnoException} */ (error).code === 'ENOTDIR') return [path];
    throw error;
  }
}

// Whether console/dist and site/dist were built from the current sources. It has no dependencies, since the setup uses it.
import { createHash } from 'node:crypto';
import { existsSync, readdirSync, readFileSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';

/** The console's sources, as folders and files, without its tests. */
const sources = [
  'docs',
  'console/src',
  'console/index.html',
  'console/precompress.ts',
  'console/vite.config.ts',
  'console/tsconfig.json',
];
const alongside = ['client', 'shared', 'package-lock.json'];

/** The sources of the documentation site. */
const siteSources = [
  'docs',
  'README.md',
  'ARCHITECTURE.md',
  'CHANGELOG.md',
  'CONTRIBUTING.md',
  'SECURITY.md',
  'bench/README.md',
  'site/browser',
  'site/build.ts',
  'site/layout.ts',
  'site/markdown.ts',
  'site/pages.ts',
  'site/search-fields.ts',
  'console/precompress.ts',
  'console/src/fonts',
  'console/src/favicon.svg',
  'shared/values',
  'package-lock.json',
];

/** @param {string} projectDir @param {string} folder */
const markerPath = (projectDir, folder) => join(projectDir, folder, 'dist', '.built-from');

/** The hash of all inputs of the console's build. @param {string} projectDir */
export const consoleSourcesHash = (projectDir) => hashOf(projectDir, [...sources, ...alongside]);

/** The hash of all inputs of the site's build. @param {string} projectDir */
export const siteSourcesHash = (projectDir) => hashOf(projectDir, siteSources);

/** @param {string} projectDir @param {string[]} inputs */
function hashOf(projectDir, inputs) {
  const hash = createHash('sha256');
  for (const source of inputs) {
    for (const path of filesOf(projectDir, source)) {
      hash
        .update(`${path}\0`)
        .update(readFileSync(join(projectDir, path)))
        .update('\0');
    }
  }
  return hash.digest('hex');
}

/** @param {string} projectDir @param {'console' | 'site'} folder @param {string} hash of the sources */
export const isBuilt = (projectDir, folder, hash) =>
  existsSync(markerPath(projectDir, folder)) &&
  readFileSync(markerPath(projectDir, folder), 'utf8') === hash;

/**
 * @param {string} projectDir @param {'console' | 'site'} folder
 * @param {string} hash of the sources as they were before the build
 */
export const markBuilt = (projectDir, folder, hash) =>
  writeFileSync(markerPath(projectDir, folder), hash);

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

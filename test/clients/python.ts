import { type ChildProcess, spawn } from 'node:child_process';
import { createHash } from 'node:crypto';
import { once } from 'node:events';
import {
  cpSync,
  existsSync,
  mkdirSync,
  readdirSync,
  readFileSync,
  rmSync,
  statSync,
  writeFileSync,
} from 'node:fs';
import { join } from 'node:path';
import { setTimeout } from 'node:timers/promises';
import { freePorts } from '#scripts/stack/ports.ts';
import { cacheFolder, must, run } from './tools.ts';

/** The checks of the Python client: `npm run test:clients` and a test of the soak run them. See docs/testing.md. */

const projectDir = join(import.meta.dirname, '../..');
const sources = join(projectDir, 'clients/python');
const MAX_WHEEL_BYTES = 200_000;

/** A Python of at least 3.10 with the tools of the checks, in a virtual environment of its own. */
export interface PythonTools {
  /** Python of the virtual environment. */
  command: string;
  /** Python of the machine. */
  base: string;
  /** Packages for another environment, so that it needs no index. */
  wheels: string;
}

/** A service in required mode. */
export interface RequiredService {
  apiUrl: string;
  ownerPassword: string;
}

const candidates = ['python3', 'python3.13', 'python3.12', 'python3.11', 'python3.10', 'python'];
const enough = 'import sys, venv, ensurepip; sys.exit(sys.version_info < (3, 10))';
/** What pip says when it cannot reach the index, as opposed to an index that lacks a package. */
const unreachable =
  /Retrying \(|connection broken|NewConnectionError|ConnectTimeout|Temporary failure|ProxyError|SSLError/i;

/**
 * Prepares what the checks need, or says what is missing on this machine. A second run needs no network. Throws if the
 * index lacks a package.
 */
export async function preparePythonTools(): Promise<PythonTools | { missing: string }> {
  const base = await findPython();
  if (base === undefined) return { missing: 'Python 3.10 or newer with venv' };
  const requirements = join(sources, 'requirements.txt');
  const { output: version } = await run(base, ['-c', 'import sys; print(sys.version)']);
  const digest = createHash('sha256').update(version).update(readFileSync(requirements));
  const folder = join(cacheFolder, `python-client-${digest.digest('hex').slice(0, 12)}`);
  const command = join(folder, 'bin', 'python');
  const done = join(folder, 'complete');
  const wheels = join(folder, 'wheels');
  if (existsSync(done)) return { command, base, wheels };
  rmSync(folder, { recursive: true, force: true });
  mkdirSync(cacheFolder, { recursive: true });
  await must(base, ['-m', 'venv', folder]);
  const downloads = ['download', '--dest', wheels, '-c', requirements, 'httpx', 'uvicorn'];
  for (const args of [['install', '-r', requirements], downloads]) {
    const { ok, output } = await run(command, ['-m', 'pip', ...args]);
    if (!ok && unreachable.test(output)) return { missing: 'the package index, PyPI' };
    if (!ok) throw new Error(`pip ${args.join(' ')} failed:\n${output.trim()}`);
  }
  writeFileSync(done, '');
  return { command, base, wheels };
}

async function findPython(): Promise<string | undefined> {
  for (const name of candidates) {
    if ((await run(name, ['-c', enough])).ok) return name;
  }
  return undefined;
}

/** A check of the Python client. It throws if the check fails. `folder` is for its files, and is shared by all checks. */
interface PythonCheck {
  title: string;
  check: (tools: PythonTools, service: RequiredService, folder: string) => Promise<void>;
}

const inSources = { cwd: sources };

/** In the order in which they have to run. */
export const pythonChecks: readonly PythonCheck[] = [
  {
    title: 'has no findings of ruff for Python 3.10',
    check: async ({ command }) => {
      await must(command, ['-m', 'ruff', 'check', '.'], inSources);
      await must(command, ['-m', 'ruff', 'format', '--check', '.'], inSources);
    },
  },
  {
    title: 'has types that the strict mypy accepts for Python 3.10',
    check: async ({ command }) => {
      await must(command, ['-m', 'mypy'], inSources);
    },
  },
  { title: 'passes its tests with the service', check: runPytest },
  { title: 'is a wheel of at most 200 kB with its license and types', check: checkWheel },
  {
    title: 'does what docs/python.md says, installed in an empty environment',
    check: runTours,
  },
];

async function runPytest({ command }: PythonTools, service: RequiredService): Promise<void> {
  const output = await must(command, ['-m', 'pytest'], {
    ...inSources,
    env: { ...environment(service), PYTHONPATH: 'src' },
  });
  if (!/\b\d{3,} passed\b/.test(output) || /\bskipped\b/.test(output)) {
    throw new Error(`Not all tests were run:\n${output.trim()}`);
  }
}

/** Variables for programs that use the service. Nothing on this machine is behind a proxy. */
const environment = ({ apiUrl, ownerPassword }: RequiredService): NodeJS.ProcessEnv => ({
  SERVICE_URL: apiUrl,
  OWNER_PASSWORD: ownerPassword,
  NO_PROXY: '127.0.0.1,localhost',
  no_proxy: '127.0.0.1,localhost',
});

/** Builds the wheel in a folder. Returns its path. */
export async function buildWheel({ command }: PythonTools, folder: string): Promise<string> {
  // A copy, because the build leaves files in the folder of the sources.
  const copy = join(folder, 'sources');
  cpSync(sources, copy, { recursive: true, filter: (path) => !path.includes('__pycache__') });
  const target = join(folder, 'wheel');
  const flags = ['--quiet', '--no-deps', '--no-build-isolation', '--wheel-dir', target];
  await must(command, ['-m', 'pip', 'wheel', ...flags, copy]);
  const [file] = readdirSync(target).filter((name) => name.endsWith('.whl'));
  if (file === undefined) throw new Error('There is no wheel');
  return join(target, file);
}

/** Installs a wheel with what it needs and nothing else. Returns the command of that Python. */
export async function installWheel(
  { base, wheels }: PythonTools,
  wheel: string,
  folder: string,
): Promise<string> {
  const home = join(folder, 'user');
  await must(base, ['-m', 'venv', home]);
  const command = join(home, 'bin', 'python');
  const flags = ['--quiet', '--no-index', '--find-links', wheels];
  await must(command, ['-m', 'pip', 'install', ...flags, wheel]);
  await must(command, ['-m', 'pip', 'check']);
  return command;
}

async function checkWheel(
  tools: PythonTools,
  _service: RequiredService,
  folder: string,
): Promise<void> {
  const wheel = await buildWheel(tools, folder);
  const size = statSync(wheel).size;
  if (size > MAX_WHEEL_BYTES) throw new Error(`The wheel has ${size} bytes`);
  const listed = await must(tools.command, ['-m', 'zipfile', '--list', wheel]);
  const files = listed
    .split('\n')
    .map((line) => line.split(' ')[0] ?? '')
    .filter((name) => name.includes('/'));
  const needed = ['durable_workflows/py.typed', 'durable_workflows/tools/__init__.py'];
  const lacking = needed.filter((name) => !files.includes(name));
  if (!files.some((name) => name.endsWith('.dist-info/licenses/LICENSE'))) lacking.push('LICENSE');
  const other = files.filter((name) => !/^durable_workflows(?:-[\d.]+\.dist-info)?\//.test(name));
  if (lacking.length + other.length > 0) {
    throw new Error(`The wheel lacks ${lacking.join(', ')}, and has ${other.join(', ')}`);
  }
}

/** Executes the programs of docs/python.md with the wheel that was built. */
async function runTours(
  tools: PythonTools,
  service: RequiredService,
  folder: string,
): Promise<void> {
  const command = await installWheel(tools, await buildWheel(tools, folder), folder);
  const token = await ownerToken(service);
  const [port = 0] = await freePorts(1);
  const env = {
    ...environment(service),
    OPS_API_URL: service.apiUrl,
    OPS_TOKEN: token,
    TOOL_SECRET: 'a secret of the tour',
    TOOLS_URL: `http://127.0.0.1:${port}`,
  };
  const at = { env, cwd: folder };
  await prints(command, 'example', at);
  const flags = ['--quiet', '--no-index', '--find-links', tools.wheels];
  await must(command, ['-m', 'pip', 'install', ...flags, 'uvicorn']);
  writeFileSync(join(folder, 'refunds.py'), program('tools'));
  const server = spawn(command, ['-m', 'uvicorn', 'refunds:app', '--port', String(port)], {
    cwd: folder,
    env: { ...process.env, ...env },
    stdio: 'ignore',
  });
  try {
    await answers(env.TOOLS_URL, server);
    await prints(command, 'register', at);
  } finally {
    if (server.kill()) await once(server, 'exit');
  }
}

/** Waits until a server answers. Throws if it ends before. */
async function answers(url: string, server: ChildProcess): Promise<void> {
  while ((await fetch(url).catch(() => undefined)) === undefined) {
    if (server.exitCode !== null) throw new Error(`uvicorn has ended with ${server.exitCode}`);
    await setTimeout(50);
  }
}

/** A program in docs/python.md. */
function program(name: string): string {
  const text = readFileSync(join(projectDir, 'docs/python.md'), 'utf8');
  const marks = new RegExp(
    `<!-- ${name}:begin -->\n\`\`\`python\n([^]*?)\`\`\`\n<!-- ${name}:end -->`,
  );
  const [, found] = marks.exec(text) ?? [];
  if (found === undefined) throw new Error(`docs/python.md has no ${name}`);
  return found;
}

/** Executes a program of docs/python.md, which must print what its comments promise. */
async function prints(
  command: string,
  name: string,
  { env, cwd }: { env: NodeJS.ProcessEnv; cwd: string },
): Promise<void> {
  const text = program(name);
  const file = join(cwd, `${name}.py`);
  writeFileSync(file, text);
  const promised = [...text.matchAll(/^#=> (.*)$/gm)].map(([, line]) => line).join('\n');
  const printed = (await must(command, [file], { env, cwd })).trim();
  if (printed !== promised) throw new Error(`The ${name} of docs/python.md printed:\n${printed}`);
}

async function ownerToken({ apiUrl, ownerPassword }: RequiredService): Promise<string> {
  const answer = await fetch(`${apiUrl}/api/auth/login`, {
    method: 'POST',
    headers: { 'content-type': 'application/json' },
    body: JSON.stringify({ email: 'owner@localhost', password: ownerPassword }),
  });
  return ((await answer.json()) as { token: string }).token;
}

import { spawn } from 'node:child_process';
import { existsSync, mkdirSync } from 'node:fs';
import { delimiter, join } from 'node:path';

/** The generators, at the versions the checks expect, and their prerequisites on this machine. */
const versions = {
  openapiPythonClient: 'openapi-python-client==0.29.1',
  openapiGenerator: 'org.openapitools:openapi-generator-cli:7.25.0',
};

const projectDir = join(import.meta.dirname, '../..');
/** Kept between runs, so that a second run needs no network. */
export const cacheFolder = join(projectDir, '.cache', 'clients');

export interface Ran {
  ok: boolean;
  /** Both streams, in order of arrival. */
  output: string;
}

/** Runs a command, with a timeout of ten minutes. */
export async function run(
  command: string,
  args: readonly string[],
  { cwd = projectDir, env = {} }: { cwd?: string; env?: NodeJS.ProcessEnv } = {},
): Promise<Ran> {
  const child = spawn(command, args, {
    cwd,
    env: { ...process.env, ...env },
    stdio: ['ignore', 'pipe', 'pipe'],
    timeout: 600_000,
  });
  const chunks: Buffer[] = [];
  child.stdout.on('data', (chunk: Buffer) => chunks.push(chunk));
  child.stderr.on('data', (chunk: Buffer) => chunks.push(chunk));
  return new Promise((resolve) => {
    child.once('error', ({ message }) => resolve({ ok: false, output: message }));
    child.once('close', (code) =>
      resolve({ ok: code === 0, output: Buffer.concat(chunks).toString('utf8') }),
    );
  });
}

/** Runs a command that must succeed. Throws with the end of its output. */
export async function must(...call: Parameters<typeof run>): Promise<string> {
  const { ok, output } = await run(...call);
  if (ok) return output;
  const [command, args] = call;
  const tail = output.trim().split('\n').slice(-20).join('\n');
  throw new Error(`${command} ${args.join(' ').slice(0, 200)} failed:\n${tail}`);
}

/** The commands that this machine does not have. */
export async function missing(commands: readonly string[]): Promise<string[]> {
  const found = await Promise.all(
    commands.map(async (command) => {
      const flag = command === 'python3' ? '--version' : '-version';
      return (await run(command, [flag])).ok;
    }),
  );
  return commands.filter((_command, index) => found[index] !== true);
}

export interface Python {
  command: string;
  /** With the commands of the environment first on the path. */
  env: NodeJS.ProcessEnv;
}

/** Creates a virtual environment with openapi-python-client. Throws if it cannot be created. */
export async function preparePython(): Promise<Python> {
  const folder = join(cacheFolder, 'python');
  const bin = join(folder, process.platform === 'win32' ? 'Scripts' : 'bin');
  const command = join(bin, 'python');
  if (!existsSync(command)) {
    mkdirSync(cacheFolder, { recursive: true });
    await must('python3', ['-m', 'venv', folder]);
  }
  await must(command, ['-m', 'pip', 'install', '--quiet', versions.openapiPythonClient]);
  return { command, env: { PATH: `${bin}${delimiter}${process.env['PATH'] ?? ''}` } };
}

/** The path of openapi-generator, downloaded once with Maven. Throws if the download fails. */
export async function prepareGenerator(): Promise<string> {
  const [, name, version] = versions.openapiGenerator.split(':');
  const jar = join(cacheFolder, `${name}-${version}.jar`);
  if (!existsSync(jar)) {
    const to = [`-Dartifact=${versions.openapiGenerator}`, `-DoutputDirectory=${cacheFolder}`];
    await must('mvn', ['--quiet', '--batch-mode', 'dependency:copy', ...to]);
  }
  return jar;
}

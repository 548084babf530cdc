import { spawn } from 'node:child_process';
import { once } from 'node:events';
import { cpSync, mkdtempSync, readFileSync, realpathSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { clusterPrograms, provideClusterPrograms } from '#scripts/setup/cluster-programs.mjs';
import { findGo } from '#scripts/setup/go.mjs';
import { findOnPath, findTemporalBinary } from '#scripts/stack/temporal-binary.mjs';
import { moduleFolder } from './compose.ts';
import { Missing, run } from './engine.ts';

const BASE = 'stand-in-base';
const PULL_MS = 600_000;

/** The images that the Dockerfile and the compose file begin with, by the service of stand-ins/images.yml that replaces each. */
function baseImages(projectDir: string): Map<string, string> {
  const read = (path: string): string => readFileSync(join(projectDir, path), 'utf8');
  const compose = [...read('docker-compose.yml').matchAll(/^ +image: (\S+:\S+)$/gm)];
  const [, node = ''] = /^ARG NODE_IMAGE=(\S+)$/m.exec(read('Dockerfile')) ?? [];
  const names = new Set([node, ...compose.map(([, name = '']) => name)]);
  return new Map([...names].map((name) => [name.replace(/:.*/, '').replace('/', '-'), name]));
}

/**
 * Pulls the base images. Builds stand-ins for those that cannot be pulled, from Debian packages, the Node of this process
 * and Go modules. Returns the names of the stand-ins. Throws `Missing` if the machine cannot build them.
 */
export async function provideBaseImages(
  projectDir: string,
  env: NodeJS.ProcessEnv,
): Promise<string[]> {
  const images = baseImages(projectDir);
  const missing: string[] = [];
  for (const [service, name] of images) {
    if (!(await isHere(name, env))) missing.push(service);
  }
  if (missing.length > 0) {
    console.log(`Building stand-ins for ${missing.join(', ')}, which cannot be pulled ...`);
    await provideBase(env);
    const context = await collectPrograms(projectDir, env);
    try {
      await build(projectDir, env, { context, images, services: missing });
    } finally {
      rmSync(context, { recursive: true, force: true });
    }
  }
  const labels = await Promise.all(
    [...images.values()].map(async (name) => ({ name, label: await standInLabel(name, env) })),
  );
  return labels.filter(({ label }) => label === 'true').map(({ name }) => name);
}

async function isHere(image: string, env: NodeJS.ProcessEnv): Promise<boolean> {
  for (const args of [
    ['image', 'inspect', image],
    ['pull', '--quiet', image],
  ]) {
    try {
      await run('docker', args, { env, timeout: PULL_MS });
      return true;
    } catch {
      continue;
    }
  }
  return false;
}

async function standInLabel(image: string, env: NodeJS.ProcessEnv): Promise<string> {
  const format = '{{index .Config.Labels "stand-in"}}';
  const { stdout } = await run('docker', ['image', 'inspect', '--format', format, image], { env });
  return stdout.trim();
}

/** A minimal Debian, of the release that has the Postgres of the compose file. */
async function provideBase(env: NodeJS.ProcessEnv): Promise<void> {
  const { stdout } = await run('docker', ['images', '--quiet', BASE], { env });
  if (stdout !== '') return;
  if (process.getuid?.() !== 0 || findOnPath('debootstrap', env) === undefined) {
    throw new Missing('images cannot be pulled, and stand-ins need debootstrap and root');
  }
  const root = mkdtempSync(join(tmpdir(), 'debian-'));
  try {
    const options = ['--variant=minbase', '--include=netcat-openbsd'];
    await run('debootstrap', [...options, 'testing', root], { env, maxBuffer: 1e8 });
    // Also where the clock is ahead of the mirror.
    const apt = 'Acquire::Check-Valid-Until "false";\n';
    writeFileSync(join(root, 'etc/apt/apt.conf.d/80stand-in'), apt);
    const tar = spawn('tar', ['-C', root, '--exclude=./var/cache/apt/archives', '-c', '.']);
    const change = ['--change', 'LABEL stand-in=true'];
    const load = spawn('docker', ['import', ...change, '-', BASE], { env });
    tar.stdout.pipe(load.stdin);
    const [code] = (await once(load, 'close')) as [number];
    if (code !== 0) throw new Error(`docker import ended with code ${code}`);
  } finally {
    rmSync(root, { recursive: true, force: true });
  }
}

/** A folder with what stand-ins/images.yml copies into the images. */
async function collectPrograms(projectDir: string, env: NodeJS.ProcessEnv): Promise<string> {
  await provideClusterPrograms(projectDir);
  const { server, schemaTool, ui } = clusterPrograms(projectDir);
  const go = findGo(env);
  const temporal = findTemporalBinary(projectDir, env);
  const npm = findOnPath('npm', env);
  if (go === undefined || temporal === undefined || npm === undefined) {
    throw new Missing('images cannot be pulled, and stand-ins need Go, npm and the Temporal CLI');
  }
  const serverModule = await moduleFolder(go, `go.temporal.io/server@v${server.version}`);
  const uiModule = await moduleFolder(go, `github.com/temporalio/ui-server/v2@v${ui.version}`);
  const authorities = env['NODE_EXTRA_CA_CERTS'];
  const context = mkdtempSync(join(tmpdir(), 'stand-ins-'));
  const files: Record<string, string> = {
    node: process.execPath,
    // The package, from its program bin/npm-cli.js.
    npm: join(realpathSync(npm), '../..'),
    'temporal-server': server.path,
    'temporal-sql-tool': schemaTool.path,
    temporal,
    'ui-server': ui.path,
    'temporal-entrypoint.sh': join(serverModule, 'docker/scripts/sh/entrypoint.sh'),
    'ui-docker.yaml': join(uiModule, 'config/docker.yaml'),
    'ui-entrypoint.sh': join(uiModule, 'docker/start-ui-server.sh'),
    'postgres-entrypoint.sh': join(projectDir, 'test/image/stand-ins/postgres-entrypoint.sh'),
  };
  for (const [name, path] of Object.entries(files)) {
    cpSync(path, join(context, name), { recursive: true, dereference: true });
  }
  // Packages may come through a proxy of the machine.
  writeFileSync(
    join(context, 'authorities.pem'),
    authorities === undefined ? '' : readFileSync(authorities),
  );
  return context;
}

async function build(
  projectDir: string,
  env: NodeJS.ProcessEnv,
  {
    context,
    images,
    services,
  }: { context: string; images: Map<string, string>; services: string[] },
): Promise<void> {
  const variables = [...images].map(([service, name]) => [
    `${service.replaceAll('-', '_').toUpperCase()}_IMAGE`,
    name,
  ]);
  const file = join(projectDir, 'test/image/stand-ins/images.yml');
  await run('docker', ['compose', '--file', file, 'build', ...services], {
    env: { ...env, ...Object.fromEntries(variables), CONTEXT: context, BASE_IMAGE: BASE },
    maxBuffer: 1e8,
  });
}

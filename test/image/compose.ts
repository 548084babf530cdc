import { cpSync, existsSync, mkdirSync, mkdtempSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { isExecutable } from '#scripts/stack/temporal-binary.mjs';
import { findGo } from '#scripts/setup/go.mjs';
import { type Engine, Missing, run } from './engine.ts';

const PLUGIN = 'github.com/docker/compose/v2@v2.40.3';

/**
 * An environment in which `docker compose` is version 2 or newer. Without it, builds the plugin with Go, once, into `.cache`.
 * Throws `Missing` where it cannot.
 */
export async function provideCompose(
  { env }: Engine,
  projectDir: string,
): Promise<NodeJS.ProcessEnv> {
  if (await hasCompose(env)) return env;
  const folder = join(projectDir, '.cache/docker-compose');
  const plugin = join(folder, 'cli-plugins/docker-compose');
  if (!isExecutable(plugin)) {
    const go = findGo(env);
    if (go === undefined) {
      throw new Missing(
        'Docker Compose 2 is not installed, and Go, which can build it, is not on PATH',
      );
    }
    console.log('Building Docker Compose with Go (once, 5 to 10 minutes) ...');
    await buildPlugin(go, plugin);
  }
  const own = { ...env, DOCKER_CONFIG: folder };
  if (!(await hasCompose(own))) throw new Missing('docker does not find its plugin compose');
  return own;
}

async function hasCompose(env: NodeJS.ProcessEnv): Promise<boolean> {
  try {
    // Version 1 is another command, docker-compose.
    await run('docker', ['compose', 'version'], { env });
    return true;
  } catch {
    return false;
  }
}

/** Its module replaces others, so `go install` refuses it: it is built in a copy of its folder. */
async function buildPlugin(go: string, plugin: string): Promise<void> {
  const sources = mkdtempSync(join(tmpdir(), 'compose-'));
  try {
    cpSync(await moduleFolder(go, PLUGIN), sources, { recursive: true });
    await run('chmod', ['-R', 'u+w', sources]);
    mkdirSync(join(plugin, '..'), { recursive: true });
    await run(go, ['build', '-mod=mod', '-o', plugin, './cmd'], {
      cwd: sources,
      maxBuffer: 1e8,
    });
  } finally {
    rmSync(sources, { recursive: true, force: true });
  }
}

/** The folder of a Go module, `example.org/module@v1.0.0`, which is downloaded if it is missing. */
export async function moduleFolder(go: string, module: string): Promise<string> {
  const { stdout } = await run(go, ['mod', 'download', '-json', module], { cwd: tmpdir() });
  const { Dir: folder } = JSON.parse(stdout) as { Dir: string };
  if (!existsSync(folder)) throw new Error(`${module} is not in ${folder}`);
  return folder;
}

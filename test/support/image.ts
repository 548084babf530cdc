import { execFile } from 'node:child_process';
import { cpSync, mkdirSync, readdirSync, readFileSync, symlinkSync } from 'node:fs';
import { basename, delimiter, dirname, join, matchesGlob, relative, sep } from 'node:path';
import { promisify } from 'node:util';

const projectDir = join(import.meta.dirname, '../..');
const WORKDIR = '/app';

/** For a run that shows that an image works: an agent, a tool in each lane, and an expression. */
export const sampleGraph = {
  nodes: [
    { id: 'draft', kind: 'agent', prompt: 'Answer {ticket}', mock: { output: 'About {ticket}' } },
    { id: 'pause', kind: 'tool', tool_name: 'delay', params: { seconds: 0.1 } },
    { id: 'shape', kind: 'tool', tool_name: 'json_transform', params: { expression: 'draft' } },
  ],
  edges: [
    { source: 'draft', target: 'pause' },
    { source: 'pause', target: 'shape' },
  ],
};

/** What an image contains below its working folder, and what it sets. */
export interface BuiltImage {
  /** The copy of `/app`. */
  app: string;
  env: Record<string, string>;
  /** The environment for its processes: `env`, and a PATH on which `node` is the one that runs the tests. */
  environment: NodeJS.ProcessEnv;
  /** From the image's entrypoint, relative to `app`. */
  entrypoint: string;
}

/**
 * Follows the Dockerfile in `folder`, without containers: from exactly the files that .dockerignore lets through, each
 * stage in a folder of its own. Packages are linked instead of installed; those of `npm ci --omit=dev` are the ones that
 * the lock file has for production. Throws at an instruction it does not know.
 */
export async function buildImage(folder: string): Promise<BuiltImage> {
  const context = join(folder, 'context');
  copyContext(context);
  const stages = new Map<string, string>();
  const env: Record<string, string> = {};
  let app = '';
  let entrypoint: string | undefined;
  const inApp = (path: string): string =>
    path.startsWith(WORKDIR) ? `${app}${path.slice(WORKDIR.length)}` : join(app, path);
  for (const [name, rest] of instructions()) {
    if (name === 'FROM') {
      app = join(folder, `stage-${stages.size}`);
      mkdirSync(app);
      stages.set(/ AS (\S+)$/.exec(rest)?.[1] ?? 'last', app);
    } else if (name === 'COPY') copy(rest, { context, stages, inApp });
    else if (name === 'RUN') await execute(rest, app);
    else if (name === 'ENV') {
      for (const [, key = '', value = ''] of rest.matchAll(/(\w+)=(\S+)/g)) {
        env[key] = value.startsWith(WORKDIR) ? inApp(value) : value;
      }
    } else if (name === 'ENTRYPOINT') {
      entrypoint = relative(app, inApp(String((JSON.parse(rest) as string[])[0])));
    } else if (!['ARG', 'WORKDIR', 'USER', 'EXPOSE', 'HEALTHCHECK', 'CMD'].includes(name)) {
      throw new Error(`The Dockerfile has an instruction that this build does not know: ${name}`);
    }
  }
  if (entrypoint === undefined) throw new Error('The Dockerfile has no ENTRYPOINT');
  return { app, env, environment: { ...inherited(), ...env }, entrypoint };
}

/** Name and arguments of each instruction of the Dockerfile. */
function instructions(): [name: string, rest: string][] {
  const text = readFileSync(join(projectDir, 'Dockerfile'), 'utf8');
  const lines = text.replaceAll(/^\s*#.*\n/gm, '').replaceAll(/\\\n\s*/g, '');
  return lines
    .split('\n')
    .filter((line) => line.trim() !== '')
    .map((line) => {
      const [, name = '', rest = ''] = /^(\S+)\s+(.*)$/.exec(line) ?? [];
      return [name, rest];
    });
}

/** As Docker matches: a name that begins with a dot is like any other. */
const matches = (path: string, glob: string): boolean =>
  matchesGlob(withoutDots(path), withoutDots(glob));
const withoutDots = (path: string): string => path.replaceAll(/(?<=^|\/)\./g, '_');

/** The patterns of .dockerignore: the last that matches a path, or a folder above it, decides. */
function ignored(): { isOut: (path: string) => boolean; mayHoldMore: (folder: string) => boolean } {
  const patterns = readFileSync(join(projectDir, '.dockerignore'), 'utf8')
    .split('\n')
    .filter((line) => line !== '' && !line.startsWith('#'))
    .map((line) => ({
      lets: line.startsWith('!'),
      glob: line.replace(/^!/, '').replaceAll(/^\/|\/$/g, ''),
    }));
  const places = (path: string): string[] =>
    path.split('/').map((_, index, parts) => parts.slice(0, index + 1).join('/'));
  return {
    isOut: (path) =>
      patterns.findLast(({ glob }) => places(path).some((place) => matches(place, glob)))?.lets ===
      false,
    mayHoldMore: (folder) =>
      patterns.some(({ lets, glob }) => lets && glob.startsWith(`${folder}/`)),
  };
}

function copyContext(context: string): void {
  const { isOut, mayHoldMore } = ignored();
  mkdirSync(context, { recursive: true });
  for (const entry of readdirSync(projectDir)) {
    cpSync(join(projectDir, entry), join(context, entry), {
      recursive: true,
      filter: (source) => {
        const path = relative(projectDir, source).replaceAll(sep, '/');
        return !isOut(path) || mayHoldMore(path);
      },
    });
  }
}

function copy(
  rest: string,
  from: { context: string; stages: Map<string, string>; inApp: (path: string) => string },
): void {
  const words = rest.split(/\s+/);
  const stage = words.find((word) => word.startsWith('--from='))?.slice('--from='.length);
  const root = stage === undefined ? from.context : from.stages.get(stage);
  if (root === undefined) throw new Error(`The Dockerfile has no stage ${stage}`);
  const paths = words.filter((word) => !word.startsWith('--'));
  const target = from.inApp(paths.pop() ?? '');
  for (const path of paths) {
    const source = join(root, path.replace(new RegExp(`^${WORKDIR}/`), ''));
    const into = rest.endsWith('/') && path !== '.' ? join(target, basename(path)) : target;
    cpSync(source, into, { recursive: true, verbatimSymlinks: true });
  }
}

async function execute(command: string, app: string): Promise<void> {
  const text = command.replaceAll(/--mount=\S+\s+/g, '');
  // The system of the machine is the one of the image.
  if (text.startsWith('apt-get ')) return;
  if (text.startsWith('npm ci ')) linkPackages(app, text.includes('--omit=dev'));
  else await promisify(execFile)('sh', ['-euc', text], { cwd: app, env: inherited() });
}

/** Links each package, so that what is linked alone can be imported. */
function linkPackages(app: string, productionOnly: boolean): void {
  const lock = JSON.parse(readFileSync(join(app, 'package-lock.json'), 'utf8')) as {
    packages: Record<string, { dev?: boolean; optional?: boolean }>;
  };
  const installed = new Set(readdirSync(join(projectDir, 'node_modules')));
  for (const [path, { dev }] of Object.entries(lock.packages)) {
    const [, name = ''] = /^node_modules\/((?:@[^/]+\/)?[^/]+)$/.exec(path) ?? [];
    // Packages for other platforms are in the lock file, too.
    if (name === '' || !installed.has(name.split('/')[0] ?? '') || (productionOnly && dev)) {
      continue;
    }
    const link = join(app, 'node_modules', name);
    mkdirSync(dirname(link), { recursive: true });
    symlinkSync(join(projectDir, 'node_modules', name), link);
  }
}

/** The machine's own settings, without those of the tests and of the product. */
function inherited(): NodeJS.ProcessEnv {
  const { PATH = '', HOME, TMPDIR, NODE_COMPILE_CACHE } = process.env;
  const path = `${dirname(process.execPath)}${delimiter}${PATH}`;
  return { PATH: path, HOME, TMPDIR, NODE_COMPILE_CACHE };
}

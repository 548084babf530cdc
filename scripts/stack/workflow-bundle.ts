import { spawn } from 'node:child_process';
import { createHash } from 'node:crypto';
import {
  existsSync,
  globSync,
  mkdirSync,
  readFileSync,
  readdirSync,
  renameSync,
  rmSync,
  statSync,
  writeFileSync,
} from 'node:fs';
import { join } from 'node:path';

/** The number of older bundles that are kept, so that switching between git branches finds them again. */
const keptBundles = 4;

/**
 * The path of the bundled workflow code. It is only rebuilt if the sources have changed, because bundling takes seconds
 * and sources seldom change between two starts.
 */
export async function cachedWorkflowBundle(projectDir: string): Promise<string> {
  const cache = join(projectDir, '.cache');
  mkdirSync(cache, { recursive: true });
  const path = join(cache, `workflow-bundle-${sourceHash(projectDir)}.js`);
  if (existsSync(path)) return path;
  await build(path);
  forgetOldBundles(cache);
  return path;
}

/** Hashes all inputs of the bundle: workflow code, the shared code it imports, the bundling code, the packages. */
function sourceHash(projectDir: string): string {
  const hash = createHash('sha256');
  const files = [
    'package-lock.json',
    'worker/bundle.ts',
    ...globSync(['workflows/**/*.ts', 'shared/**/*.ts'], { cwd: projectDir }).sort(),
  ];
  for (const file of files) {
    hash
      .update(`${file}\0`)
      .update(readFileSync(join(projectDir, file)))
      .update('\0');
  }
  return hash.digest('hex').slice(0, 16);
}

/** In a separate process, because the bundler is large and would block this one. */
function build(path: string): Promise<void> {
  const draft = `${path}.${process.pid}`;
  const child = spawn(process.execPath, [import.meta.filename, draft], {
    stdio: ['ignore', 'ignore', 'pipe'],
  });
  const output: Buffer[] = [];
  child.stderr.on('data', (chunk: Buffer) => output.push(chunk));
  return new Promise((resolve, reject) => {
    child.once('error', reject);
    child.once('close', (code) => {
      if (code === 0) {
        renameSync(draft, path);
        resolve();
        return;
      }
      rmSync(draft, { force: true });
      reject(
        new Error(
          `The workflow code could not be bundled:\n${Buffer.concat(output).toString('utf8').trim()}`,
        ),
      );
    });
  });
}

function forgetOldBundles(cache: string): void {
  const bundles = readdirSync(cache)
    .filter((name) => /^workflow-bundle-[0-9a-f]+\.js$/.test(name))
    .map((name) => ({ path: join(cache, name), time: statSync(join(cache, name)).mtimeMs }))
    .sort((a, b) => b.time - a.time);
  for (const { path } of bundles.slice(keptBundles)) rmSync(path, { force: true });
}

const [, entry, target] = process.argv;
if (entry === import.meta.filename && target !== undefined) {
  const { bundleWorkflows } = await import('#worker/bundle.ts');
  const { code } = await bundleWorkflows();
  writeFileSync(target, code);
}

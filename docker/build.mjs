// Builds dist/ for the image: the compiled sources in the same folders, the files they read next to them, the console,
// the documentation site, and the workflow code as one bundle. Run from any folder: node docker/build.mjs
import { spawnSync } from 'node:child_process';
import { cpSync, readFileSync, rmSync, statSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';

const root = join(import.meta.dirname, '..');
const dist = join(root, 'dist');

rmSync(dist, { recursive: true, force: true });

// `npm run check` checks the types, with packages that the image does not need.
const compiler = join(root, 'node_modules/typescript-7/bin/tsc');
const compiled = spawnSync(
  process.execPath,
  [compiler, '-p', join(root, 'tsconfig.build.json'), '--noCheck'],
  { stdio: 'inherit' },
);
if (compiled.status !== 0) process.exit(compiled.status ?? 1);

const built = spawnSync(
  process.execPath,
  [join(root, 'node_modules/vite/bin/vite.js'), 'build', join(root, 'console')],
  { stdio: 'inherit' },
);
if (built.status !== 0) process.exit(built.status ?? 1);
cpSync(join(root, 'console/dist'), join(dist, 'console/dist'), { recursive: true });

const site = spawnSync(process.execPath, [join(root, 'site/build.ts')], { stdio: 'inherit' });
if (site.status !== 0) process.exit(site.status ?? 1);
cpSync(join(root, 'site/dist'), join(dist, 'site/dist'), { recursive: true });

// Paths relative to a module stay the same in dist/, so all other files are copied to the same place.
const assets = (path) => statSync(path).isDirectory() || !path.endsWith('.ts');
const guide = [join(root, 'docs'), join(root, 'docs/skill')];
cpSync(join(root, 'docs'), join(dist, 'docs'), {
  recursive: true,
  filter: (path) => guide.includes(path) || path.endsWith('.md'),
});
for (const folder of ['api', 'worker', 'activities', 'shared', 'migrations']) {
  cpSync(join(root, folder), join(dist, folder), { recursive: true, filter: assets });
}
// The sources import `#shared/errors.ts`; here that is the compiled file.
const { imports, ...description } = JSON.parse(readFileSync(join(root, 'package.json'), 'utf8'));
const compiledImports = Object.fromEntries(
  Object.entries(imports).map(([name, path]) => [name, path.replace(/\.tsx?$/, '.js')]),
);
writeFileSync(
  join(dist, 'package.json'),
  JSON.stringify({ ...description, imports: compiledImports }, null, 2),
);

const { bundleWorkflows } = await import('#worker/bundle.ts');
const { code } = await bundleWorkflows();
writeFileSync(join(dist, 'workflow-bundle.js'), code);

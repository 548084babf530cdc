import { copyFile, mkdir, readdir, readFile, writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import { build, type Options } from 'tsup';
import { workflowFileJsonSchema } from '#shared/contract/workflows/workflow-file.ts';
import { provideContractTypes } from './contract-types.ts';

const projectDir = join(import.meta.dirname, '../..');
const sources = join(projectDir, 'client');

/** Writes the client's package to a folder, ready to be packed: ES module, CommonJS, their types, and the schema of workflow files. */
export async function buildClient(folder: string): Promise<void> {
  await provideContractTypes(projectDir);
  await mkdir(folder, { recursive: true });
  for (const file of ['package.json', 'README.md']) {
    await copyFile(join(sources, file), join(folder, file));
  }
  await copyFile(join(projectDir, 'LICENSE'), join(folder, 'LICENSE'));
  await writeFile(
    join(folder, 'workflow.schema.json'),
    JSON.stringify(workflowFileJsonSchema(), null, 2),
  );
  // One after the other, because together they would share files with changing names.
  await buildEntry(folder, 'index.ts');
  await buildEntry(folder, 'react.ts', { banner: { js: "'use client';" }, external: ['react'] });
  const bundled = new Set<string>();
  // It has dependencies, unlike the rest: they are part of the file, so that an installation has one package.
  await buildEntry(folder, 'testing.ts', {
    noExternal: [/./],
    esbuildPlugins: [notingPackages(bundled)],
  });
  await writeFile(join(folder, 'THIRD_PARTY_LICENSES'), await licensesOf([...bundled].sort()));
}

async function buildEntry(folder: string, file: string, options: Options = {}): Promise<void> {
  await build({
    entry: [join(sources, file)],
    outDir: join(folder, 'dist'),
    tsconfig: join(projectDir, 'tsconfig.json'),
    format: ['esm', 'cjs'],
    // A neutral platform has neither Node's nor the browser's modules, and the client imports none.
    platform: 'neutral',
    target: 'es2022',
    dts: true,
    config: false,
    silent: true,
    ...options,
  });
}

type Plugin = NonNullable<Options['esbuildPlugins']>[number];

/** Adds the names of the packages whose code becomes part of a file. */
const notingPackages = (names: Set<string>): Plugin => ({
  name: 'noting-packages',
  setup: (bundler) => {
    bundler.initialOptions.metafile = true;
    bundler.onEnd(({ metafile }) => {
      for (const output of Object.values(metafile?.outputs ?? {})) {
        for (const [path, { bytesInOutput }] of Object.entries(output.inputs)) {
          const name = /(?:^|\/)node_modules\/((?:@[^/]+\/)?[^/]+)\/(?!.*\/node_modules\/)/.exec(
            path,
          )?.[1];
          if (name !== undefined && bytesInOutput > 0) names.add(name);
        }
      }
    });
  },
});

/** The licenses of packages, which a copy of their code must have. Throws Error for one without a license. */
async function licensesOf(names: readonly string[]): Promise<string> {
  const texts = await Promise.all(
    names.map(async (name) => {
      const home = join(projectDir, 'node_modules', name);
      const file = (await readdir(home)).find((each) => /^licen[cs]e/i.test(each));
      if (file === undefined) throw new Error(`The package ${name} has no license`);
      return `${name}\n\n${(await readFile(join(home, file), 'utf8')).trim()}\n`;
    }),
  );
  return texts.join(`\n${'-'.repeat(80)}\n\n`);
}

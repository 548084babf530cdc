import { copyFile, mkdir, writeFile } from 'node:fs/promises';
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

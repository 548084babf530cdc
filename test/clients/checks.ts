import { copyFileSync, mkdirSync, readdirSync, writeFileSync } from 'node:fs';
import { delimiter, join } from 'node:path';
import { startInstallation } from '#test/seed/installation.ts';
import { preparePythonTools, pythonChecks } from './python.ts';
import { cacheFolder, must, type Python, prepareGenerator, preparePython, run } from './tools.ts';

/** The service that the checks use. */
export interface Target {
  apiUrl: string;
  dataKey: string;
  /** For generated files. */
  folder: string;
  /** The path of each document. */
  documents: { ops: string; data: string };
}

export interface Check {
  name: string;
  /** Required commands: without them the check is skipped. */
  needs: readonly string[];
  /** Says what else is missing. */
  lacks?: () => Promise<string | undefined>;
  /** Throws if the check fails. */
  check: (target: Target) => Promise<void>;
}

const surfaces = ['ops', 'data'] as const;
const here = import.meta.dirname;

const packages = { ops: 'operations_api_client', data: 'data_api_client' };

/**
 * Warnings of openapi-generator for every document of version 3.1, and for names and free-form values; nothing is lost.
 */
const harmless = [
  'OpenAPI 3.1 support is still in beta',
  // For schemas of any value.
  'Codegen property is null (e.g. map/dict of undefined type). Default to typing.Any.',
  'Failed to get the schema name: null',
  // For examples in the generated documentation.
  'Ignoring complex example on request body',
  // Only the file is renamed; the field keeps its name.
  'cannot be used as model name. Renamed to',
];

export const checks: readonly Check[] = [
  {
    name: 'openapi-python-client',
    needs: ['python3'],
    check: async (target) => {
      const python = await preparePython();
      const folders = surfaces.map((surface) => join(target.folder, 'python', packages[surface]));
      for (const [index, surface] of surfaces.entries()) {
        const output = await must(
          python.command,
          [
            ...['-m', 'openapi_python_client', 'generate', '--overwrite'],
            ...['--path', target.documents[surface], '--output-path', folders[index] ?? ''],
          ],
          { env: python.env },
        );
        if (/warning|error|unable|skipping/i.test(output)) {
          throw new Error(`It warns of the document ${surface}:\n${output.trim()}`);
        }
      }
      await useIn(python, 'openapi_python_client_check.py', folders, target);
    },
  },
  {
    name: 'openapi-generator, Python',
    needs: ['python3', 'java', 'mvn'],
    check: async (target) => {
      const python = await preparePython();
      const folders = [];
      for (const surface of surfaces) {
        const options = [`--additional-properties=packageName=${surface}_api`];
        folders.push(await generate('python', surface, options, target));
      }
      const requirements = join(folders[0] ?? '', 'requirements.txt');
      await must(python.command, ['-m', 'pip', 'install', '--quiet', '-r', requirements]);
      await useIn(python, 'openapi_generator_check.py', folders, target);
    },
  },
  {
    name: 'openapi-generator, Java',
    needs: ['java', 'javac', 'mvn'],
    check: async (target) => {
      const sources = [join(here, 'ListWorkflows.java')];
      let libraries = '';
      for (const surface of surfaces) {
        const names = ['invokerPackage', 'apiPackage=api', 'modelPackage=model'].map((name) => {
          const [key, last] = name.split('=');
          return `${key}=clients.${surface}${last === undefined ? '' : `.${last}`}`;
        });
        const options = ['--library', 'native', `--additional-properties=${names.join(',')}`];
        const folder = await generate('java', surface, options, target);
        sources.push(...javaFiles(join(folder, 'src/main/java')));
        libraries = join(folder, 'libraries');
        const to = ['-DincludeScope=compile', `-DoutputDirectory=${libraries}`];
        await must('mvn', ['--quiet', '--batch-mode', 'dependency:copy-dependencies', ...to], {
          cwd: folder,
        });
      }
      const classes = join(target.folder, 'classes');
      const list = join(target.folder, 'sources.txt');
      writeFileSync(list, sources.map((path) => `"${path}"`).join('\n'));
      const all = join(libraries, '*');
      await must('javac', ['-nowarn', '-d', classes, '-cp', all, `@${list}`]);
      const path = [classes, all].join(delimiter);
      const output = await must('java', ['-cp', path, 'ListWorkflows', target.apiUrl]);
      if (!/\d+ workflows/.test(output)) throw new Error(`It answered ${output}`);
    },
  },
  { name: 'openapi-typescript', needs: [], check: checkTypes },
  {
    name: 'the Python client',
    needs: [],
    lacks: async () => {
      const tools = await preparePythonTools();
      return 'missing' in tools ? tools.missing : undefined;
    },
    check: checkPythonClient,
  },
];

/** With a service of its own, which asks for credentials. */
async function checkPythonClient({ folder }: Target): Promise<void> {
  const tools = await preparePythonTools();
  if ('missing' in tools) throw new Error(`Not on this machine: ${tools.missing}`);
  const ownerPassword = 'open sesame, please';
  const service = await startInstallation({
    AUTH_MODE: 'required',
    OWNER_PASSWORD: ownerPassword,
  });
  const own = join(folder, 'python-client');
  mkdirSync(own, { recursive: true });
  try {
    for (const { title, check } of pythonChecks) {
      await check(tools, { apiUrl: service.apiUrl, ownerPassword }, own);
      console.log(`  it ${title}`);
    }
  } finally {
    await service.close();
  }
}

/** Runs one of the programs in this folder with the generated packages on the path. */
async function useIn(
  { command, env }: Python,
  program: string,
  folders: readonly string[],
  { apiUrl, dataKey }: Target,
): Promise<void> {
  await must(command, [join(here, program), apiUrl, dataKey], {
    env: { ...env, PYTHONPATH: folders.join(delimiter), PYTHONDONTWRITEBYTECODE: '1' },
  });
}

/** Runs openapi-generator, whose only warnings can be those in `harmless`. Returns the output folder. */
async function generate(
  generator: 'python' | 'java',
  surface: (typeof surfaces)[number],
  options: readonly string[],
  { folder, documents }: Target,
): Promise<string> {
  const jar = await prepareGenerator();
  const target = join(folder, generator, surface);
  const output = await must('java', [
    ...['-jar', jar, 'generate', '-g', generator, '-i', documents[surface], '-o', target],
    ...['--global-property', 'apiTests=false,modelTests=false,apiDocs=false,modelDocs=false'],
    ...options,
  ]);
  const warnings = output
    .split('\n')
    .filter((line) => /\b(WARN|ERROR)\b/.test(line))
    .filter((line) => !harmless.some((each) => line.includes(each)));
  if (warnings.length > 0) {
    throw new Error(`It warns of the document ${surface}:\n${warnings.join('\n')}`);
  }
  return target;
}

const javaFiles = (folder: string): string[] =>
  readdirSync(folder, { recursive: true, encoding: 'utf8' })
    .filter((path) => path.endsWith('.java'))
    .map((path) => join(folder, path));

const typed = `
import type { paths as Ops } from './ops.ts';
import type { paths as Data } from './data.ts';

type Answer<Of, Status extends number> = Of extends {
  get: { responses: Record<Status, { content: { 'application/json': infer Body } }> };
} ? Body : never;

export const names = (workflows: Answer<Ops['/api/workflows'], 200>): string[] =>
  workflows.map(({ name }) => name);
export const evidence = (page: Answer<Data['/v1/entities'], 200>) =>
  page.data.map(({ source_evidence }) => source_evidence[0]?.url satisfies string | null | undefined);
// @ts-expect-error: there is no such field
export const wrong = (workflows: Answer<Ops['/api/workflows'], 200>) => workflows[0]?.nothing;
`;

async function checkTypes({ folder, documents }: Target): Promise<void> {
  // Inside the project, since it uses the project's packages.
  const target = join(cacheFolder, 'typescript');
  mkdirSync(target, { recursive: true });
  const bin = (path: string): string => join(here, '../../node_modules', path);
  for (const surface of surfaces) {
    const copy = join(folder, `${surface}.json`);
    if (copy !== documents[surface]) copyFileSync(documents[surface], copy);
    const to = ['--output', join(target, `${surface}.ts`)];
    const { ok, output } = await run(process.execPath, [
      bin('openapi-typescript/bin/cli.js'),
      copy,
      ...to,
    ]);
    if (!ok || /warn/i.test(output)) throw new Error(output.trim());
  }
  writeFileSync(join(target, 'use.ts'), typed);
  const flags = [
    ...['--noEmit', '--strict', '--noUncheckedIndexedAccess', '--target', 'es2022'],
    ...['--module', 'nodenext', '--allowImportingTsExtensions'],
  ];
  await must(process.execPath, [bin('typescript/bin/tsc'), ...flags, join(target, 'use.ts')]);
}

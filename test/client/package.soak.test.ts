import { execFile } from 'node:child_process';
import { readFileSync } from 'node:fs';
import { mkdir, mkdtemp, rm, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { promisify } from 'node:util';
import { afterAll, beforeAll, describe, expect, test } from '@jest/globals';
import { patiently } from '#test/support/patience.ts';

const execute = promisify(execFile);
const root = join(import.meta.dirname, '../..');
const { NODE_OPTIONS: _flags, ...env } = process.env;
const node = (args: string[], cwd: string) =>
  execute(process.execPath, args, { cwd, env, timeout: patiently(30_000) });
const bin = (path: string): string => join(root, 'node_modules', path);

let folder: string;
let built: string;
let tarball: string;
let user: string;
beforeAll(async () => {
  folder = await mkdtemp(join(tmpdir(), 'client-package-'));
  built = join(folder, 'built');
  user = join(folder, 'user');
  await node([join(root, 'scripts/client-build.ts'), built], root);
  const packed = await execute('npm', ['pack', '--json', '--pack-destination', folder], {
    cwd: built,
    env,
  });
  tarball = join(folder, (JSON.parse(packed.stdout) as { filename: string }[])[0]!.filename);
  await mkdir(user);
  await writeFile(join(user, 'package.json'), '{"name": "user", "version": "1.0.0"}');
  await execute('npm', ['install', '--offline', '--no-audit', '--no-fund', tarball], {
    cwd: user,
    env,
  });
}, 120_000);
afterAll(() => rm(folder, { recursive: true, force: true }));

const program = `
const client = createClient({
  fetch: async (url, init) => new Response(JSON.stringify([{ name: init.method + ' ' + url }])),
});
client.listWorkflows().then(([workflow]) => console.log(workflow.name, typeof verifyWebhook));
`;
const printed = 'GET http://127.0.0.1:8000/api/workflows function\n';
const names = '{ createClient, verifyWebhook }';

describe('the packed client', () => {
  test('can be imported as an ES module', async () => {
    await writeFile(
      join(user, 'esm.mjs'),
      `import ${names} from 'durable-workflows-client';${program}`,
    );
    expect((await node(['esm.mjs'], user)).stdout).toBe(printed);
  });

  test('can be required as CommonJS', async () => {
    await writeFile(
      join(user, 'cjs.cjs'),
      `const ${names} = require('durable-workflows-client');${program}`,
    );
    // Newer Node versions would load the ES module.
    const { stdout } = await node(['--no-experimental-require-module', 'cjs.cjs'], user);
    expect(stdout).toBe(printed);
  });

  test('has the schema of workflow files', async () => {
    const script = "console.log(require('durable-workflows-client/workflow.schema.json').title)";
    await writeFile(join(user, 'schema.cjs'), script);
    expect((await node(['schema.cjs'], user)).stdout).toBe('Workflow\n');
  });

  const consumer = `
import { ApiError, createClient, type Client, type Run } from 'durable-workflows-client';
const client: Client = createClient({ apiKey: 'ops_1' });
export async function statuses(): Promise<Run['status'][]> {
  const runs: Run['status'][] = [];
  for await (const run of client.runs({ status: 'failed' })) runs.push(run.status);
  return runs;
}
export const gone: Promise<undefined> = client.deleteWorkflow('wf_1');
export const statusOf = (error: ApiError): number => error.status;
// @ts-expect-error a status that there is not
void client.listRuns({ status: 'finished' });
// @ts-expect-error a workflow needs a name
void client.createWorkflow({});
// @ts-expect-error runs have no such field
void client.getRun('run_1').then((run) => run.colour);
`;

  test.each([
    ['Node, as an ES module', 'NodeNext', 'a.mts'],
    ['Node, as CommonJS', 'NodeNext', 'b.cts'],
    ['a browser', 'ESNext', 'c.ts'],
  ])('has types for %s', async (_name, module, file) => {
    await writeFile(join(user, file), consumer);
    const compilerOptions = {
      noEmit: true,
      strict: true,
      exactOptionalPropertyTypes: true,
      target: 'ES2022',
      lib: ['ES2022', 'DOM', 'DOM.AsyncIterable'],
      types: [],
      module,
      moduleResolution: module === 'ESNext' ? 'bundler' : module,
    };
    const project = JSON.stringify({ compilerOptions, files: [file] });
    await writeFile(join(user, 'tsconfig.json'), project);
    const checked = await node([bin('typescript/bin/tsc'), '-p', '.'], user).catch(
      (error: unknown) => error as { stdout: string },
    );
    expect(checked.stdout).toBe('');
  });

  test('contains only its build, license, README and schema', async () => {
    const { stdout } = await execute('tar', ['-tzf', tarball]);
    expect(stdout.trim().split('\n').sort()).toEqual(
      [
        'LICENSE',
        'README.md',
        'dist/index.cjs',
        'dist/index.d.cts',
        'dist/index.d.ts',
        'dist/index.js',
        'dist/react.cjs',
        'dist/react.d.cts',
        'dist/react.d.ts',
        'dist/react.js',
        'package.json',
        'workflow.schema.json',
      ].map((path) => `package/${path}`),
    );
  });

  test('imports nothing', () => {
    const texts = ['index.js', 'index.cjs'].map((file) =>
      readFileSync(join(user, 'node_modules/durable-workflows-client/dist', file), 'utf8'),
    );
    for (const text of texts) {
      // The path of a request is no import.
      const code = text.replaceAll('/api/tools/import', '');
      expect(code).not.toMatch(/\brequire\(|\bimport\b[^.]*['"]|process\./);
    }
  });

  test('passes publint', async () => {
    const { stdout } = await node([bin('publint/src/cli.js'), 'run', tarball, '--strict'], user);
    expect(stdout).toContain('All good');
  });

  test('has types that resolve for every kind of import', async () => {
    const checker = bin('@arethetypeswrong/cli/dist/index.js');
    const args = ['--format', 'json', '--no-definitely-typed', tarball];
    const { stdout } = await node([checker, ...args], user);
    const { problems, analysis } = JSON.parse(stdout) as any;
    expect(analysis.types).toMatchObject({ kind: 'included' });
    expect(Object.values(problems ?? analysis.problems).flat()).toEqual([]);
  });
});

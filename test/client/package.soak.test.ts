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
  execute(process.execPath, args, { cwd, env, timeout: patiently(60_000) });
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
}, 240_000);
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

  describe('without a server and without a network', () => {
    const tests = `
const built = workflow('Refunds', (start) =>
  start
    .tool('look', { tool_name: 'http_request', params: { url: 'https://shop.example/orders/{order}' }, retry: { max_attempts: 2 } })
    .gate('ok', { prompt: 'Refund {look.body.amount}?' })
    .tool('pause', { tool_name: 'delay', params: { seconds: 86400 } })
    .agent('write', { model: 'openai/gpt-5', prompt: 'Write about {order}' }),
);
const options = {
  input: { order: 'o-1' },
  mocks: {
    tools: {
      http_request: attempts(failure('shop.example answered 503'), ({ url }) => ({ status: 200, body: { url, amount: 4 } })),
    },
    nodes: { write: ({ prompt }) => prompt + '!' },
  },
};
test('a run ends, with a day that passes at once', async () => {
  const run = await play(built, { ...options, decisions: { ok: ({ prompt }) => (prompt === 'Refund 4?' ? 'approve' : 'reject') } });
  assert.deepEqual([run.status, run.error], ['success', null]);
  assert.equal(run.state.look.body.url, 'https://shop.example/orders/o-1');
  assert.equal(run.output.write, 'Write about o-1!');
  assert.equal(run.steps.find(({ step_key }) => step_key === 'look').attempt, 2);
  assert.ok(Date.parse(run.finished_at) - Date.parse(run.started_at) >= 86_400_000);
});
test('a run without a decision is paused', async () => {
  const run = await play(built, options);
  assert.deepEqual([run.status, run.gates.map(({ prompt }) => prompt)], ['paused', ['Refund 4?']]);
});
test('a graph that is not valid is refused', async () => {
  await assert.rejects(play({ nodes: [], edges: [{ source: 'a', target: 'b' }] }), PlayError);
});
test('the network cannot be reached', async () => {
  await assert.rejects(fetch('http://127.0.0.1:1/'), /unreachable/);
  assert.throws(() => connect(1), /unreachable/);
});
`;
    const offline = `
const net = require('node:net');
const dns = require('node:dns');
const refuse = () => { throw new Error('The network is unreachable'); };
net.Socket.prototype.connect = refuse;
dns.lookup = refuse;
globalThis.fetch = async () => refuse();
`;
    const load = {
      mjs: (names: string, from: string) => `import ${names} from '${from}';\n`,
      cjs: (names: string, from: string) => `const ${names} = require('${from}');\n`,
    };

    test.each(['mjs', 'cjs'] as const)('node:test plays workflows, in a .%s file', async (kind) => {
      const imports = [
        load[kind]('{ test }', 'node:test'),
        load[kind]('assert', 'node:assert/strict'),
        load[kind]('{ connect }', 'node:net'),
        load[kind]('{ workflow }', 'durable-workflows-client'),
        load[kind]('{ attempts, failure, play, PlayError }', 'durable-workflows-client/testing'),
      ];
      const file = `refunds.test.${kind}`;
      await writeFile(join(user, 'offline.cjs'), offline);
      await writeFile(join(user, file), imports.join('') + tests);
      const flags = ['--require', './offline.cjs', '--no-experimental-require-module'];
      const ran = await node([...flags, '--test', '--test-reporter=tap', file], user).catch(
        (error: unknown) => error as { stdout: string },
      );
      expect(ran.stdout).toMatch(/# pass 4\n# fail 0/);
    });
  });

  const consumer = `
import { attempts, failure, play, type PlayError, type PlayedRun, type PlayOptions } from 'durable-workflows-client/testing';
import { ApiError, createClient, workflow, type Client, type Run } from 'durable-workflows-client';
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
const options: PlayOptions = {
  input: { order: 'o-1' },
  mocks: {
    tools: { http_request: ({ url }, { attempt }) => ({ status: 200, body: { url, attempt } }) },
    nodes: { a: attempts(failure('busy', { error_kind: 'timeout' }), { total: 3 }) },
  },
  decisions: { ok: ({ prompt }) => ({ approved: prompt !== '', input: { amount: 1 } }) },
};
const built = workflow('Refunds', (start) => start.gate('ok', { prompt: 'Go on?' }));
export const played: Promise<PlayedRun> = play(built, options);
export const kinds: Promise<string[]> = played.then(({ steps }) => steps.map(({ kind }) => kind));
export const problems = (error: PlayError): string[] => error.errors.map(({ message }) => message);
// @ts-expect-error a misspelled option
void play(built, { decision: {} });
// @ts-expect-error an error is of no such kind
failure('no', { error_kind: 'busy' });
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

  test('contains only its build, licenses, README and schema', async () => {
    const { stdout } = await execute('tar', ['-tzf', tarball]);
    expect(stdout.trim().split('\n').sort()).toEqual(
      [
        'LICENSE',
        'README.md',
        'THIRD_PARTY_LICENSES',
        'dist/index.cjs',
        'dist/index.d.cts',
        'dist/index.d.ts',
        'dist/index.js',
        'dist/react.cjs',
        'dist/react.d.cts',
        'dist/react.d.ts',
        'dist/react.js',
        'dist/testing.cjs',
        'dist/testing.d.cts',
        'dist/testing.d.ts',
        'dist/testing.js',
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

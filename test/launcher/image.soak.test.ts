import { execFile } from 'node:child_process';
import { mkdtempSync, readFileSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { setTimeout as sleep } from 'node:timers/promises';
import { promisify } from 'node:util';
import { afterAll, beforeAll, describe, expect, test } from '@jest/globals';
import { freePorts } from '#scripts/stack/ports.ts';
import {
  createTestDatabase,
  createEmptyDatabase,
  type TestDatabase,
} from '#test/support/database.ts';
import { type BuiltImage, buildImage, sampleGraph } from '#test/support/image.ts';
import { patiently } from '#test/support/patience.ts';
import { startImageProcess, type TestProcess } from '#test/support/processes.ts';
import { testTemporal } from '#test/support/temporal.ts';

// The image, without containers: built as the Dockerfile says from what .dockerignore lets through, and run as the compose
// file runs it. `npm run test:image` does the same on a Docker engine.

const PASSWORD = 'correct horse battery';
const BUILD_MS = 90_000;
const run = promisify(execFile);
const running: TestProcess[] = [];
const databases: TestDatabase[] = [];
let folder = '';
let image: BuiltImage;

beforeAll(async () => {
  folder = mkdtempSync(join(process.env['TEST_FOLDER'] ?? tmpdir(), 'image-'));
  image = await buildImage(folder);
}, patiently(BUILD_MS));

afterAll(async () => {
  await Promise.all(running.map((each) => each.kill()));
  await Promise.all(databases.map((each) => each.drop()));
  rmSync(folder, { recursive: true, force: true });
});

interface Settings {
  [name: string]: string;
  DATABASE_URL: string;
}

async function settings(database: Promise<TestDatabase>): Promise<Settings> {
  databases.push(await database);
  const { address, taskQueuePrefix } = testTemporal();
  const [port] = await freePorts(1);
  return {
    API_HOST: '127.0.0.1',
    API_PORT: String(port),
    DATABASE_URL: (await database).url,
    TEMPORAL_ADDRESS: address,
    TASK_QUEUE_PREFIX: taskQueuePrefix,
  };
}

async function start(env: Settings): Promise<{ url: string; stop: () => Promise<unknown[]> }> {
  const processes = await Promise.all(
    (['api', 'worker'] as const).map((name) => startImageProcess(image, name, env)),
  );
  running.push(...processes);
  const stop = async () => {
    for (const { pid } of processes) process.kill(pid, 'SIGTERM');
    return Promise.all(processes.map(({ exited }) => exited));
  };
  return { url: `http://127.0.0.1:${env['API_PORT']}`, stop };
}

const caller =
  (url: string, token?: string) =>
  async (path: string, body?: unknown): Promise<any> => {
    const answer = await fetch(`${url}${path}`, {
      method: body === undefined ? 'GET' : 'POST',
      headers: {
        ...(body === undefined ? {} : { 'content-type': 'application/json' }),
        ...(token === undefined ? {} : { authorization: `Bearer ${token}` }),
      },
      ...(body === undefined ? {} : { body: JSON.stringify(body) }),
    });
    const text = await answer.text();
    if (!answer.ok) throw new Error(`${path} was answered ${answer.status}: ${text}`);
    return answer.headers.get('content-type')?.includes('json') === true ? JSON.parse(text) : text;
  };

async function runOf(
  call: ReturnType<typeof caller>,
): Promise<{ status: string; output: unknown }> {
  const { id: workflowId } = await call('/api/workflows', { name: 'Answer', graph: sampleGraph });
  // Planned on a thread for untrusted work.
  const { nodes } = await call(`/api/workflows/${workflowId}/dry-run`, {});
  expect(nodes).toHaveLength(sampleGraph.nodes.length);
  const { id } = await call(`/api/workflows/${workflowId}/runs`, { ticket: 'the invoice' });
  const deadline = Date.now() + patiently(10_000);
  for (;;) {
    const record = await call(`/api/runs/${id}`);
    if (!['pending', 'running'].includes(record.status)) return record;
    if (Date.now() > deadline) throw new Error(`The run is ${record.status}`);
    await sleep(50);
  }
}

test('npm run test:image reports what is missing, and succeeds without an engine', async () => {
  const script = join(import.meta.dirname, '../../scripts/test-image.ts');
  const { stdout } = await run(process.execPath, [script], { env: { PATH: folder } });
  expect(stdout).toBe('Passed over: docker is not on PATH\n');
});

describe('the image', () => {
  test('is built without downloading the syntax of its Dockerfile from a registry', () => {
    const text = readFileSync(join(import.meta.dirname, '../../Dockerfile'), 'utf8');
    // BuildKit reads it from a comment at the beginning, also behind // or in JSON.
    expect(text).not.toMatch(/^\W*syntax\W*[=:]/m);
  });

  test(
    'migrates an empty database, signs people in, executes a run and stops cleanly',
    async () => {
      const env = await settings(createEmptyDatabase());
      const migrated = await run('sh', [image.entrypoint, 'migrate'], {
        cwd: image.app,
        env: { ...image.environment, ...env },
      });
      expect(JSON.parse(migrated.stdout).applied).not.toEqual([]);
      const service = await start({
        ...env,
        AUTH_MODE: 'required',
        SECRET_KEY: 'a secret key of the test',
        OWNER_PASSWORD: PASSWORD,
      });
      const visitor = caller(service.url);
      await run(process.execPath, ['docker/healthcheck.mjs', `${service.url}/api/ready`], {
        cwd: image.app,
      });
      expect(await visitor('/')).toContain('<div id="root">');
      expect(await visitor('/llms.txt')).toContain('/docs/guide/approvals.md');
      expect(await visitor('/docs/guide/skill/SKILL.md')).toContain('name: durable-workflows');
      const email = 'owner@localhost';
      const { token } = await visitor('/api/auth/login', { email, password: PASSWORD });
      expect(await runOf(caller(service.url, token))).toMatchObject({
        status: 'success',
        output: { shape: 'About the invoice' },
      });
      expect(await service.stop()).toEqual([
        { code: 0, signal: null },
        { code: 0, signal: null },
      ]);
    },
    patiently(60_000),
  );

  test(
    'has the commands of operators',
    async () => {
      const env = {
        ...(await settings(createTestDatabase())),
        AUTH_MODE: 'required',
        SECRET_KEY: 'a secret key of the test',
        ENCRYPTION_KEY: 'a new key of the test',
        ENCRYPTION_KEY_PREVIOUS: 'an old key of the test',
      };
      const service = await start(env);
      const admin = async (command: string[], more: Record<string, string> = {}) => {
        const args = [image.entrypoint, 'admin', ...command];
        const options = { cwd: image.app, env: { ...image.environment, ...env, ...more } };
        return (await run('sh', args, options)).stdout;
      };
      const { scripts } = JSON.parse(readFileSync(join(image.app, 'package.json'), 'utf8'));
      const commands = Object.keys(scripts).filter((name) =>
        scripts[name].startsWith('node scripts/admin/'),
      );
      expect(commands).toHaveLength(9);
      const usage = await admin([]).catch((error: unknown) => (error as { stderr: string }).stderr);
      expect(usage.match(/[a-z]+:[a-z0-9.-]+/g)?.sort()).toEqual(commands.sort());

      const reset = await admin(['password:reset', '--email', 'owner@localhost']);
      expect(await admin(['owner:restore'])).toContain('owner@localhost owns workspace');
      const made = ['workspace:create', '--name', 'Two', '--owner-email', 'two@example.com'];
      const two = JSON.parse(await admin([...made, '--json']));
      expect(await admin(['secrets:rotate'])).toContain('0 unreadable');
      expect(await admin(['audit:verify'])).toContain(`${two.workspace_id}: whole`);
      expect(await admin(['runs:reconcile'])).toContain('0 executions without an open run');

      const visitor = caller(service.url);
      const password = / is now: (\S+)/.exec(reset)?.[1];
      await visitor('/api/auth/login', { email: 'owner@localhost', password });
      const { email, password: first } = two;
      const { token } = await visitor('/api/auth/login', { email, password: first });
      const ops = { OPS_API_URL: service.url, OPS_TOKEN: token };
      expect(await admin(['ops', 'whoami'], ops)).toContain('two@example.com');
      await service.stop();
    },
    patiently(60_000),
  );

  test(
    'executes a run with each variable of .env.example empty',
    async () => {
      const example = readFileSync(join(import.meta.dirname, '../../.env.example'), 'utf8');
      const names = [...example.matchAll(/^(?:# )?([A-Z][A-Z0-9_]*)=/gm)].map((match) => match[1]!);
      expect(names).toContain('OPENAI_BASE_URL');
      const service = await start({
        ...Object.fromEntries(names.map((name) => [name, ''])),
        // Without it the worker bundles the workflow code.
        WORKFLOW_BUNDLE: image.env['WORKFLOW_BUNDLE']!,
        ...(await settings(createTestDatabase())),
      });
      expect(await runOf(caller(service.url))).toMatchObject({ status: 'success' });
      await service.stop();
    },
    patiently(60_000),
  );
});

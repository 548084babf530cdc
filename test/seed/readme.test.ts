import { execFile } from 'node:child_process';
import { existsSync, readFileSync } from 'node:fs';
import { mkdtemp } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { dirname, join } from 'node:path';
import { promisify } from 'node:util';
import { afterAll, beforeAll, describe, expect, test } from '@jest/globals';
import { freePorts } from '../../scripts/stack/ports.ts';
import { type Installation, startInstallation } from './installation.ts';

const run = promisify(execFile);
const root = join(import.meta.dirname, '../..');
const readme = readFileSync(join(root, 'README.md'), 'utf8');

/** The shell lines of a tour, and the lines that it promises to print, in order. */
function tour(name: string): { script: string; promised: string[] } {
  const block = new RegExp(
    `<!-- ${name}:begin -->\n\`\`\`sh\n([^]*?)\`\`\`\n<!-- ${name}:end -->`,
  ).exec(readme);
  if (block === null) throw new Error(`README.md has no ${name}`);
  const script = block[1]!;
  return { script, promised: [...script.matchAll(/^#=> (.*)$/gm)].map((match) => match[1]!) };
}

async function printsWhatItPromises(
  name: string,
  apiUrl: string,
  env: Record<string, string> = {},
): Promise<void> {
  const { script, promised } = tour(name);
  expect(promised.length).toBeGreaterThanOrEqual(5);
  const { stdout, stderr } = await run('sh', ['-euc', script], {
    env: { PATH: `${dirname(process.execPath)}:${process.env['PATH']}`, API: apiUrl, ...env },
    cwd: await mkdtemp(join(tmpdir(), 'tour-')),
    timeout: 25_000,
  });
  expect(stderr).toBe('');
  const printed = stdout.split('\n');
  expect(printed.filter((line) => promised.includes(line))).toEqual(promised);
}

function linksIn(path: string): string[] {
  const text = readFileSync(join(root, path), 'utf8');
  return [...text.matchAll(/\]\(([^)#]+)(?:#[^)]*)?\)/g)].map((match) => match[1]!);
}

describe('the tours', () => {
  let service: Installation;
  beforeAll(async () => {
    service = await startInstallation();
  });
  afterAll(() => service.close());

  test('the one in README.md prints what it promises', async () => {
    await printsWhatItPromises('tour', service.apiUrl);
  });

  test('the one with people in README.md prints what it promises', async () => {
    const required = await startInstallation({
      AUTH_MODE: 'required',
      OWNER_PASSWORD: 'open sesame, please',
    });
    try {
      await printsWhatItPromises('people', required.apiUrl);
    } finally {
      await required.close();
    }
  });

  test('the one with data in README.md prints what it promises', async () => {
    const [port] = await freePorts(1);
    await printsWhatItPromises('data', service.apiUrl, { RECEIVER_PORT: String(port) });
  });

  test('`npm run demo` finds everything as it should be', async () => {
    const script = join(root, 'scripts/demo.ts');
    const { NODE_OPTIONS: _flags, ...env } = process.env;
    const { stdout } = await run(process.execPath, [script, '--api', `${service.apiUrl}/`], {
      env,
    });
    expect(stdout).toContain('Everything was as it should be');
    expect(stdout).toContain('"type":"run_paused"');
    const left = (await (await fetch(`${service.apiUrl}/api/workflows`)).json()) as {
      name: string;
    }[];
    expect(left.filter(({ name }) => name.startsWith('Demo'))).toEqual([]);
  });

  test('`npm run demo` ends with code 1 where no service is', async () => {
    const script = join(root, 'scripts/demo.ts');
    const { NODE_OPTIONS: _flags, ...env } = process.env;
    const ending = run(process.execPath, [script, '--api', 'http://127.0.0.1:1'], { env });
    await expect(ending).rejects.toMatchObject({ code: 1, stderr: expect.stringMatching(/\S/) });
  });
});

describe('the documentation', () => {
  const documents = [
    'README.md',
    'ARCHITECTURE.md',
    ...linksIn('README.md').filter((path) => /^docs\/.*\.md$/.test(path)),
  ];

  test.each([...new Set(documents)])('%s links to nothing that is missing', (path) => {
    const local = linksIn(path).filter((link) => !/^[a-z]+:/.test(link));
    const missing = local.filter((link) => !existsSync(join(root, dirname(path), link)));
    expect(missing).toEqual([]);
  });

  test.each([...new Set(documents)])('%s names no file of ours that is missing', (path) => {
    const text = readFileSync(join(root, path), 'utf8');
    const named = [
      ...text.matchAll(
        /`((?:api|worker|workflows|activities|shared|scripts|test|migrations|docker|docs)\/[\w./-]*)`/g,
      ),
    ].map((match) => match[1]!);
    expect(named.filter((name) => !existsSync(join(root, name)))).toEqual([]);
  });
});

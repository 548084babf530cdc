import { execFile } from 'node:child_process';
import { mkdtempSync, writeFileSync } from 'node:fs';
import { rm } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { promisify } from 'node:util';
import { afterAll, describe, expect, test } from '@jest/globals';
import { environmentSchema, loadConfig, secretVariables } from '#shared/platform/config.ts';
import { settleEnvironment } from '#shared/platform/settings-files.ts';

const execute = promisify(execFile);
const root = join(import.meta.dirname, '../..');
const folder = mkdtempSync(join(tmpdir(), 'settings-'));
afterAll(() => rm(folder, { recursive: true }));
let files = 0;
const file = (text: string): string => {
  const path = join(folder, `file-${(files += 1)}`);
  writeFileSync(path, text);
  return path;
};
type Variables = Record<string, string | undefined>;
/** The environment that a process has, and the sources of its settings. */
const settled = (given: Variables) => {
  const env = { ...given };
  return { sources: Object.fromEntries(settleEnvironment(env)), env };
};
const problem = (given: Variables): string => {
  try {
    settleEnvironment({ ...given });
    return 'none';
  } catch (error) {
    return (error as Error).message;
  }
};

describe('a configuration file', () => {
  test('sets what the environment does not set, as the environment would', () => {
    const path = file(`
# Comments are fine.
LOG_LEVEL: debug
SEED: false
AUTH_MODE: required
API_PORT: 8123
CORS_ORIGINS: [https://a.example, https://b.example]
PUBLIC_URL:
OTEL_SDK_DISABLED: true
TEMPORAL_NAMESPACE: flows
`);
    const { env, sources } = settled({ CONFIG_FILE: path, LOG_LEVEL: 'warn', PATH: '/bin' });
    expect(env).toEqual({
      ...{ PATH: '/bin', LOG_LEVEL: 'warn', SEED: 'off', AUTH_MODE: 'required', API_PORT: '8123' },
      CORS_ORIGINS: 'https://a.example,https://b.example',
      ...{ OTEL_SDK_DISABLED: 'true', TEMPORAL_NAMESPACE: 'flows' },
    });
    expect(sources).toMatchObject({ SEED: path, API_PORT: path });
    expect(sources).not.toHaveProperty('LOG_LEVEL');
    expect(loadConfig(env)).toMatchObject({
      seed: false,
      logLevel: 'warn',
      api: { port: 8123, corsOrigins: ['https://a.example', 'https://b.example'] },
    });
  });

  test('can contain the default of every setting', () => {
    const flags = (name: string, value: unknown) =>
      typeof value === 'boolean' && !name.startsWith('OTEL_') ? (value ? 'on' : 'off') : value;
    const defaults = Object.entries(environmentSchema.shape).flatMap(([name, field]) => {
      const value: unknown = field.parse(undefined);
      return value === undefined ? [] : [[name, flags(name, value)] as const];
    });
    const path = file(JSON.stringify(Object.fromEntries(defaults)));
    expect(loadConfig(settled({ CONFIG_FILE: path }).env)).toEqual(loadConfig({}));
  });

  test.each([
    [
      'that is not there',
      '/nowhere/settings.yaml',
      'CONFIG_FILE: /nowhere/settings.yaml is not there',
    ],
    ['that is a folder', folder, `CONFIG_FILE: ${folder} cannot be read`],
    ['that is not YAML', file('LOG_LEVEL: info\nSECRET_KEY: "hush'), / is not YAML at line 2$/],
    ['with a list', file('- LOG_LEVEL'), 'must have one line for each setting: NAME: value'],
    ['with an unknown name', file('LOGLEVEL: info'), 'LOGLEVEL is no setting'],
    ['that names another one', file('CONFIG_FILE: x'), 'CONFIG_FILE is no setting'],
    [
      'with an object',
      file('LOG_LEVEL: {a: 1}'),
      'LOG_LEVEL must be a text, a number, true, false or a list',
    ],
    ['with a list in a list', file('CORS_ORIGINS: [[a]]'), 'CORS_ORIGINS must be a text'],
  ])('%s is an error', (_title, path, message) => {
    const said = problem({ CONFIG_FILE: path });
    expect(said).toMatch(message);
    expect(said).not.toContain('hush');
  });
});

describe('a secret in a file', () => {
  test.each(secretVariables)('is the value of %s, without the end of its line', (name) => {
    const path = file('hush hush\n');
    expect(settled({ [`${name}_FILE`]: path })).toEqual({
      env: { [name]: 'hush hush' },
      sources: { [name]: path },
    });
  });

  test('can be named by the configuration file, and the environment overrides that', () => {
    const path = file(`SECRET_KEY_FILE: ${file('from a file')}`);
    expect(settled({ CONFIG_FILE: path }).env).toEqual({ SECRET_KEY: 'from a file' });
    expect(settled({ CONFIG_FILE: path, SECRET_KEY: 'own' }).env).toEqual({ SECRET_KEY: 'own' });
    const other = file('from another');
    expect(settled({ CONFIG_FILE: path, SECRET_KEY_FILE: other }).env).toEqual({
      SECRET_KEY: 'from another',
    });
  });

  test('that cannot be used is an error, with all others', () => {
    const empty = file('\n');
    expect(
      problem({
        SECRET_KEY: 'hush',
        SECRET_KEY_FILE: empty,
        OPENAI_API_KEY_FILE: empty,
        ENCRYPTION_KEY_FILE: '/nowhere/key',
        DATABASE_URL_FILE: file('x'.repeat(70_000)),
      }),
    ).toBe(`The configuration is invalid:
  DATABASE_URL_FILE: ${folder}/file-${files} is too large
  SECRET_KEY and SECRET_KEY_FILE are both set
  ENCRYPTION_KEY_FILE: /nowhere/key is not there
  OPENAI_API_KEY_FILE: ${empty} is empty`);
  });
});

test.each(['api/main.ts', 'worker/main.ts'])('%s reads files before it starts', async (script) => {
  const { PATH, HOME } = process.env;
  const env = { PATH, HOME, CONFIG_FILE: file('SECRET_KEY_FILE: /nowhere/key') };
  await expect(execute(process.execPath, [join(root, script)], { env })).rejects.toMatchObject({
    code: 1,
    stderr: 'The configuration is invalid:\n  SECRET_KEY_FILE: /nowhere/key is not there\n',
  });
});

describe('npm run config:check', () => {
  const check = async (env: Variables, ...args: string[]) => {
    const script = join(root, 'scripts/admin/config-check.ts');
    const { PATH, HOME } = process.env;
    const options = { cwd: folder, env: { PATH, HOME, ...env } };
    try {
      return { code: 0, ...(await execute(process.execPath, [script, ...args], options)) };
    } catch (error) {
      const { code, stdout, stderr } = error as { code: number; stdout: string; stderr: string };
      return { code, stdout, stderr };
    }
  };

  test('lists what is set with its source, shows no credential, and says what surprises', async () => {
    const key = file('hush');
    const path = file(`ENCRYPTION_KEY_FILE: ${key}\nRATE_LIMIT_PER_MINUTE: 600\n`);
    const { code, stdout } = await check({
      ...{ CONFIG_FILE: path, AUTH_MODE: 'required', DATABASE_URL: 'postgres://u:hush@h/d' },
      TEMPORAL_API_KEY: 'hush',
    });
    const rows = stdout
      .trim()
      .split('\n')
      .map((row) => row.split(/ {2,}/));
    expect(rows).toEqual([
      ['AUTH_MODE', 'required', 'environment'],
      ['DATABASE_URL', '***', 'environment'],
      ['ENCRYPTION_KEY', '***', key],
      ['RATE_LIMIT_PER_MINUTE', '600', path],
      ['TEMPORAL_API_KEY', '***', 'environment'],
      ['warning: SECRET_KEY is not set: sessions end with their process'],
      ['The configuration is valid'],
    ]);
    expect(code).toBe(0);
  });

  test('lists defaults on request', async () => {
    const { stdout } = await check({}, '--all');
    expect(stdout).toMatch(/^LOG_LEVEL +info +default$/m);
    expect(stdout).toMatch(/^SEED +on +default$/m);
    expect(stdout).toMatch(/^DATABASE_URL +- +default$/m);
  });

  test('exits with 1 for a setting that is invalid', async () => {
    const { code, stderr } = await check({ API_PORT: 'hush' });
    expect({ code, stderr }).toEqual({ code: 1, stderr: expect.stringContaining('API_PORT: ') });
    expect(stderr).not.toContain('hush');
  });
});

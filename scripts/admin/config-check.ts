import { existsSync, readFileSync } from 'node:fs';
import { join } from 'node:path';
import { parseEnv } from 'node:util';
import { environmentSchema, loadConfig, secretVariables } from '#shared/platform/config.ts';
import { FOREIGN_VARIABLE } from '#shared/platform/settings-files.ts';
import { loadEnvFile } from '#scripts/stack/env-file.ts';
import { runCommand } from './command.ts';

/**
 * `npm run config:check [-- --all]`: checks the settings as the API and the worker read them, and lists those that are
 * set, each with its source. `--all` also lists defaults. Shows no credential. Exits with code 1 if a setting is invalid.
 */

const projectDir = join(import.meta.dirname, '../..');
const names = new Set<string>(Object.keys(environmentSchema.shape));
const isSecret = (name: string): boolean =>
  (secretVariables as readonly string[]).includes(name) || /_KEY$|PASSWORD/.test(name);

async function main(): Promise<void> {
  const inherited = new Set(Object.keys(process.env));
  const envFile = join(projectDir, '.env');
  const listed = existsSync(envFile) ? parseEnv(readFileSync(envFile, 'utf8')) : {};
  const sources = loadEnvFile(projectDir);
  const sourceOf = (name: string): string => {
    const file = sources.get(name);
    if (file !== undefined) return file;
    return !inherited.has(name) && name in listed ? '.env' : 'environment';
  };
  loadConfig();
  for (const line of lines(sourceOf, process.argv.includes('--all'))) console.log(line);
  for (const warning of warnings()) console.log(`warning: ${warning}`);
  console.log('The configuration is valid');
}

function lines(sourceOf: (name: string) => string, all: boolean): string[] {
  const set = Object.keys(process.env).filter(
    (name) => names.has(name) || FOREIGN_VARIABLE.test(name),
  );
  const unset = all ? [...names].filter((name) => !set.includes(name)) : [];
  const rows = [
    ...set.map((name) => [name, isSecret(name) ? '***' : process.env[name]!, sourceOf(name)]),
    ...unset.map((name) => [name, defaultOf(name), 'default']),
  ].toSorted(([a = ''], [b = '']) => (a < b ? -1 : 1));
  const widths = [0, 1].map((column) => Math.max(0, ...rows.map((row) => row[column]!.length)));
  return rows.map(([name = '', value = '', source = '']) =>
    [name.padEnd(widths[0]!), value.padEnd(widths[1]!), source].join('  '),
  );
}

function defaultOf(name: string): string {
  const value: unknown =
    environmentSchema.shape[name as keyof typeof environmentSchema.shape].parse(undefined);
  if (value === undefined) return '-';
  if (typeof value === 'boolean') return value ? 'on' : 'off';
  return Array.isArray(value) ? value.join(',') : `${value as string | number}`;
}

/** What is allowed, and surprises in production. */
function warnings(): string[] {
  const { DATABASE_URL, AUTH_MODE, SECRET_KEY, ENCRYPTION_KEY } = process.env;
  if (DATABASE_URL === undefined) return [];
  return [
    ...(AUTH_MODE === 'required'
      ? []
      : ['AUTH_MODE is open: everyone who reaches the API acts as the owner']),
    ...(AUTH_MODE === 'required' && SECRET_KEY === undefined
      ? ['SECRET_KEY is not set: sessions end with their process']
      : []),
    ...(ENCRYPTION_KEY === undefined
      ? ['ENCRYPTION_KEY is not set: no secrets can be stored']
      : []),
  ];
}

await runCommand({ says: 'config:check', code: 1 }, main);

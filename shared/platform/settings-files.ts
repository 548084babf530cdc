import { readFileSync } from 'node:fs';
import { parse } from 'yaml';
import {
  environmentSchema,
  ownEnvironment,
  removeEmptyVariables,
  secretVariables,
} from './config.ts';

type Variables = Record<string, string | undefined>;

/** Where a setting comes from, if not from the environment: the path of a file. */
export type SettingSources = Map<string, string>;

/** Temporal's and OpenTelemetry's packages read variables of their own. */
export const FOREIGN_VARIABLE = /^(?:TEMPORAL|OTEL)_[A-Z0-9_]+$/;
const FILE = '_FILE';
/** A credential is at most some kilobytes: a larger file is another one. */
const MAX_SECRET_BYTES = 65_536;

/**
 * Completes an environment from files: the settings of `CONFIG_FILE`, which variables override, and the secrets whose
 * `<name>_FILE` names a file. Empty variables are removed before. Also for variables that packages read themselves. Throws
 * one Error that lists every problem, without any value.
 */
export function settleEnvironment(env: Variables = ownEnvironment): SettingSources {
  removeEmptyVariables(env);
  const sources: SettingSources = new Map();
  const problems: string[] = [];
  try {
    readConfigFile(env, sources, problems);
  } catch (error) {
    problems.push((error as Error).message);
  }
  for (const name of secretVariables) {
    try {
      readSecretFile(env, name, sources);
    } catch (error) {
      problems.push((error as Error).message);
    }
  }
  if (problems.length > 0) {
    throw new Error(`The configuration is invalid:\n  ${problems.join('\n  ')}`);
  }
  return sources;
}

function readConfigFile(env: Variables, sources: SettingSources, problems: string[]): void {
  const { CONFIG_FILE: path } = env;
  if (path === undefined) return;
  // A process that this one starts inherits what the file says.
  delete env['CONFIG_FILE'];
  const content = parsedFile(path);
  for (const [name, value] of Object.entries(content)) {
    const text = textOf(name, value);
    if (!isSetting(name)) {
      problems.push(`CONFIG_FILE: ${path}: ${name} is no setting`);
    } else if (text === undefined) {
      problems.push(
        `CONFIG_FILE: ${path}: ${name} must be a text, a number, true, false or a list`,
      );
    } else if (text !== '' && !isSetInEnvironment(env, sources, name)) {
      env[name] = text;
      sources.set(name, path);
    }
  }
}

/** A variable with the secret overrides a file with it, and the other way round. */
function isSetInEnvironment(env: Variables, sources: SettingSources, name: string): boolean {
  const plain = name.endsWith(FILE) ? name.slice(0, -FILE.length) : name;
  return [plain, plain + FILE].some((each) => env[each] !== undefined && !sources.has(each));
}

function parsedFile(path: string): Record<string, unknown> {
  const text = readText('CONFIG_FILE', path);
  let content: unknown;
  try {
    content = parse(text) ?? {};
  } catch (error) {
    // Without the lines, which can contain secrets.
    const { linePos } = error as { linePos?: [{ line: number }] };
    const line = linePos === undefined ? '' : ` at line ${linePos[0].line}`;
    throw new Error(`CONFIG_FILE: ${path} is not YAML${line}`, { cause: error });
  }
  if (typeof content !== 'object' || content === null || Array.isArray(content)) {
    throw new Error(`CONFIG_FILE: ${path} must have one line for each setting: NAME: value`);
  }
  return content as Record<string, unknown>;
}

const isOwn = (name: string): name is keyof typeof environmentSchema.shape =>
  name !== 'CONFIG_FILE' && Object.hasOwn(environmentSchema.shape, name);
const isSecretFile = (name: string): boolean =>
  secretVariables.some((secret) => name === secret + FILE);
const isSetting = (name: string): boolean =>
  isOwn(name) || isSecretFile(name) || FOREIGN_VARIABLE.test(name);

/** As in the environment. Undefined for a value that has no such form. */
function textOf(name: string, value: unknown): string | undefined {
  if (value === null || value === undefined) return '';
  if (typeof value === 'string') return value;
  if (typeof value === 'number') return String(value);
  if (typeof value === 'boolean') return isFlag(name) ? (value ? 'on' : 'off') : String(value);
  if (!Array.isArray(value)) return undefined;
  const items = value.map((item) => (Array.isArray(item) ? undefined : textOf(name, item)));
  return items.some((item) => item === undefined) ? undefined : items.join(',');
}

const isFlag = (name: string): boolean =>
  isOwn(name) &&
  environmentSchema.shape[name].safeParse('on').data === true &&
  environmentSchema.shape[name].safeParse('off').data === false;

/** Sets the secret, and removes `<name>_FILE`: a process that this one starts finds only the secret. */
function readSecretFile(env: Variables, name: string, sources: SettingSources): void {
  const path = env[name + FILE];
  if (path === undefined) return;
  if (env[name] !== undefined) throw new Error(`${name} and ${name}${FILE} are both set`);
  const text = readText(name + FILE, path).replace(/\r?\n$/, '');
  if (text === '') throw new Error(`${name}${FILE}: ${path} is empty`);
  if (text.length > MAX_SECRET_BYTES) throw new Error(`${name}${FILE}: ${path} is too large`);
  env[name] = text;
  delete env[name + FILE];
  sources.delete(name + FILE);
  sources.set(name, path);
}

function readText(variable: string, path: string): string {
  try {
    return readFileSync(path, 'utf8');
  } catch (error) {
    const reason =
      (error as NodeJS.ErrnoException).code === 'ENOENT' ? 'is not there' : 'cannot be read';
    throw new Error(`${variable}: ${path} ${reason}`, { cause: error });
  }
}

import { readFile } from 'node:fs/promises';
import { text } from 'node:stream/consumers';
import type { JsonObject } from '#client/index.ts';
import { misuse } from './endings.ts';
import { terminal } from './terminal.ts';

declare global {
  // Missing from the compiler's type definitions.
  interface JSON {
    parse(
      text: string,
      reviver: (key: string, value: unknown, context: { source?: string }) => unknown,
    ): unknown;
    rawJSON(text: string): object;
  }
}

/**
 * Parses JSON and keeps numbers as written: the service rejects numbers that it cannot store and reports where they
 * are, while parsing would first round them. Throws SyntaxError.
 */
const parseJson = (text: string): unknown =>
  JSON.parse(text, (_key, value, { source = '' }) =>
    typeof value === 'number' && String(value) !== source ? JSON.rawJSON(source) : value,
  );

/** The text of a file, or of standard input for `-`. */
export async function readText(path: string): Promise<string> {
  try {
    return path === '-' ? await text(terminal().stdin) : await readFile(path, 'utf8');
  } catch (error) {
    throw misuse(`${path} cannot be read: ${error instanceof Error ? error.message : ''}`);
  }
}

/** A JSON file, or standard input for `-`. */
const readJson = async (path: string): Promise<unknown> => jsonIn(await readText(path), path);

/** The JSON value in a text. `name` says where the text comes from. */
export function jsonIn(content: string, name: string): unknown {
  try {
    return parseJson(content);
  } catch (error) {
    throw misuse(`${name} is not JSON: ${error instanceof Error ? error.message : ''}`);
  }
}

export const readJsonObject = async (path: string): Promise<JsonObject> =>
  requireObject(await readJson(path), path);

/** The JSON object in a text. `name` says where the text comes from. */
export const objectIn = (content: string, name: string): JsonObject =>
  requireObject(jsonIn(content, name), name);

function requireObject(value: unknown, name: string): JsonObject {
  if (typeof value !== 'object' || value === null || Array.isArray(value)) {
    throw misuse(`${name} must contain a JSON object`);
  }
  return value as JsonObject;
}

const pair = /^([A-Za-z_][\w-]*)=([^]*)$/;

/** Merges `-i` options (a file, `-`, or `key=value` with JSON or text); later options override earlier ones. */
export async function readInput(given: readonly string[]): Promise<JsonObject> {
  const input: JsonObject = {};
  for (const part of given) {
    const [, key, value = ''] = pair.exec(part) ?? [];
    Object.assign(input, key === undefined ? await readJsonObject(part) : { [key]: jsonOr(value) });
  }
  return input;
}

/** The same for an option that may be missing. */
export const readInputIf = async (
  given: readonly string[] | undefined,
): Promise<JsonObject | undefined> => (given === undefined ? undefined : readInput(given));

/** Throws Ending for both options that choose what is executed. */
export function requireOneVersion({
  version,
  draft,
}: {
  version?: number | undefined;
  draft?: true | undefined;
}): void {
  if (version !== undefined && draft === true) {
    throw misuse('--version and --draft exclude each other');
  }
}

function jsonOr(value: string): unknown {
  try {
    return parseJson(value);
  } catch {
    return value;
  }
}

/** A parser for commander: a whole or decimal number above 0. */
export function positive(value: string): number {
  const number = Number(value);
  if (!(number > 0 && Number.isFinite(number))) throw misuse(`'${value}' is not a number above 0`);
  return number;
}

export function wholePositive(value: string): number {
  const number = positive(value);
  if (!Number.isInteger(number)) throw misuse(`'${value}' is not a whole number`);
  return number;
}

export const collect = (value: string, before: string[] = []): string[] => [...before, value];

const ago = /^(\d{1,6})([dhm])$/;
const UNIT_MS = { d: 86_400_000, h: 3_600_000, m: 60_000 };

/**
 * A parser for commander: a time in the past, such as `7d`, `12h` or `30m`, as ISO 8601. The service parses other
 * times.
 */
export function timeOrAgo(value: string): string {
  const [, amount, unit] = ago.exec(value) ?? [];
  if (amount === undefined) return value;
  const ms = Number(amount) * UNIT_MS[unit as keyof typeof UNIT_MS];
  return new Date(Date.now() - ms).toISOString();
}

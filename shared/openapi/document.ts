import { parse } from 'yaml';
import { messageOf } from '#shared/errors.ts';
import { isObject } from '#shared/graph/json-value.ts';
import type { Json, JsonObject } from '#shared/json.ts';

/** The longest text of a document, in characters. */
const MAX_DOCUMENT = 20 * 1024 * 1024;
/** The longest text that is tried as YAML after it was no JSON: the parser takes a second for each megabyte or two. */
const MAX_RETRIED = 1024 * 1024;
/** How often one anchor of YAML counts, with the anchors in it: aliases of aliases grow without bound. */
const MAX_ALIASES = 1_000;
const MAX_MESSAGE = 300;

export type Dialect = '2.0' | '3.0' | '3.1';

/** A document of OpenAPI. What it contains is not checked yet. */
export interface OpenApiDocument {
  root: JsonObject;
  dialect: Dialect;
}

/** The value of a JSON or YAML text, or why it has none. Never throws. */
export function parseText(given: string): { value: Json } | { problem: string } {
  if (given.length > MAX_DOCUMENT) {
    return { problem: `it is longer than ${MAX_DOCUMENT / 1024 / 1024} MB` };
  }
  const text = given.startsWith('\ufeff') ? given.slice(1) : given;
  if (/^\s*[{[]/.test(text)) {
    try {
      return { value: JSON.parse(text) as Json };
    } catch (error) {
      if (text.length > MAX_RETRIED) return { problem: `it is not JSON: ${said(error)}` };
    }
  }
  try {
    const value: unknown = parse(text, {
      maxAliasCount: MAX_ALIASES,
      merge: true,
      strict: false,
      uniqueKeys: false,
      prettyErrors: false,
      logLevel: 'error',
    });
    return { value: (value ?? null) as Json };
  } catch (error) {
    // The parser reports the end of its stack like an error of syntax.
    if (/call stack/.test(messageOf(error))) return { problem: 'it is nested too deeply' };
    return { problem: `it is neither JSON nor YAML: ${said(error)}` };
  }
}

/** A document of OpenAPI 3 or Swagger 2.0 from its text, or why it is none. Never throws. */
export function readDocument(text: string): { document: OpenApiDocument } | { problem: string } {
  const parsed = parseText(text);
  if ('problem' in parsed) return { problem: `The document cannot be read: ${parsed.problem}` };
  const { value } = parsed;
  const dialect = isObject(value) ? dialectOf(value) : undefined;
  if (!isObject(value) || dialect === undefined) {
    return { problem: 'The document is not OpenAPI 3.0, OpenAPI 3.1 or Swagger 2.0' };
  }
  if (!isObject(own(value, 'paths'))) return { problem: 'The document has no paths' };
  return { document: { root: value, dialect } };
}

function dialectOf(root: JsonObject): Dialect | undefined {
  // Without quotes, YAML reads the version as a number.
  const version = (name: string): string => {
    const given = own(root, name);
    return typeof given === 'string' || typeof given === 'number' ? String(given) : '';
  };
  if (/^2(?:\.|$)/.test(version('swagger'))) return '2.0';
  if (/^3\.0(?:\.|$)|^3$/.test(version('openapi'))) return '3.0';
  return /^3\.\d/.test(version('openapi')) ? '3.1' : undefined;
}

const said = (error: unknown): string => messageOf(error).slice(0, MAX_MESSAGE).toWellFormed();

/** An own member of an object: documents have names such as `constructor`. */
export const own = (object: JsonObject, name: string): Json | undefined =>
  Object.hasOwn(object, name) ? object[name] : undefined;

export const textIn = (object: JsonObject, name: string): string | undefined => {
  const value = own(object, name);
  return typeof value === 'string' ? value : undefined;
};

export const listIn = (object: JsonObject, name: string): readonly Json[] => {
  const value = own(object, name);
  return Array.isArray(value) ? value : [];
};

export const objectIn = (object: JsonObject, name: string): JsonObject | undefined => {
  const value = own(object, name);
  return isObject(value) ? value : undefined;
};

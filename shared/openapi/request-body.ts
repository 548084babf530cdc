import type { MappedBody, MappedField } from '#shared/contract/tools/request-mapping.ts';
import type { Json, JsonObject } from '#shared/json.ts';
import { FORM, isJsonType, MULTIPART } from './media-types.ts';
import { encodeAll, encodeReserved, isMembers, pairsOf, textOf, type Written } from './styles.ts';

/** A body with its `Content-Type`, or why there is none. */
export type BuiltBody = { type: string; text: string } | { problem: string };

/** Characters of a form. */
const MAX_FORM = 5_000_000;

/** The value of an argument; undefined if it is not there. */
type Read = (argument: string) => Json | undefined;

/** The body of a request; undefined without one. Throws UnwritableError. */
export function buildBody(body: MappedBody | null, read: Read): BuiltBody | undefined {
  if (body === null) return undefined;
  const { content_type: type, required } = body;
  if ('argument' in body) {
    const value = read(body.argument);
    if (value === undefined) {
      return required ? { problem: `The argument '${body.argument}' is missing` } : undefined;
    }
    return wholeBody(type, value, body.argument);
  }
  const given = body.fields.flatMap((field) => {
    const value = read(field.argument);
    return value === undefined ? [] : [{ field, value }];
  });
  if (given.length === 0 && !required) return undefined;
  if (isJsonType(type)) {
    const members = given.map(({ field: { name }, value }) => [name, value] as const);
    return { type, text: JSON.stringify(Object.fromEntries(members)) };
  }
  return formBody(type, given);
}

function wholeBody(type: string, value: Json, argument: string): BuiltBody {
  if (isJsonType(type)) return { type, text: JSON.stringify(value) };
  if (type !== FORM && type !== MULTIPART) {
    return typeof value === 'string'
      ? { type: `${type}; charset=utf-8`, text: value }
      : { problem: `The argument '${argument}' must be a text` };
  }
  if (!isMembers(value)) return { problem: `The argument '${argument}' must be an object` };
  const fields = Object.entries(value).map(([name, part]) => ({
    field: { argument: name, name },
    value: part,
  }));
  return formBody(type, fields);
}

interface Given {
  field: MappedField;
  value: Json;
}

function formBody(type: string, given: readonly Given[]): BuiltBody {
  const present = given.filter(({ value }) => value !== null);
  if (type === MULTIPART) return multipart(present);
  const room = { left: MAX_FORM };
  const pairs = present.flatMap(({ field, value }) => pairsOf(writtenAs(field, value), room));
  return { type, text: pairs.map(([name, value]) => `${name}=${value}`).join('&') };
}

const writtenAs = (field: MappedField, value: Json): Written => ({
  name: field.name,
  value: field.style === undefined ? flat(value, field.content_type) : value,
  style: field.style ?? 'form',
  explode: field.explode ?? true,
  encode: field.allow_reserved === true ? encodeReserved : encodeAll,
});

/** Without a style, an object is one JSON text, and so is a list of JSON. */
const flat = (value: Json, contentType: string | undefined): Json =>
  isMembers(value) || (contentType !== undefined && isJsonType(contentType))
    ? JSON.stringify(value)
    : value;

function multipart(given: readonly Given[]): BuiltBody {
  const parts = given.flatMap(({ field, value }) => {
    const isJson = field.content_type !== undefined && isJsonType(field.content_type);
    const values = Array.isArray(value) && !isJson ? value : [value];
    return values.flatMap((each) => (each === null ? [] : [partOf(field, each, isJson)]));
  });
  const boundary = boundaryFor(parts);
  if (boundary === undefined) return { problem: 'The body contains every boundary' };
  const text = parts.map((part) => `--${boundary}\r\n${part}\r\n`).join('');
  return { type: `${MULTIPART}; boundary=${boundary}`, text: `${text}--${boundary}--\r\n` };
}

function partOf(field: MappedField, value: Json, isJson: boolean): string {
  const name = field.name
    .toWellFormed()
    .replaceAll(/["\r\n\0]/g, (character) => encodeAll(character));
  const type = field.content_type ?? (typeof value === 'object' ? 'application/json' : undefined);
  return [
    `Content-Disposition: form-data; name="${name}"`,
    ...(type === undefined ? [] : [`Content-Type: ${type}`]),
    '',
    isJson ? JSON.stringify(value) : textOf(value),
  ].join('\r\n');
}

const BOUNDARY = 'form-boundary-';
const BOUNDARIES = 1_000_000;

/** A boundary that does not occur in the parts; the same for the same parts, so that a retry sends the same body. */
function boundaryFor(parts: readonly string[]): string | undefined {
  const taken = new Set<string>();
  for (const part of parts) {
    for (const [, digits = ''] of part.matchAll(/form-boundary-(\d{6})/g)) taken.add(digits);
  }
  for (let n = 0; n < BOUNDARIES; n += 1) {
    const digits = String(n).padStart(6, '0');
    if (!taken.has(digits)) return BOUNDARY + digits;
  }
  return undefined;
}

/** The arguments by name, without what is missing. */
export const readFrom = (args: JsonObject): Read => {
  const given = new Map(Object.entries(args));
  return (argument) => given.get(argument);
};

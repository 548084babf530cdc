import type { ParameterStyle } from '#shared/contract/tools/request-mapping.ts';
import type { Json } from '#shared/json.ts';

/** Values as text in the styles of OpenAPI, which are those of RFC 6570. */

/** A value to write, by name. */
export interface Written {
  name: string;
  value: Json;
  style: ParameterStyle;
  explode: boolean;
  encode: (text: string) => string;
}

/** How many characters pairs may take. Names are repeated, so the text can be longer than its arguments. */
export interface Room {
  left: number;
}

/** Arguments that find no room, or that a receiver would read as others. The message is a sentence. */
export class UnwritableError extends Error {
  override readonly name = 'UnwritableError';
}

type Pair = [name: string, value: string];

/** Everything but letters, digits and `-._~` as bytes of UTF-8: safe in each part of a URL. */
export const encodeAll = (text: string): string =>
  encodeURIComponent(text.toWellFormed()).replaceAll(
    /[!'()*]/g,
    (character) => `%${character.charCodeAt(0).toString(16).toUpperCase()}`,
  );

/** For `allowReserved`: what has a meaning in a query besides separating its parameters stays as it is. */
export const encodeReserved = (text: string): string =>
  encodeAll(text).replaceAll(/%(?:3A|2F|3F|40|21|24|27|28|29|2A|2C|3B|3D)/g, decodeURIComponent);

/** The text of one value. Lists and objects in lists and objects are JSON. */
export const textOf = (value: Json): string =>
  typeof value === 'string' ? value : JSON.stringify(value);

/** Members that are there: null and missing values are left out. */
const membersOf = (value: Json): [name: string, value: Json][] =>
  Object.entries(value as Record<string, Json>).filter(([, member]) => member !== null);

const itemsOf = (value: readonly Json[]): Json[] => value.filter((item) => item !== null);

/** The value of a path or header parameter of style `simple`, `label` or `matrix`. */
export function simpleText({ name, value, style, explode, encode }: Written): string {
  if (style === 'matrix') return matrixText({ name, value, style, explode, encode });
  const prefix = style === 'label' ? '.' : '';
  const separator = style === 'label' && explode ? '.' : ',';
  // A dot is never encoded, but here it separates.
  const dotless = (text: string): string => encode(text).replaceAll('.', '%2E');
  const parts = partsOf(value, explode, separator === '.' ? dotless : encode);
  return prefix + parts.join(separator);
}

function matrixText({ name, value, explode, encode }: Written): string {
  const named = (key: string, text: string): string => `;${key}${text === '' ? '' : `=${text}`}`;
  const key = encode(name);
  if (Array.isArray(value)) {
    const items = itemsOf(value).map((item) => encode(textOf(item)));
    return explode ? items.map((item) => named(key, item)).join('') : named(key, items.join(','));
  }
  if (isMembers(value) && explode) {
    return membersOf(value)
      .map(([member, part]) => named(encode(member), encode(textOf(part))))
      .join('');
  }
  return named(key, partsOf(value, false, encode).join(','));
}

/** The items of a list, the members of an object, or a single value. */
export function partsOf(value: Json, explode: boolean, encode: (text: string) => string): string[] {
  if (Array.isArray(value)) return itemsOf(value).map((item) => encode(textOf(item)));
  if (!isMembers(value)) return [encode(textOf(value))];
  return membersOf(value).flatMap(([name, part]) => {
    const text = encode(textOf(part));
    return explode ? [`${encode(name)}=${text}`] : [encode(name), text];
  });
}

/**
 * The pairs of a query, a cookie or a form. Empty lists and objects have none. Throws UnwritableError.
 */
export function pairsOf({ name, value, style, explode, encode }: Written, room: Room): Pair[] {
  const key = encodeAll(name);
  const pairs: Pair[] = [];
  const add = (left: string, right: string): void => {
    room.left -= left.length + right.length + 2;
    if (room.left < 0) throw new UnwritableError('The arguments are too long');
    pairs.push([left, right]);
  };
  if (value === null) return pairs;
  if (typeof value !== 'object') add(key, encode(textOf(value)));
  else if (style === 'deepObject') addDeep(key, value, encode, add);
  else if (!explode) {
    const parts = partsOf(value, false, encode);
    const separator = SEPARATORS[style] ?? ',';
    refuseSeparators(name, parts, separator);
    if (parts.length > 0) add(key, parts.join(separator));
  } else if (Array.isArray(value)) {
    for (const item of itemsOf(value)) add(key, encode(textOf(item)));
  } else {
    for (const [member, part] of membersOf(value)) add(encodeAll(member), encode(textOf(part)));
  }
  return pairs;
}

const SEPARATORS: Partial<Record<ParameterStyle, string>> = {
  spaceDelimited: '%20',
  pipeDelimited: '%7C',
};

/** Encoded, the separators of some styles look like the same characters in a value. */
export function refuseSeparators(name: string, parts: readonly string[], separator: string): void {
  if (parts.every((part) => !part.includes(separator))) return;
  throw new UnwritableError(
    `A part of '${name}' contains the character that separates its parts: '${decodeURIComponent(separator)}'`,
  );
}

/** `a[b][c]=1`, `a[0]=2`: what most servers read, although OpenAPI only describes one level. */
function addDeep(
  key: string,
  value: Json,
  encode: (text: string) => string,
  add: (left: string, right: string) => void,
): void {
  const waiting: [key: string, value: Json][] = [[key, value]];
  for (let next = waiting.pop(); next !== undefined; next = waiting.pop()) {
    const [prefix, part] = next;
    if (part === null) continue;
    if (typeof part !== 'object') add(prefix, encode(textOf(part)));
    else {
      // The last comes off first.
      for (const [name, inner] of Object.entries(part).reverse()) {
        waiting.push([`${prefix}[${encodeAll(name)}]`, inner]);
      }
    }
  }
}

export const isMembers = (value: Json): value is Record<string, Json> =>
  typeof value === 'object' && value !== null && !Array.isArray(value);

import { isObject } from '#shared/graph/json-value.ts';
import type { Json, JsonObject } from '#shared/json.ts';
import type { KnownArguments, UnknownArgument } from './arguments.ts';

/** What the items of a map are executed with, if they are too many to list one by one. */
export interface ManyItems {
  count: number;
  /** The arguments of the first and last items. */
  first: JsonObject[];
  last: JsonObject[];
  /** What is not known of some item, as the arguments of all items have null there. */
  unknown: UnknownArgument[];
  /** Of the digests of all items. */
  digest: string;
}

/** The number of hexadecimal digits of an item's digest that are kept: 128 bits. */
export const ITEM_DIGEST = 32;

const SHOWN_ITEMS = 10;

export type DigestOf = (value: Json) => string;

/** Nothing where there are no items, or where digests cannot be computed. */
export function manyItems(
  items: readonly KnownArguments[],
  digestOf: DigestOf | undefined,
): { items: ManyItems; digests: string } | undefined {
  if (items.length === 0 || digestOf === undefined) return undefined;
  const unknown = new Map<string, UnknownArgument>();
  for (const each of items.flatMap((item) => item.unknown)) {
    unknown.set(JSON.stringify(each.path), each);
  }
  const all = [...unknown.values()];
  const shown = items.map((item) => withoutUnknown(item.arguments, all));
  const digests = shown.map((item) => itemDigest(item, digestOf)).join('');
  return {
    items: {
      count: shown.length,
      first: shown.slice(0, SHOWN_ITEMS),
      last: shown.slice(-SHOWN_ITEMS),
      unknown: all,
      digest: digestOf(digests),
    },
    digests,
  };
}

const itemDigest = (shown: JsonObject, digestOf: DigestOf): string =>
  digestOf(shown).slice('sha256:'.length).slice(0, ITEM_DIGEST);

/** The digest of what an item is executed with, to compare it with what was shown. */
export const digestOfItem = (
  args: JsonObject,
  { unknown }: Pick<ManyItems, 'unknown'>,
  digestOf: DigestOf,
): string => itemDigest(withoutUnknown(args, unknown), digestOf);

/** The arguments with null where a value is not known. */
const withoutUnknown = (args: JsonObject, unknown: readonly UnknownArgument[]): JsonObject =>
  unknown.reduce((whole, { path }) => withNull(whole, path) as JsonObject, args);

function withNull(value: Json, [key, ...rest]: readonly (string | number)[]): Json {
  if (key === undefined) return null;
  if (Array.isArray(value)) {
    return value.map((item, at) => (at === key ? withNull(item, rest) : item));
  }
  if (!isObject(value) || !Object.hasOwn(value, key)) return value;
  return { ...value, [key]: withNull(value[key]!, rest) };
}

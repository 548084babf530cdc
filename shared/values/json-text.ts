import type { Json, JsonObject } from '../json.ts';

/**
 * JSON that is parsed when it is first read: it can be megabytes, and most of what passes through is never read here.
 * `parsed` receives its length then.
 */
export class JsonText {
  readonly text: string;
  readonly #parsed: ((characters: number) => void) | undefined;
  #value: Json | undefined;

  constructor(text: string, parsed?: (characters: number) => void) {
    this.text = text;
    this.#parsed = parsed;
  }

  get value(): Json {
    if (this.#value === undefined) {
      this.#value = JSON.parse(this.text) as Json;
      this.#parsed?.(this.text.length);
    }
    return this.#value;
  }
}

export const valueOf = (given: Json | JsonText): Json =>
  given instanceof JsonText ? given.value : given;

/** The objects that have texts: all their getters are of this file. */
const holders = new WeakSet<object>();

/** The texts that `jsonOf` has met; undefined while it does not run. */
let met: string[] | undefined;

/** What stands for a text until `jsonOf` puts it there. */
const PLACE = 'json-text: here';

/** Sets a key of an object. A text is parsed when the key is first read. */
export function put(object: object, key: string, value: Json | JsonText): void {
  if (value instanceof JsonText) {
    holders.add(object);
    const get = (): Json => {
      if (met === undefined) return value.value;
      met.push(value.text);
      return PLACE;
    };
    Object.defineProperty(object, key, { get, enumerable: true, configurable: true });
  } else if (holders.has(object)) {
    // Not deleted before, so that it keeps its place among the keys.
    const property = { value, writable: true, enumerable: true, configurable: true };
    Object.defineProperty(object, key, property);
  } else {
    (object as JsonObject)[key] = value;
  }
}

export const holdsTexts = (object: object): boolean => holders.has(object);

/** An object of the keys of both; the other wins. Texts stay texts: to spread one would parse it. */
export function joined<One extends object, Other extends object>(
  one: One,
  other: Other,
): One & Other {
  const object = Object.create(null, Object.getOwnPropertyDescriptors(one)) as One & Other;
  holders.add(object);
  return Object.defineProperties(object, Object.getOwnPropertyDescriptors(other));
}

/** The value of an own property. No getter runs, except that of a text. */
export function ownValue(object: object, key: string | number): unknown {
  if (!holders.has(object)) return Object.getOwnPropertyDescriptor(object, key)?.value;
  return Object.hasOwn(object, key) ? (object as Record<string | number, unknown>)[key] : undefined;
}

/** A value as JSON. Texts in it are not parsed for it. */
export function jsonOf(value: unknown): string {
  const texts = (met = [] as string[]);
  let outline: string;
  try {
    outline = JSON.stringify(value);
  } finally {
    met = undefined;
  }
  const parts = outline.split(`"${PLACE}"`);
  // A value may say the same as the placeholder. Then it cannot be told from one.
  if (parts.length !== texts.length + 1) return JSON.stringify(value);
  return parts.map((part, at) => part + (texts[at] ?? '')).join('');
}

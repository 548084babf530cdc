import type { Json, JsonObject } from '#shared/json.ts';

/**
 * JSON that is parsed when it is first read. It can be megabytes, and most of what passes through is never read here.
 */
export class JsonText {
  readonly text: string;
  /** The key of the step whose stored output it is. */
  readonly step: string | undefined;
  #value: Json | undefined;

  constructor(text: string, step?: string) {
    this.text = text;
    this.step = step;
  }

  get value(): Json {
    this.#value ??= JSON.parse(this.text) as Json;
    return this.#value;
  }
}

export const valueOf = (given: Json | JsonText): Json =>
  given instanceof JsonText ? given.value : given;

/** The texts of objects that contain any, by key. This file defines all getters of these objects. */
const holders = new WeakMap<object, Map<string, JsonText>>();

/** The texts that `jsonOf` has encountered; undefined while it is not running. */
let met: string[] | undefined;

/** The placeholder for a text until `jsonOf` inserts it. */
const PLACE = 'json-text: here';

/** Sets a key of an object. A text is parsed when the key is first read. */
export function put(object: object, key: string, value: Json | JsonText): void {
  const texts = holders.get(object);
  if (value instanceof JsonText) {
    if (texts === undefined) holders.set(object, new Map([[key, value]]));
    else texts.set(key, value);
    const get = (): Json => {
      if (met === undefined) return value.value;
      met.push(value.text);
      return PLACE;
    };
    Object.defineProperty(object, key, { get, enumerable: true, configurable: true });
  } else if (texts?.delete(key) === true) {
    // Not deleted first, so that it keeps its position among the keys.
    const property = { value, writable: true, enumerable: true, configurable: true };
    Object.defineProperty(object, key, property);
  } else {
    (object as JsonObject)[key] = value;
  }
}

/** The texts of an object, by key; undefined if it never had one. */
export const textsOf = (object: object): ReadonlyMap<string, JsonText> | undefined =>
  holders.get(object);

/** An object with the keys of both; the second wins. Texts stay texts, while spreading one would parse it. */
export function joined<One extends object, Other extends object>(
  one: One,
  other: Other,
): One & Other {
  const object = Object.create(null) as One & Other;
  for (const part of [one, other]) {
    const texts = textsOf(part);
    for (const [key, value] of Object.entries(Object.getOwnPropertyDescriptors(part))) {
      put(object, key, texts?.get(key) ?? (value.value as Json));
    }
  }
  return object;
}

/** The value of an own property. No getter runs, except that of a text. */
export function ownValue(object: object, key: string | number): unknown {
  if (!holders.has(object)) return Object.getOwnPropertyDescriptor(object, key)?.value;
  return Object.hasOwn(object, key) ? (object as Record<string | number, unknown>)[key] : undefined;
}

/** A value as JSON. Texts in it are inserted without being parsed. */
export function jsonOf(value: unknown): string {
  const texts = (met = [] as string[]);
  let outline: string;
  try {
    outline = JSON.stringify(value);
  } finally {
    met = undefined;
  }
  const parts = outline.split(`"${PLACE}"`);
  // A value may equal the placeholder. Then the positions are unknown.
  if (parts.length !== texts.length + 1) return JSON.stringify(value);
  return parts.map((part, at) => part + (texts[at] ?? '')).join('');
}

import type { Json, JsonObject } from '../json.ts';

/**
 * The output of a step as JSON, which is parsed when it is first read: it can be megabytes, and most steps read few of the
 * outputs before them. `parsed` receives its length then.
 */
export class JsonText {
  readonly text: string;
  readonly #parsed: (characters: number) => void;
  #value: Json | undefined;

  constructor(text: string, parsed: (characters: number) => void) {
    this.text = text;
    this.#parsed = parsed;
  }

  get value(): Json {
    if (this.#value === undefined) {
      this.#value = JSON.parse(this.text) as Json;
      this.#parsed(this.text.length);
    }
    return this.#value;
  }
}

const reads = new WeakSet<() => unknown>();

/** Defines a key of a state, or defines it again in its place: its value is parsed when it is first read. */
export function defineText(values: JsonObject, key: string, text: JsonText): void {
  const get = () => text.value;
  reads.add(get);
  Object.defineProperty(values, key, { get, enumerable: true, configurable: true });
}

/** A state of the keys of all parts; the last part wins. Texts stay texts: to spread one would parse it. */
export function joined(...parts: readonly JsonObject[]): JsonObject {
  const state = Object.create(null) as JsonObject;
  for (const part of parts) Object.defineProperties(state, Object.getOwnPropertyDescriptors(part));
  return state;
}

/** The value of an own property. No getter runs, except that of a text. */
export function ownValue(object: object, key: string | number): unknown {
  const property = Object.getOwnPropertyDescriptor(object, key);
  if (property?.get === undefined) return property?.value;
  return reads.has(property.get) ? property.get() : undefined;
}

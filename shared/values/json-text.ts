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

/** The states that have texts: all their getters are of this file. */
const states = new WeakSet<object>();

/** Defines a key of a state, or defines it again in its place: its value is parsed when it is first read. */
export function defineText(state: JsonObject, key: string, text: JsonText): void {
  states.add(state);
  Object.defineProperty(state, key, {
    get: () => text.value,
    enumerable: true,
    configurable: true,
  });
}

/** A state of the keys of all parts; the last part wins. Texts stay texts: to spread one would parse it. */
export function joined(...parts: readonly JsonObject[]): JsonObject {
  const state = Object.create(null) as JsonObject;
  for (const part of parts) Object.defineProperties(state, Object.getOwnPropertyDescriptors(part));
  states.add(state);
  return state;
}

/** The value of an own property. No getter runs, except that of a text in a state. */
export function ownValue(object: object, key: string | number): unknown {
  if (!states.has(object)) return Object.getOwnPropertyDescriptor(object, key)?.value;
  return Object.hasOwn(object, key) ? (object as Record<string | number, unknown>)[key] : undefined;
}

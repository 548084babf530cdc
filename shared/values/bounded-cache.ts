/** A map of at most `size` entries: what was set last stays, and what was set longest ago is forgotten. */
export class BoundedMap<Key, Value> extends Map<Key, Value> {
  readonly #bound: number;

  constructor(size: number) {
    super();
    this.#bound = size;
  }

  override set(key: Key, value: Value): this {
    // Deleted and set again, the key stands last: a Map keeps the order of insertion.
    this.delete(key);
    super.set(key, value);
    if (this.size > this.#bound) this.delete(this.keys().next().value!);
    return this;
  }
}

/**
 * Remembers what `make` gave for the last `size` keys that were asked for; what throws is not remembered.
 * It changes when something is computed, never what comes out, so determinism does not suffer.
 */
export function createBoundedCache<Key, Value extends NonNullable<unknown>>(
  size: number,
): (key: Key, make: () => Value) => Value {
  const entries = new BoundedMap<Key, Value>(size);
  return (key, make) => {
    const value = entries.get(key) ?? make();
    entries.set(key, value);
    return value;
  };
}

/** A map of at most `size` entries. Evicts the entry that was set longest ago. */
export class BoundedMap<Key, Value> extends Map<Key, Value> {
  readonly #bound: number;

  constructor(size: number) {
    super();
    this.#bound = size;
  }

  override set(key: Key, value: Value): this {
    // A Map keeps the order of insertion; deleting the key first moves it to the end.
    this.delete(key);
    super.set(key, value);
    if (this.size > this.#bound) this.delete(this.keys().next().value!);
    return this;
  }
}

/**
 * Caches the results of `make` for the `size` most recently used keys. Errors are not cached. Safe in workflow code,
 * because a cached result equals a computed one.
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

/**
 * Remembers what `make` gave for the last `size` keys that were asked for; what throws is not remembered.
 * It changes when something is computed, never what comes out, so determinism does not suffer.
 */
export function createBoundedCache<Key, Value extends NonNullable<unknown>>(
  size: number,
): (key: Key, make: () => Value) => Value {
  const entries = new Map<Key, Value>();
  return (key, make) => {
    const value = entries.get(key) ?? make();
    // Deleted and set again, the key stands last: a Map forgets in the order of insertion.
    entries.delete(key);
    entries.set(key, value);
    if (entries.size > size) entries.delete(entries.keys().next().value!);
    return value;
  };
}

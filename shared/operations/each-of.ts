/** Calls `act` with each item, `atOnce` of them concurrently. Returns the results in order. */
export async function eachOf<T, R>(
  items: readonly T[],
  atOnce: number,
  act: (item: T) => Promise<R>,
): Promise<R[]> {
  const results: R[] = [];
  for (let at = 0; at < items.length; at += atOnce) {
    results.push(...(await Promise.all(items.slice(at, at + atOnce).map(act))));
  }
  return results;
}

/** Seconds since the given `performance.now()`, formatted. */
export function since(start: number): string {
  return `${((performance.now() - start) / 1_000).toFixed(1)} s`;
}

export function messageOf(error: unknown): string {
  return error instanceof Error ? error.message : String(error);
}

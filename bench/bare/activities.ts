/** Returns the time it ran at, in fractional milliseconds since 1970, to measure round trips from outside. */
export async function nothing(): Promise<number> {
  return performance.timeOrigin + performance.now();
}

export interface BareActivities {
  nothing: typeof nothing;
}

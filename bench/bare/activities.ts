/** Returns when it ran, in milliseconds since 1970 with a fraction, to measure round trips from outside. */
export async function nothing(): Promise<number> {
  return performance.timeOrigin + performance.now();
}

export interface BareActivities {
  nothing: typeof nothing;
}

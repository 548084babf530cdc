/** Says when it ran, in milliseconds since 1970 with a fraction, so that round trips can be told from the outside. */
export async function nothing(): Promise<number> {
  return performance.timeOrigin + performance.now();
}

export interface BareActivities {
  nothing: typeof nothing;
}

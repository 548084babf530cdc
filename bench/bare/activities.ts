/** Returns the time it ran at, in fractional milliseconds since 1970, to measure round trips from outside. */
export async function nothing(): Promise<number> {
  return performance.timeOrigin + performance.now();
}

/** One request, as in a step with a model or a tool. */
export async function post(url: string): Promise<void> {
  const headers = { 'content-type': 'application/json' };
  const response = await fetch(url, { method: 'POST', headers, body: '{"body":{"n":1}}' });
  await response.text();
}

export interface BareActivities {
  nothing: typeof nothing;
  post: typeof post;
}

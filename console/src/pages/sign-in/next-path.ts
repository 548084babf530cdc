/**
 * The page after sign-in, from the `next` parameter: a path of this origin, or else the first page. Anyone can craft a
 * URL, so a target on another origin, in any spelling, is ignored.
 */
export function nextPath(next: string | undefined, origin: string): string {
  if (next?.startsWith('/') !== true || !URL.canParse(next, origin)) return '/';
  const url = new URL(next, origin);
  const path = url.pathname + url.search + url.hash;
  // A path that starts with two slashes would resolve to another host.
  if (url.origin !== origin || path.startsWith('//')) return '/';
  return url.pathname === '/login' ? '/' : path;
}

/**
 * Where to go after signing in, as the `next` of an address says: a path of this origin, or else the first page.
 * Addresses are made up by anybody, so what leads elsewhere, however it is spelled, does not count.
 */
export function nextPath(next: string | undefined, origin: string): string {
  if (next?.startsWith('/') !== true || !URL.canParse(next, origin)) return '/';
  const url = new URL(next, origin);
  const path = url.pathname + url.search + url.hash;
  // A path that begins with two slashes is another host to whoever resolves it again.
  if (url.origin !== origin || path.startsWith('//')) return '/';
  return url.pathname === '/login' ? '/' : path;
}

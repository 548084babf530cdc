import type { FastifyInstance } from 'fastify';

/** The HTTP methods of a path; empty for an unknown path. */
export type MethodsOf = (path: string) => string[];

/** Collects the methods of each address from all routes that are registered after this call. */
export function learnMethods(app: FastifyInstance): MethodsOf {
  const byPattern = new Map<string, Set<string>>();
  app.addHook('onRoute', ({ url, method }) => {
    const methods = byPattern.get(url) ?? new Set<string>();
    byPattern.set(url, methods);
    for (const each of [method].flat()) methods.add(each);
  });
  let routes: { pattern: RegExp; methods: Set<string> }[] | undefined;
  return (path) => {
    routes ??= [...byPattern]
      // A catch-all route is not an address.
      .filter(([url]) => !url.includes('*'))
      .map(([url, methods]) => ({ pattern: patternOf(url), methods }));
    const found = routes.filter(({ pattern }) => pattern.test(path));
    return [...new Set(found.flatMap(({ methods }) => [...methods]))].sort();
  };
}

const patternOf = (url: string): RegExp =>
  new RegExp(
    `^${url
      .split('/')
      .map((part) => (part.startsWith(':') ? '[^/]+' : part.replace(/[.+]/g, '\\$&')))
      .join('/')}$`,
  );

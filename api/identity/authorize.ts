import type { FastifyInstance, RouteOptions } from 'fastify';
import { isConsoleAsset } from '#api/console.ts';
import { isReferencePage } from '#api/http/reference.ts';

/** The app does not start if a route does not declare who can call it. */
export function refuseUndeclaredRoutes(app: FastifyInstance): void {
  app.addHook('onRoute', (route) => {
    if (isPreflight(route)) return;
    if (isReferencePage(route) || isConsoleAsset(route)) {
      route.config = { ...route.config, capability: 'public' };
      return;
    }
    if (accessOf(route) === undefined) {
      throw new Error(`Route ${String(route.method)} ${route.url} declares no capability or scope`);
    }
    if (route.schema?.response === undefined) {
      throw new Error(`Route ${String(route.method)} ${route.url} declares no response`);
    }
  });
}

/** The permission or scope that the route requires, as its API calls it. */
const accessOf = ({ url, config }: RouteOptions): string | undefined =>
  url.startsWith('/v1/') && config?.capability !== 'public' ? config?.scope : config?.capability;

/** The only route that the CORS plugin adds: it answers preflight requests. */
const isPreflight = (route: RouteOptions): boolean =>
  route.method === 'OPTIONS' && route.url === '*';

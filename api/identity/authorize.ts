import type { FastifyInstance, RouteOptions } from 'fastify';
import { isConsoleAsset } from '../console.ts';
import { isReferencePage } from '../http/reference.ts';

/** A route that does not say who may call it keeps the app from starting. */
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

/** What the route asks of its callers, in the words of its surface: those of the other nobody would look at. */
const accessOf = ({ url, config }: RouteOptions): string | undefined =>
  url.startsWith('/v1/') && config?.capability !== 'public' ? config?.scope : config?.capability;

/** The one route that the CORS plugin adds: it answers what a browser asks before it sends the real request. */
const isPreflight = (route: RouteOptions): boolean =>
  route.method === 'OPTIONS' && route.url === '*';

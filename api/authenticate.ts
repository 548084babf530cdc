import type { IncomingHttpHeaders } from 'node:http';
import type { FastifyInstance } from 'fastify';
import type { Actor } from '../shared/actor.ts';
import { readDefaultOwner } from '../shared/db/workspaces.ts';
import { AppError } from '../shared/errors.ts';
import { authorize } from './authorize.ts';
import type { ApiDeps, RouteContext } from './deps.ts';

/** How long the owner is remembered: open mode asks for it on every request, and it hardly ever changes. */
const OWNER_TTL_MS = 1_000;

export type FindActor = (presented: boolean) => Promise<Actor>;

/** Whether the request brings a credential in its headers. */
export const presentsCredential = (headers: IncomingHttpHeaders): boolean =>
  headers['x-api-key'] !== undefined || headers.authorization !== undefined;

/** Resolves who asks, and refuses who may not, before a byte of the body is read. */
export function authenticate(app: FastifyInstance, context: RouteContext): void {
  app.decorateRequest('actor');
  app.addHook('onRequest', async (request) => {
    const { capability } = request.routeOptions.config;
    // A stream is refused with a close code, so its route judges for itself.
    if (capability === undefined || capability === 'public' || request.ws) return;
    refuseForeignOrigin(request.headers, context);
    request.actor = await context.findActor(presentsCredential(request.headers));
    authorize(request.actor, capability);
  });
}

/**
 * Who stands behind a request. Without a credential that is the owner in open mode and nobody otherwise. No
 * credential can be valid while none can be issued, so a presented one is refused in both modes.
 * Throws AppError `unauthenticated`.
 */
export function actorFinder(deps: Pick<ApiDeps, 'db' | 'config'>): FindActor {
  let known: { actor: Promise<Actor>; until: number } | undefined;
  return async (presented) => {
    if (presented) throw new AppError('unauthenticated', 'The credential is invalid or revoked');
    if (deps.config.auth.mode !== 'open') {
      throw new AppError('unauthenticated', 'Authentication required');
    }
    if (known === undefined || known.until < Date.now()) {
      const actor = findOwner(deps);
      known = { actor, until: Date.now() + OWNER_TTL_MS };
      actor.catch(() => {
        known = undefined;
      });
    }
    return known.actor;
  };
}

async function findOwner({ db }: Pick<ApiDeps, 'db'>): Promise<Actor> {
  const owner = await readDefaultOwner(db);
  if (owner === undefined) throw new AppError('unavailable', 'The workspace is not set up yet');
  return owner;
}

/**
 * In open mode the network position is the credential, and a browser lends it to any page. Pages of other origins
 * are kept from acting by this; CORS alone lets requests without a body through.
 */
export function refuseForeignOrigin(
  headers: IncomingHttpHeaders,
  deps: Pick<ApiDeps, 'config'>,
): void {
  const { origin, host } = headers;
  if (origin === undefined || deps.config.auth.mode !== 'open') return;
  const { corsOrigins, publicUrl } = deps.config.api;
  if (corsOrigins.includes(origin) || origin === new URL(publicUrl).origin) return;
  if (URL.canParse(origin) && new URL(origin).host === host) return;
  throw new AppError('forbidden', 'Requests from this origin are not allowed');
}

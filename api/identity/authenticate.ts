import type { IncomingHttpHeaders } from 'node:http';
import type { FastifyInstance } from 'fastify';
import { type Actor, requireCapability, type SignedIn } from '#shared/people/actor.ts';
import { API_KEY_PREFIX } from '#shared/contract/people/api-key.ts';
import {
  findKeyHolder,
  findSessionHolders,
  findTokenHolder,
} from '#shared/db/people/credentials.ts';
import { readDefaultOwner } from '#shared/db/people/workspaces.ts';
import { AppError } from '#shared/errors.ts';
import { hashApiKeySecret } from '#shared/crypto/api-key-secrets.ts';
import { hashAuthorizationSecret, isAccessToken } from '#shared/crypto/authorization-tokens.ts';
import { authorizationServerOf } from '#shared/operations/authorizations/server.ts';
import { isAddress, isKnownHost } from '#shared/platform/egress/known-host.ts';
import type { SessionTokens } from '#shared/platform/secrets/session-tokens.ts';
import type { ApiDeps, Authenticator, Caller, RouteContext } from '#api/deps.ts';
import { authenticateStreamToken } from '#api/stream/credentials.ts';
import type { KeyUses } from './key-uses.ts';

/** How long the owner is cached. Open mode reads it on every request, and it rarely changes. */
const OWNER_TTL_MS = 1_000;
/** The service's own tokens are a quarter of this length. */
const MAX_KEY_LENGTH = 200;

const required = () => new AppError('unauthenticated', 'Authentication required');
const invalid = () => new AppError('unauthenticated', 'The credential is invalid or revoked');

/** Authenticates and authorizes a request before its body is read. */
export function authenticate(app: FastifyInstance, context: RouteContext): void {
  app.decorateRequest('actor');
  app.decorateRequest('credential');
  // Nearly all requests use the same host name, so it is parsed only once.
  let knownHost: string | undefined;
  app.addHook('onRequest', async (request, reply) => {
    const { capability, also = [], tokens = false, stream = false } = request.routeOptions.config;
    // A stream is refused with a close code, so its route decides.
    if (capability === undefined || capability === 'public' || request.ws) return;
    if (stream && (await authenticateStreamToken(request, reply, context))) return;
    refuseForeignOrigin(request.headers, context);
    const { actor, credential } = await context.authenticator.identify(request.raw, {
      tokens,
    });
    request.actor = actor;
    request.credential = credential;
    if (credential.kind === 'none' && request.headers.host !== knownHost) {
      requireKnownHost(request.headers, context);
      knownHost = request.headers.host;
    }
    if (capability === 'authenticated') return;
    for (const needed of [capability, ...also]) requireCapability(actor, needed);
  });
}

/**
 * Authenticates the caller: the holder of the key in `X-API-Key`, or else of the token in `Authorization`, or else, in open
 * mode, the owner. Both modes refuse an invalid credential, and a repeated header, because it is
 * ambiguous which value counts.
 */
export function createAuthenticator(
  deps: Pick<ApiDeps, 'db' | 'config'> & {
    tokens: SessionTokens;
    keyUses: KeyUses;
    authorizationUses: KeyUses;
  },
): Authenticator {
  const { db, config, tokens, keyUses } = deps;
  const identifyClient = identifiesClients(deps);
  let owner: { actor: Promise<Actor>; until: number } | undefined;

  const identifyKey = async (secret: string): Promise<Caller> => {
    if (!secret.startsWith(API_KEY_PREFIX) || secret.length > MAX_KEY_LENGTH) throw invalid();
    const holder = await findKeyHolder(db, hashApiKeySecret(secret));
    if (holder === undefined) throw invalid();
    keyUses.note(holder.keyId);
    const actor = signedIn(holder.actor, { by: 'api_key', key_id: holder.keyId });
    return { actor, credential: { kind: 'api_key', keyId: holder.keyId } };
  };

  const identifySession = async (token: string): Promise<Caller> => {
    const session = await tokens.verify(token);
    if (session === undefined) throw invalid();
    const holder = (await findSessionHolders(db, [session.memberId])).get(session.memberId);
    if (holder?.epoch !== session.epoch) throw invalid();
    return {
      actor: signedIn(holder.actor, { by: 'session' }),
      credential: { kind: 'session', session },
    };
  };

  const identifyNobody = async (): Promise<Caller> => {
    if (config.auth.mode !== 'open') throw required();
    if (owner === undefined || owner.until < Date.now()) {
      const actor = findOwner(deps);
      owner = { actor, until: Date.now() + OWNER_TTL_MS };
      actor.catch(() => {
        owner = undefined;
      });
    }
    return { actor: signedIn(await owner.actor, { by: 'none' }), credential: { kind: 'none' } };
  };

  return {
    identifySession,
    identifyNobody,
    identify: async ({ headers, rawHeaders }, accepted) => {
      const key = headers['x-api-key'];
      if (key !== undefined) {
        if (typeof key !== 'string' || isRepeated(rawHeaders, 'x-api-key')) throw invalid();
        return identifyKey(key);
      }
      const { authorization } = headers;
      if (authorization === undefined) return identifyNobody();
      const token = /^Bearer +(\S+)$/i.exec(authorization)?.[1];
      if (token === undefined || isRepeated(rawHeaders, 'authorization')) throw invalid();
      return accepted?.tokens === true && isAccessToken(token)
        ? identifyClient(token)
        : identifySession(token);
    },
  };
}

/** Finds the member behind an access token of the authorization server, with what they granted to its client. */
function identifiesClients({
  db,
  config,
  authorizationUses,
}: Pick<ApiDeps, 'db' | 'config'> & { authorizationUses: KeyUses }) {
  const { resource } = authorizationServerOf(config);
  return async (token: string): Promise<Caller> => {
    if (token.length > MAX_KEY_LENGTH) throw invalid();
    const holder = await findTokenHolder(db, hashAuthorizationSecret(token), resource);
    if (holder === undefined) throw invalid();
    const { authorizationId, client } = holder;
    authorizationUses.note(authorizationId);
    const how: SignedIn = { by: 'authorization', authorization_id: authorizationId, client };
    return {
      actor: signedIn(holder.actor, how),
      credential: { kind: 'authorization', authorizationId },
    };
  };
}

const signedIn = (actor: Actor, how: SignedIn): Actor => ({ ...actor, signedIn: how });

/** Whether a header was sent twice. Node keeps the first of the two and silently drops the other. */
export function isRepeated(rawHeaders: readonly string[], name: string): boolean {
  let seen = 0;
  for (let at = 0; at < rawHeaders.length; at += 2) {
    if (rawHeaders[at]?.toLowerCase() === name) seen += 1;
  }
  return seen > 1;
}

async function findOwner({ db }: Pick<ApiDeps, 'db'>): Promise<Actor> {
  const owner = await readDefaultOwner(db);
  if (owner === undefined) throw new AppError('unavailable', 'The workspace is not set up yet');
  return owner;
}

/**
 * In open mode, network access is the credential, and a browser lends it to any page. This refuses pages of other
 * origins, because CORS alone would let requests without a body through.
 */
function refuseForeignOrigin(headers: IncomingHttpHeaders, deps: Pick<ApiDeps, 'config'>): void {
  if (deps.config.auth.mode === 'open') requireKnownOrigin(headers, deps);
}

/** Throws AppError `forbidden` for a host name that another party may own; see `isKnownHost`. */
function requireKnownHost(
  { host }: IncomingHttpHeaders,
  { config }: Pick<ApiDeps, 'config'>,
): void {
  if (isKnownHost(host, config.api.publicUrl)) return;
  throw new AppError(
    'forbidden',
    'Requests by this host name are not allowed without a credential: set PUBLIC_URL to it',
  );
}

/** Throws AppError `forbidden` for a page whose origin is neither the service's own nor in `CORS_ORIGINS`. */
export function requireKnownOrigin(
  { origin, host }: IncomingHttpHeaders,
  { config }: Pick<ApiDeps, 'config'>,
): void {
  if (origin === undefined) return;
  const { corsOrigins, publicUrl } = config.api;
  if (corsOrigins.includes(origin) || origin === new URL(publicUrl).origin) return;
  if (URL.canParse(origin)) {
    const page = new URL(origin);
    // Without a credential, a page whose DNS name points at this machine would count as the service's own.
    const isOwn = config.auth.mode === 'required' || isAddress(page.hostname);
    if (page.host === host && isOwn) return;
  }
  throw new AppError('forbidden', 'Requests from this origin are not allowed');
}

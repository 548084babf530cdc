import type { FastifyReply, FastifyRequest } from 'fastify';
import { requireCapability } from '#shared/people/actor.ts';
import { AppError } from '#shared/errors.ts';
import type { StreamTokenMinter } from '#shared/platform/secrets/stream-tokens.ts';
import type { Caller, RouteContext } from '#api/deps.ts';
import type { StreamReader } from './reader.ts';
import { readActors } from './session-watch.ts';

type Deps = Pick<RouteContext, 'db' | 'authenticator' | 'streamTokens'>;

const invalid = () => new AppError('unauthenticated', 'The stream token is invalid or expired');

/**
 * The reader with a stream token for this run, with what its creator can do now; undefined for other credentials. Throws
 * AppError `unauthenticated` for a token of another run or of a creator without access, `forbidden` without `view`.
 */
export async function readerByStreamToken(
  { db, authenticator, streamTokens }: Deps,
  token: string,
  runId: string | undefined,
): Promise<StreamReader | undefined> {
  const grant = await streamTokens.verify(token);
  if (grant === undefined) return undefined;
  const { minter, expiresAt } = grant;
  if (grant.runId !== runId) throw invalid();
  const actor =
    minter.kind === 'none'
      ? (await authenticator.identifyNobody()).actor
      : (await readActors(db, [minter]))(minter);
  if (actor === undefined) throw invalid();
  requireCapability(actor, 'view');
  return { actor, watched: { by: minter, expiresAt }, memberId: undefined };
}

/** The reader with any other credential. */
export function readerOf({ actor, credential }: Caller): StreamReader {
  return {
    actor,
    watched: {
      by: minterOf(credential),
      expiresAt: credential.kind === 'session' ? credential.session.expiresAt : undefined,
    },
    memberId: credential.kind === 'session' ? credential.session.memberId : undefined,
  };
}

/** What a stream token of this caller depends on. Throws AppError `forbidden` for tokens of other clients. */
export function minterOf(credential: Caller['credential']): StreamTokenMinter {
  if (credential.kind === 'session') {
    const { memberId, epoch } = credential.session;
    return { kind: 'session', memberId, epoch };
  }
  if (credential.kind === 'api_key') return { kind: 'api_key', keyId: credential.keyId };
  if (credential.kind === 'none') return { kind: 'none' };
  throw new AppError('forbidden', 'This credential does not open streams');
}

/**
 * Authenticates a plain request for the events of a run by its stream token, in the query or in `Authorization`. Returns
 * false if it has none. Any page can read the answer to a token in the query: the page has the token, and browsers add
 * no credential of their own. Throws AppError `unauthenticated`, `forbidden`.
 */
export async function authenticateStreamToken(
  request: FastifyRequest,
  reply: FastifyReply,
  deps: Deps,
): Promise<boolean> {
  const { headers, params, query } = request as FastifyRequest<{
    Params: { id?: string };
    Querystring: { token?: unknown };
  }>;
  if (params.id === undefined) return false;
  const { token } = query;
  const bearer = /^Bearer +(\S+)$/i.exec(headers.authorization ?? '')?.[1];
  const hasKey = headers['x-api-key'] !== undefined;
  if (token === undefined) {
    if (hasKey || bearer === undefined) return false;
  } else {
    reply.header('access-control-allow-origin', '*');
    if (hasKey || headers.authorization !== undefined || typeof token !== 'string') throw invalid();
  }
  const given = token === undefined ? bearer : token;
  const reader = await readerByStreamToken(deps, String(given), params.id);
  if (reader === undefined) {
    if (token === undefined) return false;
    throw invalid();
  }
  request.streamReader = reader;
  request.actor = reader.actor;
  return true;
}

import { createHash, randomBytes } from 'node:crypto';
import { type Actor, requireCapability } from '#shared/people/actor.ts';
import type { SignInProblem } from '#shared/contract/connections/connection.ts';
import { presetOf } from '#shared/contract/connections/presets.ts';
import { newId } from '#shared/crypto/ids.ts';
import { SealError } from '#shared/crypto/sealing.ts';
import {
  type ConnectionSettings,
  readConnectionSettings,
} from '#shared/db/connections/connections.ts';
import {
  beginSignIn,
  type TakenSignIn,
  takeSignIn,
  verifierPlace,
} from '#shared/db/connections/sign-ins.ts';
import { deleteTokens, storeSignIn, tokenPlace } from '#shared/db/connections/tokens.ts';
import { findSessionHolders } from '#shared/db/people/credentials.ts';
import { AppError, conflict } from '#shared/errors.ts';
import { NodeError } from '#shared/node-error.ts';
import {
  asksForIdToken,
  exchangeCode,
  newVerifier,
  TokenError,
} from '#shared/platform/calls/oauth.ts';
import { callbackUrl } from '#shared/values/connection-callback.ts';
import type { ConnectionDeps } from './connections.ts';
import { clientOf } from './tokens.ts';

/** A sign-in that has begun: where the browser goes, and what it has to bring back in a cookie. */
export interface SignIn {
  id: string;
  authorizationUrl: string;
  cookie: string;
}

const hashOf = (text: string): Buffer => createHash('sha256').update(text).digest();
const randomSecret = (): string => randomBytes(32).toString('base64url');

/**
 * Throws AppError `forbidden` if the actor may not sign in to or out of this connection. Everyone who runs workflows has
 * accounts of their own; that of the workspace is managed like its secrets. A key is no person.
 */
function requireSignIn(actor: Actor, { owner }: Pick<ConnectionSettings, 'owner'>): string {
  requireCapability(actor, owner === 'member' ? 'run_workflows' : 'manage_workspace');
  if (actor.id === null || actor.signedIn?.by === 'api_key') {
    throw new AppError('forbidden', 'Only a member who is signed in can do this, not an API key');
  }
  return actor.id;
}

/**
 * Begins a sign-in. The state, the verifier (PKCE) and the nonce are stored for ten minutes. Throws AppError
 * `not_found`, `forbidden`, and `conflict` for a connection of a program and when there are too many.
 */
export async function startSignIn(
  deps: ConnectionDeps,
  actor: Actor,
  connectionId: string,
): Promise<SignIn> {
  const { db, sealer, config } = deps;
  const { workspaceId } = actor;
  const connection = await readConnectionSettings(db, { workspaceId, connectionId });
  const memberId = requireSignIn(actor, connection);
  const { authorization_url } = connection;
  if (authorization_url === null) throw conflict('Nobody signs in to this connection');
  if (sealer === undefined) throw conflict('ENCRYPTION_KEY is not set on this service');
  const id = newId('signIn');
  const [state, cookie, nonce] = [`${id}.${randomSecret()}`, randomSecret(), randomSecret()];
  const { verifier, challenge } = await newVerifier();
  const redirectUri = callbackUrl(config.api.publicUrl, {
    id: connectionId,
    namesIssuer: connection.names_issuer,
  });
  await beginSignIn(db, {
    ...{ id, workspaceId, connectionId, memberId, nonce, redirectUri },
    revision: connection.revision,
    stateHash: hashOf(state),
    cookieHash: hashOf(cookie),
    sealedVerifier: sealer.seal(verifier, verifierPlace(workspaceId, id)),
  });
  const url = new URL(authorization_url);
  const separator = presetOf(connection.preset)?.scope_separator ?? ' ';
  const params = {
    ...connection.authorization_params,
    response_type: 'code',
    client_id: connection.client_id,
    redirect_uri: redirectUri,
    ...(connection.scopes.length === 0 ? {} : { scope: connection.scopes.join(separator) }),
    state,
    code_challenge: challenge,
    code_challenge_method: 'S256',
    ...(asksForIdToken(connection) ? { nonce } : {}),
    ...(connection.resource === null ? {} : { resource: connection.resource }),
  };
  for (const [name, value] of Object.entries(params)) url.searchParams.set(name, value);
  return { id, authorizationUrl: url.href, cookie };
}

/** What a browser brings back. */
export interface Callback {
  state: string | undefined;
  code: string | undefined;
  error: string | undefined;
  iss: string | undefined;
  /** The connection in the path; undefined at the address that issuers share. */
  connectionId: string | undefined;
  /** The value of the cookie of a sign-in. */
  cookieOf: (signInId: string) => string | undefined;
}

/** How a sign-in ended, for the page that shows it. */
export interface SignInResult {
  /** Undefined if the sign-in is unknown. */
  signInId?: string;
  connectionId?: string;
  problem?: SignInProblem;
}

/**
 * Ends a sign-in: takes it, once, with its state and cookie; turns the code into tokens at the token endpoint of its own
 * connection; and stores them. Never throws for what the browser or the service has sent.
 */
export async function endSignIn(deps: ConnectionDeps, callback: Callback): Promise<SignInResult> {
  const { state = '' } = callback;
  const signInId = state.slice(0, Math.max(0, state.indexOf('.')));
  const cookie = signInId === '' ? undefined : callback.cookieOf(signInId);
  if (cookie === undefined) return { problem: 'expired' };
  const taken = await takeSignIn(deps.db, {
    id: signInId,
    stateHash: hashOf(state),
    cookieHash: hashOf(cookie),
  });
  if (taken === undefined) return { problem: 'expired' };
  const { connection_id: connectionId } = taken;
  const problem = await finish(deps, taken, signInId, callback);
  return { signInId, connectionId, ...(problem === undefined ? {} : { problem }) };
}

async function finish(
  deps: ConnectionDeps,
  taken: TakenSignIn,
  signInId: string,
  callback: Callback,
): Promise<SignInProblem | undefined> {
  const { workspace_id: workspaceId, connection_id: connectionId } = taken;
  const connection = await readSettings(deps, { workspaceId, connectionId });
  if (connection?.revision !== taken.revision) return 'changed';
  if (isOfAnother(connection, callback)) return 'issuer';
  const holder = (await findSessionHolders(deps.db, [taken.member_id])).get(taken.member_id);
  if (holder === undefined) return 'forbidden';
  const { actor } = holder;
  try {
    requireSignIn(actor, connection);
  } catch (error) {
    if (error instanceof AppError) return 'forbidden';
    throw error;
  }
  const { code } = callback;
  if (callback.error !== undefined || code === undefined) return 'denied';
  const { sealer } = deps;
  if (sealer === undefined) return 'unavailable';
  try {
    const client = clientOf(deps, { workspaceId, connectionId }, connection);
    const verifier = sealer.open(taken.sealed_verifier, verifierPlace(workspaceId, signInId));
    const { nonce, redirect_uri: redirectUri } = taken;
    const issued = await exchangeCode(deps.egress, client, { code, redirectUri, verifier, nonce });
    const memberId = connection.owner === 'member' ? taken.member_id : null;
    const place = { workspaceId, connectionId, memberId };
    const { expiresIn, scopes, teamId } = issued;
    const access = sealer.seal(issued.access, tokenPlace(place, 'access'));
    const refresh =
      issued.refresh === undefined
        ? undefined
        : sealer.seal(issued.refresh, tokenPlace(place, 'refresh'));
    const signer = { workspaceId, id: taken.member_id, name: actor.name };
    const stored = await storeSignIn(deps.db, signer, connection, {
      ...{ access, refresh, expiresIn },
      ...{ scopes, teamId },
    });
    return stored ? undefined : 'changed';
  } catch (error) {
    if (error instanceof TokenError) {
      return error.reason === 'temporary' ? 'unavailable' : 'refused';
    }
    if (error instanceof SealError || error instanceof NodeError) return 'unavailable';
    throw error;
  }
}

/**
 * Whether another service has sent the browser here than the one of this sign-in. An issuer that names itself must do so;
 * others have an address of their own.
 */
function isOfAnother(
  { id, issuer, names_issuer }: ConnectionSettings,
  { iss, connectionId }: Callback,
): boolean {
  if (connectionId !== (names_issuer ? undefined : id)) return true;
  return names_issuer ? iss !== issuer : iss !== undefined && issuer !== null && iss !== issuer;
}

async function readSettings(
  { db }: ConnectionDeps,
  scope: { workspaceId: string; connectionId: string },
): Promise<ConnectionSettings | undefined> {
  try {
    return await readConnectionSettings(db, scope);
  } catch (error) {
    if (error instanceof AppError && error.code === 'not_found') return undefined;
    throw error;
  }
}

/**
 * Deletes the tokens of the workspace, or the caller's own if members own the connection. The service that issued them
 * may still accept them. Throws AppError `not_found` and `forbidden`.
 */
export async function signOut(
  { db }: Pick<ConnectionDeps, 'db'>,
  actor: Actor,
  connectionId: string,
): Promise<void> {
  const { workspaceId } = actor;
  const { owner } = await readConnectionSettings(db, { workspaceId, connectionId });
  if (owner === 'member') {
    await deleteTokens(db, actor, { connectionId, memberId: requireSignIn(actor, { owner }) });
    return;
  }
  requireCapability(actor, 'manage_workspace');
  await deleteTokens(db, actor, { connectionId, memberId: null });
}

import * as oauth from 'oauth4webapi';
import type { clientAuths } from '#shared/contract/connections/presets.ts';
import { messageOf } from '#shared/errors.ts';
import { isObject } from '#shared/graph/json-value.ts';
import { parsedJson } from '#shared/json.ts';
import { type Egress, EgressError, findEgressError } from '#shared/platform/egress/egress.ts';
import { withEffects } from '#shared/platform/egress/effects.ts';
import { isRetryableStatus } from './outside.ts';

/** For a request to an authorization server, from the first byte sent to the last one read. */
const TIMEOUT_MS = 10_000;
const MAX_ANSWER_BYTES = 1_048_576;

/** How far the clocks of services may differ, for the end of an ID token. Access tokens say how long they last. */
const CLOCK_SECONDS = 300;

/** A header must be able to carry it, and the cutter to recognize it. */
const TOKEN = /^[\x21-\x7e]{8,12000}$/;

/**
 * Why there is no token. `grant`: the person has to sign in again; `temporary`: the same request can succeed later;
 * `refused`: the settings of the connection or of the service have to be changed.
 */
export class TokenError extends Error {
  override readonly name = 'TokenError';
  readonly reason: 'grant' | 'temporary' | 'refused';

  constructor(reason: TokenError['reason'], message: string, options?: ErrorOptions) {
    super(message, options);
    this.reason = reason;
  }
}

/** What a token endpoint has to know about this service. */
export interface TokenClient {
  issuer: string | null;
  tokenUrl: string;
  clientId: string;
  clientSecret: string | undefined;
  clientAuth: (typeof clientAuths)[number];
  /** The server that the tokens are for (RFC 8707). */
  resource: string | null;
  scopes: readonly string[];
}

export interface Tokens {
  access: string;
  refresh: string | undefined;
  /** In seconds; undefined when the service does not say. */
  expiresIn: number | undefined;
  /** The scopes that were granted; undefined when the service does not say. */
  scopes: string[] | undefined;
  /** The team whose account it is, at Slack; undefined at other services. */
  teamId: string | undefined;
}

/** The addresses of an authorization server. */
export interface ServerMetadata {
  authorizationUrl: string | undefined;
  tokenUrl: string;
  /** Whether it names itself in its responses (RFC 9207). */
  namesIssuer: boolean;
  /** As it writes itself. */
  issuer: string;
  registrationUrl: string | undefined;
  /** Whether the id of a client can be the URL of a document about it. */
  readsClientDocuments: boolean;
  /** Whether it checks the verifier of a sign-in (PKCE with S256). */
  checksVerifier: boolean;
  /** How clients can prove who they are; undefined if it does not say. */
  clientAuths: readonly string[] | undefined;
  scopes: readonly string[];
}

/**
 * Reads the metadata of an issuer: OpenID Connect Discovery, else RFC 8414. Follows no redirect. Throws TokenError
 * `refused` when it cannot be read, or is that of another issuer.
 */
export async function discoverServer(egress: Egress, issuer: string): Promise<ServerMetadata> {
  let problem: unknown;
  const url = new URL(issuer);
  const options = optionsOf(egress);
  const { origin, pathname } = url;
  const headers = { accept: 'application/json' };
  const requests = [
    () => oauth.discoveryRequest(url, { ...options, algorithm: 'oidc' }),
    () => oauth.discoveryRequest(url, { ...options, algorithm: 'oauth2' }),
    // Some servers insert the path here, too, as with RFC 8414.
    () =>
      options[oauth.customFetch](`${origin}/.well-known/openid-configuration${pathname}`, {
        method: 'GET',
        headers,
      }),
  ];
  for (const request of pathname === '/' ? requests.slice(0, 2) : requests) {
    try {
      return metadataOf(await oauth.processDiscoveryResponse(url, await request()));
    } catch (error) {
      problem ??= error;
    }
  }
  const why = findEgressError(problem)?.message ?? messageOf(problem);
  throw new TokenError('refused', `The metadata of '${issuer}' cannot be used: ${why}`);
}

function metadataOf(server: oauth.AuthorizationServer): ServerMetadata {
  if (server.token_endpoint === undefined) throw new Error('it names no token_endpoint');
  return {
    authorizationUrl: server.authorization_endpoint,
    tokenUrl: server.token_endpoint,
    namesIssuer: server.authorization_response_iss_parameter_supported === true,
    issuer: server.issuer,
    registrationUrl: server.registration_endpoint,
    readsClientDocuments: server['client_id_metadata_document_supported'] === true,
    checksVerifier: textsOf(server.code_challenge_methods_supported)?.includes('S256') === true,
    clientAuths: textsOf(server.token_endpoint_auth_methods_supported),
    scopes: textsOf(server.scopes_supported) ?? [],
  };
}

/** The texts of a list; undefined for anything else. Metadata can have any form. */
const textsOf = (list: unknown): string[] | undefined =>
  Array.isArray(list)
    ? list.filter((each): each is string => typeof each === 'string').slice(0, 1_000)
    : undefined;

/** The verifier of a sign-in (PKCE), and what is sent of it. */
export async function newVerifier(): Promise<{ verifier: string; challenge: string }> {
  const verifier = oauth.generateRandomCodeVerifier();
  return { verifier, challenge: await oauth.calculatePKCECodeChallenge(verifier) };
}

/** An ID token is only sent, and then has to be right, if it was requested and its issuer is known. */
export const asksForIdToken = ({
  issuer,
  scopes,
}: Pick<TokenClient, 'issuer' | 'scopes'>): boolean => issuer !== null && scopes.includes('openid');

/** Turns the code of a sign-in into tokens. Throws TokenError. */
export async function exchangeCode(
  egress: Egress,
  client: TokenClient,
  {
    code,
    redirectUri,
    verifier,
    nonce,
  }: { code: string; redirectUri: string; verifier: string; nonce: string },
): Promise<Tokens> {
  const server = serverOf(client);
  const own = { client_id: client.clientId, [oauth.clockTolerance]: CLOCK_SECONDS };
  // State and issuer have been compared.
  const answered = oauth.validateAuthResponse(
    server,
    own,
    new URLSearchParams({ code }),
    oauth.skipStateCheck,
  );
  const expectsId = asksForIdToken(client);
  return requestTokens(
    client,
    () =>
      oauth.authorizationCodeGrantRequest(
        server,
        own,
        authOf(client),
        answered,
        redirectUri,
        verifier,
        { ...optionsOf(egress), ...resourceOf(client) },
      ),
    (answer) =>
      oauth.processAuthorizationCodeResponse(server, own, answer, {
        expectedNonce: expectsId ? nonce : oauth.expectNoNonce,
      }),
    expectsId,
  );
}

/** New tokens for a refresh token. Throws TokenError. */
export function refreshTokens(
  egress: Egress,
  client: TokenClient,
  refresh: string,
): Promise<Tokens> {
  const server = serverOf(client);
  const own = { client_id: client.clientId };
  return requestTokens(
    client,
    () =>
      oauth.refreshTokenGrantRequest(server, own, authOf(client), refresh, {
        ...optionsOf(egress),
        ...resourceOf(client),
      }),
    (answer) => oauth.processRefreshTokenResponse(server, own, answer),
  );
}

/** A token for the client itself. Throws TokenError. */
export function clientTokens(egress: Egress, client: TokenClient): Promise<Tokens> {
  const server = serverOf(client);
  const own = { client_id: client.clientId };
  const asked = new URLSearchParams();
  if (client.scopes.length > 0) asked.set('scope', client.scopes.join(' '));
  return requestTokens(
    client,
    () =>
      oauth.clientCredentialsGrantRequest(server, own, authOf(client), asked, optionsOf(egress)),
    (answer) => oauth.processClientCredentialsResponse(server, own, answer),
  );
}

/** The effects of a rehearsal do not count here: no step sends this request. */
async function requestTokens(
  { tokenUrl }: TokenClient,
  request: () => Promise<Response>,
  read: (answer: Response) => Promise<oauth.TokenEndpointResponse>,
  keepsIdToken = false,
): Promise<Tokens> {
  const { host } = new URL(tokenUrl);
  let status = 0;
  try {
    const answer = await withEffects({ requests: true }, request);
    ({ status } = answer);
    const tokens = await read(await normalized(answer, keepsIdToken));
    const { access_token: access, refresh_token: refresh, expires_in: expiresIn } = tokens;
    if (TOKEN.test(access) && (refresh === undefined || TOKEN.test(refresh))) {
      const scopes = tokens.scope?.split(/[\s,]+/).filter((scope) => scope !== '');
      return { access, refresh, expiresIn, scopes, teamId: teamIn(tokens) };
    }
    throw new TokenError('refused', `The tokens of '${host}' cannot be sent in a header`);
  } catch (error) {
    throw tokenErrorOf(error, host, status);
  }
}

/** Slack names the team of a sign-in. An account of a whole organization has none. */
function teamIn({ team }: Record<string, unknown>): string | undefined {
  const id = typeof team === 'object' && team !== null && 'id' in team ? team.id : undefined;
  return typeof id === 'string' && /^T[A-Z0-9]{1,30}$/.test(id) ? id : undefined;
}

/** What services call a grant that has ended, besides `invalid_grant`. */
const ENDED_GRANTS: ReadonlySet<string> = new Set([
  'invalid_grant',
  'bad_refresh_token',
  'invalid_refresh_token',
  'bad_verification_code',
  'invalid_code',
]);

/** Without the description and the cause: they may repeat what was sent. */
function tokenErrorOf(error: unknown, host: string, status: number): TokenError {
  if (error instanceof TokenError) return error;
  if (error instanceof oauth.ResponseBodyError) {
    if (ENDED_GRANTS.has(error.error)) {
      return new TokenError('grant', `'${host}' no longer accepts the sign-in`);
    }
    const code = /^[\w.-]{1,60}$/.test(error.error) ? ` (${error.error})` : '';
    const isTemporary =
      isRetryableStatus(error.status) || error.error === 'temporarily_unavailable';
    return new TokenError(
      isTemporary ? 'temporary' : 'refused',
      `'${host}' refuses to issue a token${code}`,
    );
  }
  const refusal = error instanceof EgressError ? error : findEgressError(error);
  if (refusal !== undefined) {
    return new TokenError(refusal.retryable ? 'temporary' : 'refused', refusal.message);
  }
  if (error instanceof Error && error.name === 'TimeoutError') {
    return new TokenError('temporary', `'${host}' did not respond in time`);
  }
  if (status === 0) return new TokenError('temporary', `'${host}' could not be reached`);
  return new TokenError(
    isRetryableStatus(status) ? 'temporary' : 'refused',
    `'${host}' answered ${status} without a token`,
  );
}

const resourceOf = ({ resource }: TokenClient) =>
  resource === null ? {} : { additionalParameters: { resource } };

const serverOf = ({ issuer, tokenUrl }: TokenClient): oauth.AuthorizationServer => ({
  issuer: issuer ?? new URL(tokenUrl).origin,
  token_endpoint: tokenUrl,
});

function authOf({ clientAuth, clientSecret = '' }: TokenClient): oauth.ClientAuth {
  if (clientAuth === 'none') return oauth.None();
  return clientAuth === 'basic' ? basicAuth(clientSecret) : oauth.ClientSecretPost(clientSecret);
}

/**
 * The client's id and secret as RFC 6749 has them, encoded as in a form, which leaves `-`, `.` and `_` as they are. Some
 * services do not decode them, and the library encodes these characters, too, which most ids and secrets contain.
 */
const basicAuth =
  (secret: string): oauth.ClientAuth =>
  (_server, { client_id }, _body, headers) => {
    const [id, password] = [client_id, secret].map((text) =>
      new URLSearchParams([['', text]]).toString().slice(1),
    );
    headers.set('authorization', `Basic ${btoa(`${id}:${password}`)}`);
  };

/** Every request passes the guard. */
const optionsOf = (egress: Egress) => ({
  // The contract only allows http:// on this machine. It is only deprecated as a warning.
  // oxlint-disable-next-line typescript/no-deprecated
  [oauth.allowInsecureRequests]: true,
  [oauth.customFetch]: async (
    url: string,
    { method, headers, body }: { method: string; headers: Record<string, string>; body?: unknown },
  ): Promise<Response> => {
    const answer = await egress.request(url, {
      method,
      headers,
      ...(body === undefined || body === null ? {} : { body: String(body as URLSearchParams) }),
      timeoutMs: TIMEOUT_MS,
      maxResponseBytes: MAX_ANSWER_BYTES,
      maxRedirects: 0,
    });
    const empty = [204, 205, 304].includes(answer.status);
    const { 'set-cookie': _cookies, ...said } = answer.headers;
    return new Response(empty ? null : new Uint8Array(answer.body), {
      status: answer.status,
      headers: said,
    });
  },
});

/**
 * The answer of a token endpoint as the standard has it. Some services send errors with 200, types of their own, or
 * null for what is missing. An ID token that was not requested is left out, since no one reads it.
 */
async function normalized(answer: Response, keepsIdToken: boolean): Promise<Response> {
  const { status, headers } = answer;
  const text = await answer.text();
  const body = parsedJson(text);
  if (!isObject(body)) return new Response(text, { status, headers });
  for (const [key, value] of Object.entries(body)) {
    if (value === null || value === '') delete body[key];
  }
  if (!keepsIdToken) delete body['id_token'];
  if (typeof body['scope'] !== 'string') delete body['scope'];
  const isError = typeof body['error'] === 'string';
  if (!isError && typeof body['access_token'] === 'string') {
    // Only bearer tokens are requested.
    body['token_type'] = 'bearer';
  }
  return new Response(JSON.stringify(body), {
    status: isError && status === 200 ? 400 : status,
    headers: { 'content-type': 'application/json' },
  });
}

import { type ConnectionInput, isEndpoint } from '#shared/contract/connections/connection.ts';
import {
  type ConnectionScope,
  type NewConnection,
  readConnectionHosts,
} from '#shared/db/connections/connections.ts';
import type { Pool } from '#shared/db/pool.ts';
import { conflict } from '#shared/errors.ts';
import {
  clientAuthOf,
  clientMetadataOf,
  registerClient,
  type RegisteredClient,
} from '#shared/platform/calls/client-registration.ts';
import { discoverServer, type ServerMetadata, TokenError } from '#shared/platform/calls/oauth.ts';
import {
  askForChallenge,
  findProtectedResource,
  type ProtectedResource,
} from '#shared/platform/calls/protected-resource.ts';
import type { Config } from '#shared/platform/config.ts';
import { type Egress, EgressError } from '#shared/platform/egress/egress.ts';
import { invalid } from '#shared/operations/tools/tool-headers.ts';
import { callbackUrl, clientDocumentUrl } from '#shared/values/connection-callback.ts';
import { canonicalHost } from '#shared/values/secrets.ts';

export interface ServerDeps {
  db: Pool;
  egress: Egress;
  config: { api: Pick<Config['api'], 'publicUrl'> };
}

/** What a connection will be set to, with the client secret before it is sealed. */
export type FoundSettings = Omit<NewConnection, 'sealed_client_secret'> & {
  client_secret: string | undefined;
};

/** For all requests together; below a handler's timeout. */
const FIND_MS = 25_000;

/** The egress whose requests all end by then, with an EgressError. */
export const withinTime = (egress: Egress, ms: number): Egress => {
  const signal = AbortSignal.timeout(ms);
  return {
    ...egress,
    request: async (url, options) => {
      try {
        return await egress.request(url, { ...options, signal });
      } catch (error) {
        if (!signal.aborted) throw error;
        throw new EgressError('timeout', `'${new URL(url).host}' did not respond in time`);
      }
    },
  };
};

/**
 * What a connection to an MCP server is set to: by the server's metadata, that of its authorization server, and a
 * client. Throws AppError `invalid`, and `conflict` for a name that exists, before anything is registered.
 */
export async function serverSettings(
  deps: ServerDeps,
  scope: ConnectionScope,
  serverUrl: string,
  input: ConnectionInput,
): Promise<FoundSettings> {
  const { workspaceId } = scope;
  const taken = await readConnectionHosts(deps.db, { workspaceId, names: [input.name] });
  if (taken.size > 0) throw conflict(`A connection named '${input.name}' already exists`);
  const egress = withinTime(deps.egress, FIND_MS);
  try {
    const resource = await readResource(egress, serverUrl);
    const server = await readServer(egress, issuerOf(resource, input.issuer));
    const redirectUri = callbackUrl(deps.config.api.publicUrl, {
      id: scope.connectionId,
      namesIssuer: server.namesIssuer,
    });
    const client =
      givenClient(input, server) ?? (await ownClient(deps, egress, scope, server, redirectUri));
    const scopes = input.scopes ?? scopesOf(resource, server);
    const asksConsent = scopes.includes('offline_access');
    return {
      name: input.name,
      preset: null,
      grant: 'authorization_code',
      owner: input.owner,
      issuer: server.issuer,
      names_issuer: server.namesIssuer,
      authorization_url: server.authorizationUrl,
      token_url: server.tokenUrl,
      client_id: client.id,
      client_secret: client.secret,
      client_auth: client.auth,
      resource: resource.resource,
      scopes,
      // OpenID Connect requires it for a refresh token.
      authorization_params:
        input.authorization_params ?? (asksConsent ? { prompt: 'consent' } : {}),
      allowed_hosts: [hostOf(serverUrl)],
    };
  } catch (error) {
    if (error instanceof TokenError) throw invalid(`mcp_server_url: ${error.message}`);
    throw error;
  }
}

async function readResource(egress: Egress, serverUrl: string): Promise<ProtectedResource> {
  const header = await askForChallenge(egress, serverUrl);
  const resource = await findProtectedResource(egress, serverUrl, header);
  if (resource !== undefined) return resource;
  throw invalid(
    'mcp_server_url: the server publishes no metadata about its sign-in; give authorization_url, token_url, client_id ' +
      'and allowed_hosts instead',
  );
}

/** The authorization server: the only one, the chosen one of several, or the first. */
function issuerOf({ issuers }: ProtectedResource, wanted: string | undefined): string {
  const [first = ''] = issuers;
  if (wanted === undefined) return first;
  if (issuers.includes(wanted)) return wanted;
  throw invalid(`issuer: the server only accepts tokens of ${issuers.join(', ')}`);
}

type SignInServer = ServerMetadata & { authorizationUrl: string };

async function readServer(egress: Egress, issuer: string): Promise<SignInServer> {
  const server = await discoverServer(egress, issuer);
  const { authorizationUrl } = server;
  if (authorizationUrl === undefined) {
    throw new TokenError('refused', `'${issuer}' names no authorization_endpoint`);
  }
  if (!server.checksVerifier) {
    throw new TokenError('refused', `'${issuer}' does not support PKCE with S256`);
  }
  return { ...server, authorizationUrl };
}

/** With a scope for a refresh token, where there is one. */
function scopesOf({ scopes }: ProtectedResource, server: SignInServer): string[] {
  const more = server.scopes.includes('offline_access') ? ['offline_access'] : [];
  return [...new Set([...scopes, ...more])];
}

function givenClient(
  { client_id: id, client_secret: secret, client_auth: auth }: ConnectionInput,
  { clientAuths }: SignInServer,
): RegisteredClient | undefined {
  if (id === undefined) return undefined;
  if (secret === undefined) return { id, secret, auth: auth ?? 'none' };
  const supported = clientAuthOf(clientAuths?.filter((each) => each !== 'none'));
  return { id, secret, auth: auth ?? supported ?? 'basic' };
}

/** The document about the service, where the server reads it, or else a registered client. */
async function ownClient(
  { config }: ServerDeps,
  egress: Egress,
  { connectionId }: ConnectionScope,
  server: SignInServer,
  redirectUri: string,
): Promise<RegisteredClient> {
  const { publicUrl } = config.api;
  if (server.readsClientDocuments && new URL(publicUrl).protocol === 'https:') {
    const id = clientDocumentUrl(publicUrl, { id: connectionId, namesIssuer: server.namesIssuer });
    return { id, secret: undefined, auth: 'none' };
  }
  const { registrationUrl } = server;
  const auth = clientAuthOf(server.clientAuths);
  if (registrationUrl === undefined || auth === undefined) throw needsClient(server);
  if (!isEndpoint(registrationUrl)) {
    throw new TokenError('refused', `'${registrationUrl}' is not an https:// address`);
  }
  try {
    const metadata = clientMetadataOf(redirectUri, publicUrl, auth);
    return await registerClient(egress, registrationUrl, metadata);
  } catch (error) {
    if (!(error instanceof TokenError)) throw error;
    throw new TokenError(error.reason, `${error.message}. ${toGive(server)}`, { cause: error });
  }
}

const needsClient = (server: SignInServer): TokenError =>
  new TokenError('refused', `'${server.issuer}' registers no clients by itself. ${toGive(server)}`);

/** Which fields create the connection without a registration. */
const toGive = ({ issuer }: SignInServer): string =>
  `Register a client with '${issuer}' yourself, give its client_id and client_secret, and register the callback_url of the response`;

/** The only host that gets the token. */
function hostOf(serverUrl: string): string {
  const { host, hostname, port, protocol } = new URL(serverUrl);
  const usual = protocol === 'https:' ? `${hostname}:443` : host;
  return canonicalHost(port === '' ? usual : host) ?? host;
}

import type { Actor } from '#shared/people/actor.ts';
import {
  type Connection,
  type ConnectionInput,
  type ConnectionUpdate,
  isEndpoint,
} from '#shared/contract/connections/connection.ts';
import { presetOf } from '#shared/contract/connections/presets.ts';
import { newId } from '#shared/crypto/ids.ts';
import type { Sealer } from '#shared/crypto/sealing.ts';
import {
  clientSecretPlace,
  type ConnectionChange,
  type ConnectionSettings,
  createConnection,
  type NewConnection,
  readConnection,
  readConnectionSettings,
  updateConnection,
} from '#shared/db/connections/connections.ts';
import { discoverServer, type ServerMetadata, TokenError } from '#shared/platform/calls/oauth.ts';
import { requireOneOwner } from '#shared/operations/secrets/secrets.ts';
import { invalid } from '#shared/operations/tools/tool-headers.ts';
import { type FoundSettings, type ServerDeps, serverSettings } from './mcp-servers.ts';

export interface ConnectionDeps extends ServerDeps {
  sealer: Sealer | undefined;
}

/**
 * Creates a connection. A preset, and the metadata of an issuer or an MCP server, give what the input lacks. Throws
 * AppError `invalid` for settings that do not fit together, metadata that cannot be used, a client that is not
 * registered and without a key to seal with, and `conflict` for a name that exists and when there are too many.
 */
export async function addConnection(
  deps: ConnectionDeps,
  actor: Actor,
  input: ConnectionInput,
): Promise<Connection> {
  const { workspaceId } = actor;
  const sealer = requireSealer(deps.sealer);
  const connectionId = newId('connection');
  const { mcp_server_url: serverUrl } = input;
  const found =
    serverUrl === undefined
      ? await givenSettings(deps, input)
      : await serverSettings(deps, { workspaceId, connectionId }, serverUrl, input);
  const { client_secret: secret, ...settings } = found;
  await checkSettings(deps, settings);
  if ((secret === undefined) !== (settings.client_auth === 'none')) throw secretMismatch(settings);
  const place = clientSecretPlace({ workspaceId, connectionId });
  const sealed_client_secret = secret === undefined ? null : sealer.seal(secret, place);
  await createConnection(deps.db, actor, connectionId, { ...settings, sealed_client_secret });
  return readConnection(deps.db, readerOf(deps, actor, connectionId));
}

async function givenSettings(deps: ConnectionDeps, input: ConnectionInput): Promise<FoundSettings> {
  const preset = presetOf(input.preset);
  const found = await discovered(deps, input.issuer);
  const { client_secret: secret, ...given } = input;
  const addresses = addressesOf(input, found, preset);
  const isProgram = input.grant === 'client_credentials';
  if (isProgram && input.owner === 'member') {
    throw invalid("owner: a client's own token belongs to the workspace");
  }
  const tokenUrl = addresses.token_url;
  if (tokenUrl === undefined) throw invalid('token_url is required without an issuer or a preset');
  const authorizationUrl = isProgram ? null : (addresses.authorization_url ?? null);
  if (!isProgram && authorizationUrl === null) {
    throw invalid('authorization_url is required where members sign in');
  }
  const hosts = given.allowed_hosts ?? preset?.allowed_hosts;
  if (hosts === undefined) throw invalid('allowed_hosts is required without a preset');
  const usual = preset?.client_auth ?? 'basic';
  return {
    name: given.name,
    preset: given.preset ?? null,
    grant: given.grant,
    owner: given.owner,
    issuer: given.issuer ?? null,
    names_issuer: found?.namesIssuer === true,
    authorization_url: authorizationUrl,
    token_url: tokenUrl,
    client_id: given.client_id ?? '',
    client_secret: secret,
    client_auth: given.client_auth ?? (secret === undefined ? 'none' : usual),
    resource: null,
    scopes: given.scopes ?? preset?.scopes ?? [],
    authorization_params: given.authorization_params ?? preset?.authorization_params ?? {},
    allowed_hosts: hosts,
  };
}

/**
 * Changes the given fields. Where the client secret, codes or tokens could be sent to another place, or tokens to another
 * host, the client secret is needed again, and all members have to sign in again: a person who can change a connection
 * must not get what others have stored in it. Throws AppError `not_found` and `invalid`.
 */
export async function changeConnection(
  deps: ConnectionDeps,
  actor: Actor,
  connectionId: string,
  body: ConnectionUpdate,
): Promise<Connection> {
  const { workspaceId } = actor;
  const scope = { workspaceId, connectionId };
  const seen = await readConnectionSettings(deps.db, scope);
  const found = await discovered(deps, body.issuer);
  const after = changed(seen, body, found);
  await checkSettings(deps, after);
  const secret = body.client_secret;
  const sealed =
    secret === undefined
      ? undefined
      : requireSealer(deps.sealer).seal(secret, clientSecretPlace(scope));
  await updateConnection(deps.db, actor, connectionId, (before): ConnectionChange => {
    const next = changed(before, body, found);
    const dropsTokens = leadsElsewhere(before, next);
    const isPublic = next.client_auth === 'none';
    if (dropsTokens && !isPublic && sealed === undefined) {
      throw invalid(
        'client_secret: send it again to change where it, codes or tokens can be sent; members then sign in again',
      );
    }
    const sealed_client_secret = isPublic ? null : (sealed ?? before.sealed_client_secret);
    if (isPublic ? secret !== undefined : sealed_client_secret === null) throw secretMismatch(next);
    return { ...next, sealed_client_secret, dropsTokens };
  });
  return readConnection(deps.db, readerOf(deps, actor, connectionId));
}

const readerOf = ({ config }: ConnectionDeps, actor: Actor, connectionId: string) => ({
  workspaceId: actor.workspaceId,
  memberId: actor.id,
  publicUrl: config.api.publicUrl,
  connectionId,
});

/** Whether secrets, codes or tokens would go where they did not go before. */
function leadsElsewhere(before: ConnectionSettings, after: ConnectionSettings): boolean {
  const fields = [
    'issuer',
    'names_issuer',
    'authorization_url',
    'token_url',
    'client_id',
    'client_auth',
  ] as const;
  return (
    fields.some((field) => before[field] !== after[field]) ||
    after.allowed_hosts.some((host) => !before.allowed_hosts.includes(host))
  );
}

function changed(
  before: ConnectionSettings,
  body: ConnectionUpdate,
  found: ServerMetadata | undefined,
): ConnectionSettings {
  const isProgram = before.grant === 'client_credentials';
  if (isProgram && body.authorization_url !== undefined) {
    throw invalid('authorization_url: nobody signs in to this connection');
  }
  const addresses = addressesOf(body, found, undefined);
  // Other addresses than those of the issuer are no longer its own.
  const leaves =
    body.issuer === undefined &&
    (body.authorization_url !== undefined || body.token_url !== undefined) &&
    ((addresses.authorization_url ?? before.authorization_url) !== before.authorization_url ||
      (addresses.token_url ?? before.token_url) !== before.token_url);
  return {
    ...before,
    issuer: leaves ? null : (body.issuer ?? before.issuer),
    names_issuer: leaves ? false : (found?.namesIssuer ?? before.names_issuer),
    authorization_url: isProgram ? null : (addresses.authorization_url ?? before.authorization_url),
    token_url: addresses.token_url ?? before.token_url,
    client_id: body.client_id ?? before.client_id,
    client_auth: body.client_auth ?? before.client_auth,
    scopes: body.scopes ?? before.scopes,
    authorization_params: body.authorization_params ?? before.authorization_params,
    allowed_hosts: body.allowed_hosts ?? before.allowed_hosts,
  };
}

interface Addresses {
  authorization_url?: string | undefined;
  token_url?: string | undefined;
}

/** The addresses that were given, else those of the issuer, else those of the preset. */
function addressesOf(
  given: Addresses,
  found: ServerMetadata | undefined,
  preset: Addresses | undefined,
): Addresses {
  if (found === undefined) {
    return {
      authorization_url: given.authorization_url ?? preset?.authorization_url,
      token_url: given.token_url ?? preset?.token_url,
    };
  }
  const { authorizationUrl, tokenUrl } = found;
  const differs =
    (given.authorization_url ?? authorizationUrl) !== authorizationUrl ||
    (given.token_url ?? tokenUrl) !== tokenUrl;
  if (differs) throw invalid('issuer: its metadata names other addresses; leave one of them out');
  return { authorization_url: authorizationUrl, token_url: tokenUrl };
}

async function discovered(
  { egress }: ConnectionDeps,
  issuer: string | undefined,
): Promise<ServerMetadata | undefined> {
  if (issuer === undefined) return undefined;
  try {
    return await discoverServer(egress, issuer);
  } catch (error) {
    if (error instanceof TokenError) throw invalid(`issuer: ${error.message}`);
    throw error;
  }
}

/** Throws AppError `invalid`. */
async function checkSettings(
  { egress }: ConnectionDeps,
  {
    allowed_hosts,
    token_url,
    authorization_url,
  }: Pick<NewConnection, 'allowed_hosts' | 'token_url' | 'authorization_url'>,
): Promise<void> {
  requireOneOwner(allowed_hosts);
  for (const [field, url] of Object.entries({ token_url, authorization_url })) {
    // Metadata of an issuer can name any address, and a browser opens one of them.
    if (url !== null && !isEndpoint(url)) {
      throw invalid(`${field}: '${url}' is not an https:// address`);
    }
  }
  const refused = await egress.refuses(token_url);
  if (refused !== undefined) throw invalid(`token_url: ${refused.message}`);
}

const secretMismatch = ({ client_auth }: Pick<NewConnection, 'client_auth'>) =>
  invalid(
    client_auth === 'none'
      ? "client_secret: a client with client_auth 'none' has none"
      : `client_secret is required for client_auth '${client_auth}'`,
  );

function requireSealer(sealer: Sealer | undefined): Sealer {
  if (sealer !== undefined) return sealer;
  throw invalid('a connection cannot be stored, since ENCRYPTION_KEY is not set on this service');
}

import { isObject } from '#shared/graph/json-value.ts';
import { parsedJson } from '#shared/json.ts';
import { isEndpoint } from '#shared/contract/connections/connection.ts';
import { messageOf } from '#shared/errors.ts';
import { type Egress, findEgressError } from '#shared/platform/egress/egress.ts';
import { challengeOf, scopesIn } from './challenge.ts';
import { discoverServer, TokenError } from './oauth.ts';

/** What a server that requires sign-in says about itself (RFC 9728). */
export interface ProtectedResource {
  /** Its own URL: tokens are requested for it. */
  resource: string;
  /** Its authorization servers, at least one. */
  issuers: readonly string[];
  /** The scopes that it asks for. */
  scopes: readonly string[];
}

const TIMEOUT_MS = 5_000;
const MAX_BYTES = 262_144;
const MAX_ISSUERS = 10;
const WELL_KNOWN = '/.well-known/oauth-protected-resource';

/**
 * Reads what a server says about sign-in: its metadata at the address of the challenge, else at the well-known ones; for
 * an older server without any, the authorization server at its own origin. `header` is the `WWW-Authenticate` of a 401.
 * Undefined if there is nothing of it. Follows no redirect. Throws TokenError `refused` for metadata that is about
 * another resource, or names no usable authorization server.
 */
export async function findProtectedResource(
  egress: Egress,
  serverUrl: string,
  header: string | undefined,
): Promise<ProtectedResource | undefined> {
  const server = new URL(serverUrl);
  // Codes and tokens would pass through what it names.
  if (!isEndpoint(server.href)) return undefined;
  const challenge = challengeOf(header);
  for (const address of addressesOf(server, challenge?.resourceMetadata)) {
    const metadata = await readMetadata(egress, address);
    if (typeof metadata?.['resource'] !== 'string') continue;
    const { resource, issuers, scopes } = checked(server, address, metadata);
    return { resource, issuers, scopes: challenge?.scopes ?? scopes };
  }
  const issuer = server.origin;
  const old = await discoverServer(egress, issuer).catch((error: unknown) => {
    if (error instanceof TokenError) return undefined;
    throw error;
  });
  if (old === undefined) return undefined;
  return { resource: spellingOf(server), issuers: [issuer], scopes: challenge?.scopes ?? [] };
}

/**
 * Where the metadata of a server can be: as the challenge says, with the path inserted, and at the root. Metadata on
 * another origin is not that of this server.
 */
function addressesOf(server: URL, named: string | undefined): string[] {
  const own = named === undefined ? null : URL.parse(named);
  const path = server.pathname === '/' ? '' : server.pathname;
  const addresses = [
    ...(own?.origin === server.origin && isEndpoint(own.href) ? [own.href] : []),
    `${server.origin}${WELL_KNOWN}${path}${server.search}`,
    `${server.origin}${WELL_KNOWN}`,
  ];
  return [...new Set(addresses)];
}

/** The metadata at an address; undefined if there is none, as with a page for people or a redirect to one. */
async function readMetadata(
  egress: Egress,
  address: string,
): Promise<Record<string, unknown> | undefined> {
  try {
    const { status, body } = await egress.request(address, {
      headers: { accept: 'application/json' },
      timeoutMs: TIMEOUT_MS,
      maxResponseBytes: MAX_BYTES,
      maxRedirects: 0,
    });
    if (status !== 200) return undefined;
    const value = parsedJson(body.toString('utf8'));
    return isObject(value) ? value : undefined;
  } catch (error) {
    if (findEgressError(error) !== undefined) return undefined;
    throw error;
  }
}

function checked(
  server: URL,
  address: string,
  metadata: Record<string, unknown>,
): ProtectedResource {
  const refused = (why: string): TokenError =>
    new TokenError('refused', `The metadata at '${address}' cannot be used: ${why}`);
  const { resource, authorization_servers: listed, scopes_supported: scopes } = metadata;
  // Otherwise, a server could ask for tokens of another one (RFC 9728, section 3.3).
  if (resource !== server.href && resource !== spellingOf(server)) {
    throw refused('it is about another resource than the address of the server');
  }
  const issuers = Array.isArray(listed) ? listed.slice(0, MAX_ISSUERS) : [];
  if (issuers.length === 0) throw refused('it names no authorization server');
  const usable = issuers.every(
    (issuer): issuer is string => typeof issuer === 'string' && isEndpoint(issuer),
  );
  if (!usable) throw refused('an authorization server has no https:// address');
  return { resource, issuers, scopes: Array.isArray(scopes) ? scopesIn(scopes) : [] };
}

/** The URL of a server as its metadata usually has it: without a slash after the host. */
export const spellingOf = ({ href, pathname, search }: URL): string =>
  pathname === '/' && search === '' ? href.slice(0, -1) : href;

/**
 * The `WWW-Authenticate` of the server's answer to a request without a token; undefined if it accepts one, or does not
 * answer. The request does nothing on the server.
 */
export async function askForChallenge(
  egress: Egress,
  serverUrl: string,
): Promise<string | undefined> {
  try {
    const { status, headers } = await egress.request(serverUrl, {
      method: 'POST',
      headers: {
        accept: 'application/json, text/event-stream',
        'content-type': 'application/json',
      },
      body: JSON.stringify({ jsonrpc: '2.0', id: 1, method: 'ping' }),
      timeoutMs: TIMEOUT_MS,
      maxResponseBytes: MAX_BYTES,
      maxRedirects: 0,
    });
    return status === 401 ? headers['www-authenticate'] : undefined;
  } catch (error) {
    const refusal = findEgressError(error);
    if (refusal === undefined) throw error;
    // A server that accepts the request can keep its answer open.
    if (refusal.code === 'timeout') return undefined;
    throw new TokenError(refusal.retryable ? 'temporary' : 'refused', messageOf(refusal));
  }
}

import { parsedJson } from '#shared/json.ts';
import { clientDocument, type ClientMetadata } from '#shared/contract/authorizations/oauth.ts';
import { findClient, type OAuthClient, registerClient } from '#shared/db/authorizations/clients.ts';
import type { SeenClient } from '#shared/db/authorizations/authorizations.ts';
import type { Pool } from '#shared/db/pool.ts';
import { AppError } from '#shared/errors.ts';
import { type Egress, findEgressError } from '#shared/platform/egress/egress.ts';
import { isLoopback, isRedirectUri } from './redirect-uris.ts';

/** Clients of the authorization server: registered ones, and those whose id is the URL of a document about them. */

export interface ClientDeps {
  db: Pool;
  egress: Egress;
}

/** A client with what it can ask for. */
export interface ResolvedClient extends Omit<SeenClient, 'host'> {
  /** Undefined: that of the address the code is sent to. */
  host?: string;
  redirectUris: readonly string[];
}

const MAX_DOCUMENT_BYTES = 5_120;
const DOCUMENT_TIMEOUT_MS = 5_000;

const unknown = (): AppError =>
  new AppError('invalid', 'The client is not registered, or no longer: it has to register again');

/** The client with this id. Throws AppError `invalid` for an unknown one, or one whose document cannot be used. */
export async function resolveClient(deps: ClientDeps, id: string): Promise<ResolvedClient> {
  if (URL.canParse(id)) return readDocument(deps, id);
  const client = await findClient(deps.db, id);
  if (client === undefined) throw unknown();
  const { name, redirect_uris: redirectUris } = client;
  return { id, name, verified: false, redirectUris };
}

/**
 * Registers a client (RFC 7591), always without a secret. Throws AppError `invalid` for an address that
 * codes are not sent to, `rate_limited`.
 */
export async function registerClientOf(
  db: Pool,
  metadata: ClientMetadata,
  network: string,
): Promise<OAuthClient> {
  const { client_name: name, redirect_uris: redirectUris } = metadata;
  requireRedirects(redirectUris);
  const host = new URL(redirectUris[0]!).host;
  return registerClient(db, { name: nameOf(name, host), redirectUris, network });
}

/**
 * The name as the page shows it: on one line, without characters that hide or turn the text around it. Without a name,
 * the host.
 */
function nameOf(name: string | undefined, host: string): string {
  const shown = (name ?? '').replaceAll(/[\p{Cc}\p{Cf}\p{Z}]+/gu, ' ').trim();
  return shown === '' ? host : shown;
}

function requireRedirects(uris: readonly string[]): void {
  const wrong = uris.find((uri) => !isRedirectUri(uri));
  if (wrong === undefined) return;
  throw new AppError(
    'invalid',
    `redirect_uris: '${wrong.slice(0, 200)}' must be an https address, or http to localhost, 127.0.0.1 or [::1]`,
  );
}

/** Reads the document at a client's id through the egress guard: no redirects, a few kilobytes, a few seconds. */
async function readDocument({ egress }: ClientDeps, id: string): Promise<ResolvedClient> {
  const url = documentUrl(id);
  const text = await fetchDocument(egress, url);
  const read = clientDocument.safeParse(parsedJson(text));
  if (!read.success) throw unusable('it does not describe a client');
  const { client_id, client_name, redirect_uris, token_endpoint_auth_method } = read.data;
  if (client_id !== id) throw unusable('its client_id is another one');
  if (token_endpoint_auth_method !== undefined && token_endpoint_auth_method !== 'none') {
    throw unusable("its token_endpoint_auth_method is not 'none'");
  }
  requireRedirects(redirect_uris);
  return {
    id,
    name: nameOf(client_name, url.host),
    host: url.host,
    verified: url.protocol === 'https:',
    redirectUris: redirect_uris,
  };
}

/** HTTPS with a path; a document on this computer only passes a guard that allows such addresses. */
function documentUrl(id: string): URL {
  const url = new URL(id);
  const plain = url.href === id && url.username === '' && url.password === '' && url.hash === '';
  if (plain && url.pathname !== '/' && (url.protocol === 'https:' || isLoopback(url))) return url;
  throw unusable('a client_id that is a URL must be an https address with a path');
}

async function fetchDocument(egress: Egress, url: URL): Promise<string> {
  try {
    const { status, body } = await egress.request(url, {
      headers: { accept: 'application/json' },
      timeoutMs: DOCUMENT_TIMEOUT_MS,
      maxResponseBytes: MAX_DOCUMENT_BYTES,
    });
    if (status !== 200) throw unusable(`its host answered ${status}`);
    return body.toString('utf8');
  } catch (error) {
    const refusal = findEgressError(error);
    if (refusal === undefined) throw error;
    throw unusable(refusal.message);
  }
}

const unusable = (why: string): AppError =>
  new AppError('invalid', `The client's metadata document cannot be used: ${why}`);

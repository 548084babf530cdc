import { parsedJson } from '#shared/json.ts';
import { z } from 'zod';
import type { clientAuths } from '#shared/contract/connections/presets.ts';
import { type Egress, findEgressError } from '#shared/platform/egress/egress.ts';
import { TokenError } from './oauth.ts';

type ClientAuth = (typeof clientAuths)[number];

/** A client as an authorization server knows it. */
export interface RegisteredClient {
  id: string;
  secret: string | undefined;
  auth: ClientAuth;
}

const TIMEOUT_MS = 10_000;
const MAX_BYTES = 65_536;

/** The names of the standards, in the order in which they are chosen. */
const METHODS = {
  basic: 'client_secret_basic',
  post: 'client_secret_post',
  none: 'none',
} as const satisfies Record<ClientAuth, string>;

/** How a client proves who it is, of what an authorization server supports. Without a list, it is `basic` (RFC 8414). */
export const clientAuthOf = (supported: readonly string[] | undefined): ClientAuth | undefined =>
  supported === undefined ? 'basic' : authsOf((method) => supported.includes(method))[0];

const authsOf = (isWanted: (method: string) => boolean): ClientAuth[] =>
  (Object.keys(METHODS) as ClientAuth[]).filter((auth) => isWanted(METHODS[auth]));

const printable = /^[\x20-\x7e]+$/;

/** What is read of the answer to a registration (RFC 7591). */
const registration = z.object({
  client_id: z.string().min(1).max(1_000).regex(printable),
  client_secret: z.string().min(1).max(8_000).regex(printable).nullish(),
  /** In seconds since 1970; 0: never. */
  client_secret_expires_at: z.number().nullish(),
  token_endpoint_auth_method: z.string().nullish(),
});

/** What the service says about itself, when it registers, and in its document. */
export const clientMetadataOf = (redirectUri: string, publicUrl: string, auth: ClientAuth) => ({
  client_name: 'Durable workflows',
  client_uri: publicUrl,
  redirect_uris: [redirectUri],
  grant_types: ['authorization_code', 'refresh_token'],
  response_types: ['code'],
  token_endpoint_auth_method: METHODS[auth],
});

/**
 * Registers the service as a client (RFC 7591). Follows no redirect. Throws TokenError `refused` or `temporary`, without
 * the server's own description: it may repeat what was sent.
 */
export async function registerClient(
  egress: Egress,
  registrationUrl: string,
  metadata: ReturnType<typeof clientMetadataOf>,
): Promise<RegisteredClient> {
  const { host } = new URL(registrationUrl);
  const { status, body } = await egress
    .request(registrationUrl, {
      method: 'POST',
      headers: { accept: 'application/json', 'content-type': 'application/json' },
      body: JSON.stringify(metadata),
      timeoutMs: TIMEOUT_MS,
      maxResponseBytes: MAX_BYTES,
      maxRedirects: 0,
    })
    .catch((error: unknown) => {
      const refusal = findEgressError(error);
      if (refusal === undefined) throw error;
      throw new TokenError(refusal.retryable ? 'temporary' : 'refused', refusal.message);
    });
  const answer = parsedJson(body.toString('utf8'));
  if (status !== 201 && status !== 200) {
    const code = z.object({ error: z.string().regex(/^[\w.-]{1,60}$/) }).safeParse(answer).data;
    throw new TokenError(
      'refused',
      `'${host}' refuses to register a client (${code?.error ?? status})`,
    );
  }
  const read = registration.safeParse(answer);
  const client = read.success
    ? clientIn(read.data, metadata.token_endpoint_auth_method)
    : undefined;
  if (client === undefined) {
    throw new TokenError('refused', `'${host}' has registered no client that can be used here`);
  }
  return client;
}

function clientIn(
  answer: z.infer<typeof registration>,
  wanted: string,
): RegisteredClient | undefined {
  const secret = answer.client_secret ?? undefined;
  const method = answer.token_endpoint_auth_method ?? (secret === undefined ? 'none' : wanted);
  const [auth] = authsOf((each) => each === method);
  const ends = answer.client_secret_expires_at ?? 0;
  if (auth === undefined || (ends > 0 && ends * 1_000 <= Date.now())) return undefined;
  if (auth === 'none') return { id: answer.client_id, secret: undefined, auth };
  return secret === undefined ? undefined : { id: answer.client_id, secret, auth };
}

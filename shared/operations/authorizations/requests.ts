import type {
  Authorization,
  AuthorizationInput,
  AuthorizationParameters,
  AuthorizationPreview,
} from '#shared/contract/authorizations/authorization.ts';
import { grantAuthorization, type SeenClient } from '#shared/db/authorizations/authorizations.ts';
import { readWorkspaceName } from '#shared/db/people/workspaces.ts';
import { AppError } from '#shared/errors.ts';
import type { Actor } from '#shared/people/actor.ts';
import { capabilitiesFor, decisions, requiredScope, scopesAsked } from '#shared/people/scopes.ts';
import { type ClientDeps, resolveClient } from './clients.ts';
import { isNamedRedirect, redirectWith } from './redirect-uris.ts';
import type { AuthorizationServer } from './server.ts';

/** What the authorization page does: says who asks for what, and sends the member's answer to the client. */

/** A request of a client that exists, with an address that it has named. */
interface Request {
  client: SeenClient;
  redirectUri: string;
  state: string | undefined;
  codeChallenge: string;
  scopes: ReturnType<typeof scopesAsked>;
  /** Why the client gets an error. */
  refusal: AuthorizationPreview['refusal'];
}

/**
 * Checks what decides whether the browser may return to the client at all. Throws AppError `invalid` for an unknown
 * client or address: then nothing is sent there.
 */
async function readRequest(
  deps: ClientDeps & AuthorizationServer,
  asked: AuthorizationParameters,
): Promise<Request> {
  const { redirectUris, ...client } = await resolveClient(deps, asked.client_id);
  const redirectUri = asked.redirect_uri ?? (redirectUris.length === 1 ? redirectUris[0]! : '');
  if (!isNamedRedirect(redirectUri, redirectUris)) {
    throw new AppError('invalid', 'The redirect_uri is not one that the client has registered');
  }
  return {
    client: { host: new URL(redirectUri).host, ...client },
    redirectUri,
    state: asked.state,
    codeChallenge: asked.code_challenge ?? '',
    scopes: scopesAsked(asked.scope),
    refusal: refusalOf(asked, deps.resource),
  };
}

function refusalOf(asked: AuthorizationParameters, resource: string): Request['refusal'] {
  if (asked.response_type !== 'code') {
    return { error: 'unsupported_response_type', detail: "response_type must be 'code'" };
  }
  if (asked.code_challenge_method !== 'S256' || !isChallenge(asked.code_challenge)) {
    const detail = 'The request needs a code_challenge with code_challenge_method S256 (PKCE)';
    return { error: 'invalid_request', detail };
  }
  if (asked.resource !== undefined && asked.resource !== resource) {
    return { error: 'invalid_target', detail: `The only resource here is ${resource}` };
  }
  return null;
}

const isChallenge = (text: string | undefined): text is string =>
  text !== undefined && /^[A-Za-z0-9_-]{43}$/.test(text);

/** What the page shows for a request. Throws AppError `invalid`. */
export async function previewAuthorization(
  deps: ClientDeps & AuthorizationServer,
  actor: Actor,
  asked: AuthorizationParameters,
): Promise<AuthorizationPreview> {
  const request = await readRequest(deps, asked);
  const { client, redirectUri, refusal } = request;
  const id = actor.workspaceId;
  const name = await readWorkspaceName(deps.db, id);
  return {
    client: { ...client, redirect_host: new URL(redirectUri).host },
    workspace: { id, name },
    scopes: request.scopes.map((scope) => {
      const held = capabilitiesFor([scope], actor);
      const decides = held.some((one) => decisions.includes(one));
      return {
        scope,
        capabilities: held,
        // Never proposed: the member has to choose it.
        selected: held.length > 0 && !decides,
        required: scope === requiredScope,
      };
    }),
    refusal,
    deny_url: answer(deps, request, {
      error: refusal?.error ?? 'access_denied',
      error_description: refusal?.detail ?? 'The member denied the request',
    }),
  };
}

/**
 * Grants a client what the member chose of what it asks for, and returns where the browser takes the code. Throws
 * AppError `invalid`, and those of `grantAuthorization`.
 */
export async function authorizeClient(
  deps: ClientDeps & AuthorizationServer,
  actor: Actor & { id: string },
  { request: asked, scopes: chosen }: AuthorizationInput,
): Promise<{ authorization: Authorization; redirect_to: string }> {
  const request = await readRequest(deps, asked);
  const { client, redirectUri, codeChallenge, refusal } = request;
  if (refusal !== null) throw new AppError('invalid', refusal.detail);
  const other = chosen.find((scope) => !request.scopes.includes(scope));
  if (other !== undefined) {
    throw new AppError('invalid', `Invalid body: scopes: the client does not ask for '${other}'`);
  }
  const scopes = request.scopes.filter((one) => one === requiredScope || chosen.includes(one));
  const grant = { client, scopes, resource: deps.resource, redirectUri, codeChallenge };
  const { authorization, code } = await grantAuthorization(deps.db, actor, grant);
  return { authorization, redirect_to: answer(deps, request, { code }) };
}

/** With `iss`, so that a client of several servers notices a mix-up (RFC 9207). */
const answer = (
  { issuer }: AuthorizationServer,
  { redirectUri, state }: Request,
  parameters: Record<string, string>,
): string => redirectWith(redirectUri, { ...parameters, state, iss: issuer });

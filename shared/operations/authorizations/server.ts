import type { Config } from '#shared/platform/config.ts';
import { defaultScopes, scopeNames } from '#shared/people/scopes.ts';
import { PRODUCT_NAME } from '#shared/values/product.ts';

/** The authorization server of `/api/mcp`: its names and its metadata (RFC 8414, RFC 9728). */

export const MCP_PATH = '/api/mcp';

export interface AuthorizationServer {
  /** The address of the service, without a slash at the end. */
  issuer: string;
  /** The only thing that its tokens are for. */
  resource: string;
}

export const authorizationServerOf = ({ api }: Pick<Config, 'api'>): AuthorizationServer => ({
  issuer: api.publicUrl,
  resource: `${api.publicUrl}${MCP_PATH}`,
});

/** `decide` is not among the scopes: a client that asks for everything here still decides nothing. */
export const protectedResource = ({ issuer, resource }: AuthorizationServer) => ({
  resource,
  authorization_servers: [issuer],
  scopes_supported: [...defaultScopes],
  bearer_methods_supported: ['header'],
  resource_name: PRODUCT_NAME,
  resource_documentation: `${issuer}/docs`,
});

export const serverMetadata = ({ issuer }: AuthorizationServer) => ({
  issuer,
  authorization_endpoint: `${issuer}/authorize`,
  token_endpoint: `${issuer}/api/oauth/token`,
  registration_endpoint: `${issuer}/api/oauth/register`,
  revocation_endpoint: `${issuer}/api/oauth/revoke`,
  scopes_supported: [...scopeNames],
  response_types_supported: ['code'],
  response_modes_supported: ['query'],
  grant_types_supported: ['authorization_code', 'refresh_token'],
  token_endpoint_auth_methods_supported: ['none'],
  revocation_endpoint_auth_methods_supported: ['none'],
  code_challenge_methods_supported: ['S256'],
  authorization_response_iss_parameter_supported: true,
  client_id_metadata_document_supported: true,
});

/** The `WWW-Authenticate` of a 401 of `/api/mcp`, which leads a client to the metadata. */
export const challengeTo = ({ issuer }: AuthorizationServer, sentToken: boolean): string =>
  [
    `Bearer resource_metadata="${issuer}/.well-known/oauth-protected-resource${MCP_PATH}"`,
    `scope="${defaultScopes.join(' ')}"`,
    ...(sentToken ? ['error="invalid_token"'] : []),
  ].join(', ');

import { z } from 'zod';
import { MAX_URL } from './authorization.ts';

/**
 * The messages of the OAuth endpoints, whose form RFC 6749, 7009, 7591, 8414 and 9728 prescribe. Unlike other requests,
 * unknown fields are ignored, as they require.
 */

export const oauthErrorBody = z.object({ error: z.string(), error_description: z.string() });

/** What a client says about itself: at registration (RFC 7591), or in the document at its id. */
export const clientMetadata = z.object({
  client_name: z.string().trim().min(1).max(200).optional(),
  redirect_uris: z.array(z.string().min(1).max(MAX_URL)).min(1).max(10),
  grant_types: z.array(z.string().max(100)).max(10).optional(),
  response_types: z.array(z.string().max(100)).max(10).optional(),
  token_endpoint_auth_method: z.string().max(100).optional(),
});
export type ClientMetadata = z.infer<typeof clientMetadata>;

/** The document at the URL that a client has as its id. */
export const clientDocument = clientMetadata.extend({ client_id: z.string().max(MAX_URL) });

export const registeredClientSchema = z.object({
  client_id: z.string(),
  client_name: z.string(),
  redirect_uris: z.array(z.string()),
  grant_types: z.array(z.string()),
  response_types: z.array(z.string()),
  token_endpoint_auth_method: z.literal('none'),
});

const text = z.string().min(1).max(MAX_URL);

export const codeExchange = z.object({
  grant_type: z.literal('authorization_code'),
  client_id: text,
  code: text,
  redirect_uri: text,
  code_verifier: z.string().regex(/^[A-Za-z0-9._~-]{43,128}$/, 'must have 43 to 128 characters'),
  resource: text.optional(),
});
export type CodeExchange = z.infer<typeof codeExchange>;

export const tokenRefresh = z.object({
  grant_type: z.literal('refresh_token'),
  client_id: text,
  refresh_token: text,
  scope: z.string().max(1_000).optional(),
  resource: text.optional(),
});
export type TokenRefresh = z.infer<typeof tokenRefresh>;

export const tokenRevocation = z.object({ client_id: text, token: text });
export type TokenRevocation = z.infer<typeof tokenRevocation>;

export const tokensSchema = z.object({
  access_token: z.string(),
  token_type: z.literal('Bearer'),
  /** Seconds. */
  expires_in: z.int(),
  refresh_token: z.string(),
  scope: z.string(),
});
export type Tokens = z.infer<typeof tokensSchema>;

export const protectedResourceSchema = z.object({
  resource: z.string(),
  authorization_servers: z.array(z.string()),
  scopes_supported: z.array(z.string()),
  bearer_methods_supported: z.array(z.string()),
  resource_name: z.string(),
  resource_documentation: z.string(),
});

export const authorizationServerSchema = z.object({
  issuer: z.string(),
  authorization_endpoint: z.string(),
  token_endpoint: z.string(),
  registration_endpoint: z.string(),
  revocation_endpoint: z.string(),
  scopes_supported: z.array(z.string()),
  response_types_supported: z.array(z.string()),
  response_modes_supported: z.array(z.string()),
  grant_types_supported: z.array(z.string()),
  token_endpoint_auth_methods_supported: z.array(z.string()),
  revocation_endpoint_auth_methods_supported: z.array(z.string()),
  code_challenge_methods_supported: z.array(z.string()),
  authorization_response_iss_parameter_supported: z.boolean(),
  client_id_metadata_document_supported: z.boolean(),
});

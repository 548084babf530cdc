import { z } from 'zod';
import { offsetQuery, timestamp } from '#shared/contract/common.ts';
import { capabilities, type Capability } from '#shared/people/capabilities.ts';
import { type Scope, scopeNames } from '#shared/people/scopes.ts';

/** Clients that members let use `/api/mcp` for them, by OAuth 2.1. */

export const MAX_URL = 2_000;
const MAX_STATE = 4_000;

const scope = z.enum(scopeNames as [Scope, ...Scope[]]);
const capability = z.enum(Object.keys(capabilities) as [Capability, ...Capability[]]);
const clientName = z.string().meta({ description: 'As the client calls itself' });
const clientHost = z.string().meta({
  description: 'Of its metadata document or, for a registered client, where codes are sent',
});
const clientVerified = z.boolean().meta({
  description: 'Whether the host stands for the client: it serves the metadata document',
});

const parameter = (max: number) => z.string().max(max).optional();

/** The parameters of an authorization request, as the client wrote them into the address of the page. */
const authorizationParameters = z
  .strictObject({
    client_id: z.string().min(1).max(MAX_URL),
    redirect_uri: parameter(MAX_URL),
    response_type: parameter(100),
    code_challenge: parameter(200),
    code_challenge_method: parameter(20),
    resource: parameter(MAX_URL),
    scope: parameter(1_000),
    state: parameter(MAX_STATE),
  })
  .meta({ id: 'AuthorizationParameters' });
export type AuthorizationParameters = z.infer<typeof authorizationParameters>;

const example = {
  client_id: 'client_01k9x7c2m5q8r3t6v9w0y1z2a4',
  redirect_uri: 'http://127.0.0.1:9876/callback',
  response_type: 'code',
  code_challenge: 'E9Melhoa2OwvFrEMTJguCHaoeK1t8URWbuGJSstw-cM',
  code_challenge_method: 'S256',
  scope: 'view run',
  state: 'xyz',
};

export const authorizationPreviewInput = z
  .strictObject({ request: authorizationParameters })
  .meta({ examples: [{ request: example }] });

export const authorizationPreviewSchema = z
  .object({
    client: z.object({
      id: z.string(),
      name: clientName,
      host: clientHost,
      verified: clientVerified,
      redirect_host: z.string().meta({ description: 'Where the code is sent' }),
    }),
    workspace: z.object({ id: z.string(), name: z.string() }),
    scopes: z
      .array(
        z.object({
          scope,
          capabilities: z.array(capability).meta({ description: 'Those of them that you have' }),
          selected: z.boolean().meta({ description: 'Whether the page proposes it' }),
          required: z.boolean(),
        }),
      )
      .meta({ description: 'What the client asks for' }),
    refusal: z
      .object({ error: z.string(), detail: z.string() })
      .nullable()
      .meta({ description: 'Why the request cannot be allowed' }),
    deny_url: z.string().meta({
      description: 'Where the browser goes without an authorization, with the error for the client',
    }),
  })
  .meta({ id: 'AuthorizationPreview' });
export type AuthorizationPreview = z.infer<typeof authorizationPreviewSchema>;

export const authorizationInput = z
  .strictObject({
    request: authorizationParameters,
    scopes: z.array(scope).min(1).max(scopeNames.length).meta({
      description: 'What the client gets, of what it asks for; always with `view`',
    }),
  })
  .meta({ examples: [{ request: example, scopes: ['view', 'run'] }] });
export type AuthorizationInput = z.infer<typeof authorizationInput>;

export const authorizationSchema = z
  .object({
    id: z.string(),
    client_id: z.string(),
    client_name: clientName,
    client_host: clientHost,
    client_verified: clientVerified,
    member_id: z.string(),
    member_name: z.string(),
    scopes: z.array(z.string()),
    capabilities: z.array(z.string()).meta({
      description: 'What the client can use while the member has it too',
    }),
    created_at: timestamp,
    last_used_at: timestamp.nullable().meta({ description: 'Delayed by at most a few seconds' }),
  })
  .meta({ id: 'Authorization' });
export type Authorization = z.infer<typeof authorizationSchema>;

export const grantedAuthorizationSchema = z
  .object({
    authorization: authorizationSchema,
    redirect_to: z.string().meta({ description: 'Where the browser takes the code' }),
  })
  .meta({ id: 'GrantedAuthorization' });

export const authorizationQuery = offsetQuery.extend({
  of: z.enum(['me', 'workspace']).default('me').meta({
    description: "Yours, or with `manage_api_keys` those of all the workspace's members",
  }),
});
export type AuthorizationQuery = z.infer<typeof authorizationQuery>;

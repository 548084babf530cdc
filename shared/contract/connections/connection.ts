import { z } from 'zod';
import { timestamp } from '#shared/contract/common.ts';
import { etag } from '#shared/contract/if-match.ts';
import { allowedHosts, secretName } from '#shared/contract/secrets/secret.ts';
import { clientAuths, presetIds } from './presets.ts';

export const connectionGrants = ['authorization_code', 'client_credentials'] as const;
export const connectionOwners = ['workspace', 'member'] as const;
export const connectionStatuses = ['not_signed_in', 'connected', 'needs_sign_in'] as const;

const MAX_URL = 2_000;
const MAX_SCOPES = 100;
const MAX_PARAMS = 20;

/** What the service sets itself in the address of an authorization. */
const OWN_PARAMS: ReadonlySet<string> = new Set([
  'client_id',
  'client_secret',
  'redirect_uri',
  'response_type',
  'response_mode',
  'state',
  'scope',
  'nonce',
  'code_challenge',
  'code_challenge_method',
  'request',
  'request_uri',
]);

const LOOPBACK = /^(localhost|127(\.\d+){3}|\[::1\])$/;

/** Codes and tokens pass through these addresses, so only this machine may be reached without TLS. */
export function isEndpoint(text: string): boolean {
  const url = URL.parse(text);
  if (url === null || url.username !== '' || url.password !== '' || url.hash !== '') return false;
  return url.protocol === 'https:' || (url.protocol === 'http:' && LOOPBACK.test(url.hostname));
}

const endpoint = z
  .string()
  .max(MAX_URL)
  .refine(
    isEndpoint,
    'must be an https:// address without user and fragment; http:// only on this machine',
  );

const issuer = endpoint.meta({
  description:
    'The issuer of the authorization server. Its metadata (OpenID Connect Discovery or RFC 8414) gives the other addresses',
  examples: ['https://login.example.com'],
});
const authorizationUrl = endpoint.meta({ description: 'Where members sign in' });
const tokenUrl = endpoint.meta({ description: 'Where codes and refresh tokens become tokens' });
const clientId = z
  .string()
  .min(1)
  .max(1_000)
  .regex(/^[\x20-\x7e]+$/, 'must be printable ASCII');
const clientSecret = z
  .string()
  .min(1)
  .max(8_000)
  .regex(/^[\x20-\x7e]+$/, 'must be printable ASCII')
  .meta({
    description: 'Stored sealed. No response contains it. Absent for a public client',
    format: 'password',
  });
const clientAuth = z.enum(clientAuths).meta({
  description:
    'How the client proves who it is: in the header, in the body, or not at all (a public client without a secret)',
});
const scopes = z
  .array(
    z
      .string()
      .min(1)
      .max(300)
      .regex(/^[\x21\x23-\x5b\x5d-\x7e]+$/, 'must be one scope, without spaces'),
  )
  .max(MAX_SCOPES)
  .meta({ description: 'What to ask for; it counts from the next sign-in' });
const authorizationParams = z
  .record(z.string().min(1).max(100), z.string().max(1_000))
  .check((given) => {
    const names = Object.keys(given.value);
    const own = names.find((name) => OWN_PARAMS.has(name.toLowerCase()));
    const message =
      names.length > MAX_PARAMS
        ? `must have at most ${MAX_PARAMS} parameters`
        : `must not have '${own}', which the service sets`;
    if (names.length <= MAX_PARAMS && own === undefined) return;
    given.issues.push({ code: 'custom', message, input: given.value, continue: false });
  })
  .meta({
    description: 'Further parameters of the address where members sign in',
    examples: [{ access_type: 'offline' }],
  });

const fields = {
  client_id: clientId.optional(),
  client_secret: clientSecret.optional(),
  client_auth: clientAuth.optional(),
  issuer: issuer.optional(),
  authorization_url: authorizationUrl.optional(),
  token_url: tokenUrl.optional(),
  scopes: scopes.optional(),
  authorization_params: authorizationParams.optional(),
  allowed_hosts: allowedHosts.optional(),
};

/** What the metadata of an MCP server gives, so that the input does not. */
const FOUND_BY_SERVER = ['preset', 'authorization_url', 'token_url', 'allowed_hosts'] as const;

const mcpServerUrl = endpoint.meta({
  description:
    'An MCP server that requires sign-in. Its metadata gives the addresses, the scopes and `allowed_hosts`, and without a ' +
    '`client_id` the service gets itself a client: by the document about itself, or by registration. `issuer` chooses ' +
    'one of several authorization servers',
  examples: ['https://tools.example.com/mcp'],
});

/** The fields of a connection to an MCP server and of any other one differ. */
function requireOneKind(
  input: { mcp_server_url?: string | undefined; client_id?: string | undefined; grant: string } & {
    [Field in (typeof FOUND_BY_SERVER)[number]]?: unknown;
  },
  context: z.RefinementCtx,
): void {
  const issue = (field: string, message: string): void =>
    context.addIssue({ code: 'custom', path: [field], message });
  if (input.mcp_server_url === undefined) {
    if (input.client_id === undefined) issue('client_id', 'is required without mcp_server_url');
    return;
  }
  for (const field of FOUND_BY_SERVER) {
    if (input[field] !== undefined) issue(field, 'is not allowed with mcp_server_url');
  }
  if (input.grant === 'client_credentials') {
    issue('grant', "must be 'authorization_code' with mcp_server_url");
  }
  if (input.client_id !== undefined) return;
  for (const field of ['client_secret', 'client_auth'] as const) {
    if ((input as Record<string, unknown>)[field] !== undefined) {
      issue(field, 'is only allowed with client_id');
    }
  }
}

export const connectionInput = z
  .strictObject({
    ...fields,
    name: secretName.meta({
      description: 'Workflows refer to it as `{connections.NAME}`',
      examples: ['SLACK'],
    }),
    preset: z
      .enum(presetIds as [string, ...string[]])
      .optional()
      .meta({ description: 'A well-known service, which gives what is not given' }),
    grant: z.enum(connectionGrants).default('authorization_code').meta({
      description:
        '`authorization_code`: someone signs in. `client_credentials`: the client itself, as the workspace',
    }),
    owner: z.enum(connectionOwners).default('workspace').meta({
      description:
        '`workspace`: one account for all runs. `member`: each run uses the account of the member who started it',
    }),
    mcp_server_url: mcpServerUrl.optional(),
  })
  .superRefine(requireOneKind)
  .meta({
    examples: [
      {
        name: 'EXAMPLE',
        authorization_url: 'https://login.example.com/authorize',
        token_url: 'https://login.example.com/token',
        client_id: 'workflows',
        client_secret: 'demo-client-secret-0123',
        scopes: ['read'],
        allowed_hosts: ['api.example.com'],
      },
    ],
  });
export type ConnectionInput = z.infer<typeof connectionInput>;

export const connectionUpdate = z
  .strictObject(fields)
  .meta({ examples: [{ scopes: ['read', 'write'] }] });
export type ConnectionUpdate = z.infer<typeof connectionUpdate>;

export const connectionSchema = z
  .object({
    id: z.string(),
    name: z.string(),
    preset: z.string().nullable(),
    grant: z.enum(connectionGrants),
    owner: z.enum(connectionOwners),
    issuer: z.string().nullable(),
    authorization_url: z.string().nullable(),
    token_url: z.string(),
    callback_url: z.string().nullable().meta({
      description:
        'Register this address with the service as the redirect URI. Null where nobody signs in',
    }),
    client_id: z.string(),
    client_auth: z.enum(clientAuths),
    resource: z.string().nullable().meta({
      description: 'The URL of the MCP server that the tokens are for; null for any other service',
    }),
    scopes: z.array(z.string()),
    authorization_params: z.record(z.string(), z.string()),
    allowed_hosts: z.array(z.string()).meta({
      description: 'Only requests to these hosts get the access token',
    }),
    status: z.enum(connectionStatuses).meta({
      description:
        "Of the workspace's account, or of the reader's own if `owner` is `member`. `needs_sign_in`: the service no " +
        'longer accepts it, or it has expired',
    }),
    signed_in_by: z.string().nullable().meta({ description: 'The member who signed in' }),
    expires_at: timestamp.nullable().meta({
      description: 'When the access token ends. It is refreshed before, if the service allows it',
    }),
    last_used_at: timestamp.nullable().meta({
      description: 'When a call last needed it, to the minute',
    }),
    created_at: timestamp,
    updated_at: timestamp,
    etag,
  })
  .meta({ id: 'Connection' });
export type Connection = z.infer<typeof connectionSchema>;

export const authorizationSchema = z
  .object({
    authorization_url: z.string().meta({
      description: 'Open it in the browser that got this response, within ten minutes',
    }),
  })
  .meta({ id: 'ConnectionAuthorization' });

/** Why a sign-in did not succeed, in the address of the page where it ends. */
export type SignInProblem =
  /** It is unknown, was used, took more than ten minutes, or began in another browser. */
  | 'expired'
  /** The person or the service declined. */
  | 'denied'
  /** Another service has answered than the one that was asked. */
  | 'issuer'
  /** The service did not accept the code or the client. */
  | 'refused'
  /** The service did not answer in time. */
  | 'unavailable'
  /** The connection was changed or deleted meanwhile. */
  | 'changed'
  /** The member may no longer sign in. */
  | 'forbidden';

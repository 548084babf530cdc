import { isUtf8 } from 'node:buffer';
import type { FastifyError, FastifyInstance, FastifyReply, FastifyRequest } from 'fastify';
import type { ZodTypeProvider } from 'fastify-type-provider-zod';
import type { z } from 'zod';
import {
  authorizationServerSchema,
  clientMetadata,
  codeExchange,
  oauthErrorBody,
  protectedResourceSchema,
  registeredClientSchema,
  tokenRefresh,
  tokenRevocation,
  tokensSchema,
} from '#shared/contract/authorizations/oauth.ts';
import {
  type Exchanged,
  exchangeCode,
  refreshTokens,
  revokeToken,
} from '#shared/db/authorizations/tokens.ts';
import { AppError, type ErrorCode, errorTable } from '#shared/errors.ts';
import { registerClientOf } from '#shared/operations/authorizations/clients.ts';
import {
  authorizationServerOf,
  MCP_PATH,
  protectedResource,
  serverMetadata,
} from '#shared/operations/authorizations/server.ts';
import type { App, RouteContext } from '#api/deps.ts';
import { clientNetwork } from '#api/http/client-address.ts';
import { classify } from '#api/http/error-handler.ts';
import { nothing } from '#api/http/responses.ts';

/** A form or a registration has some addresses and a code. */
const MAX_BODY_BYTES = 32_768;

/**
 * The endpoints of the authorization server of `/api/mcp` that programs call. Their forms and errors are those of the
 * RFCs, so they are not part of the OpenAPI document.
 */
export function oauthRoutes(app: App, context: RouteContext): void {
  const server = authorizationServerOf(context.config);
  for (const path of ['', MCP_PATH]) {
    app.get(`/.well-known/oauth-protected-resource${path}`, {
      schema: { hide: true, response: { 200: protectedResourceSchema } },
      config: { capability: 'public' },
      handler: async () => protectedResource(server),
    });
  }
  app.get('/.well-known/oauth-authorization-server', {
    schema: { hide: true, response: { 200: authorizationServerSchema } },
    config: { capability: 'public' },
    handler: async () => serverMetadata(server),
  });
  app.register(async (plugin) => {
    const scope = plugin.withTypeProvider<ZodTypeProvider>();
    acceptForms(scope);
    scope.setErrorHandler(refuse);
    endpoints(scope, context);
  });
}

function endpoints(app: App, { db }: RouteContext): void {
  app.post('/api/oauth/register', {
    bodyLimit: MAX_BODY_BYTES,
    schema: { hide: true, response: { 201: registeredClientSchema } },
    config: { capability: 'public' },
    handler: async ({ body, ips, ip }, reply) => {
      const metadata = bodyOf(clientMetadata, body, 'invalid_client_metadata');
      const network = clientNetwork({ ips, ip });
      const { id, name, redirect_uris } = await registerClientOf(db, metadata, network);
      return reply.code(201).send({
        client_id: id,
        client_name: name,
        redirect_uris,
        grant_types: ['authorization_code', 'refresh_token'],
        response_types: ['code'],
        token_endpoint_auth_method: 'none' as const,
      });
    },
  });

  app.post('/api/oauth/token', {
    bodyLimit: MAX_BODY_BYTES,
    schema: { hide: true, response: { 200: tokensSchema } },
    config: { capability: 'public' },
    handler: async ({ body, headers }) => {
      if (headers.authorization !== undefined) {
        throw new OAuthRefusal('invalid_client', 'Clients have no secret: send the client_id only');
      }
      const exchanged = await exchange(db, body);
      if ('tokens' in exchanged) return exchanged.tokens;
      throw new OAuthRefusal(exchanged.refused.error, exchanged.refused.detail);
    },
  });

  app.post('/api/oauth/revoke', {
    bodyLimit: MAX_BODY_BYTES,
    schema: { hide: true, response: { 200: nothing } },
    config: { capability: 'public' },
    // A token that is unknown is not valid either, so the answer is the same (RFC 7009).
    handler: async ({ body }, reply) => {
      await revokeToken(db, bodyOf(tokenRevocation, body));
      return reply.code(200).send();
    },
  });
}

async function exchange(db: RouteContext['db'], body: unknown): Promise<Exchanged> {
  const { grant_type: kind } = (body ?? {}) as { grant_type?: unknown };
  if (kind === 'authorization_code') return exchangeCode(db, bodyOf(codeExchange, body));
  if (kind === 'refresh_token') return refreshTokens(db, bodyOf(tokenRefresh, body));
  if (kind === undefined) throw new OAuthRefusal('invalid_request', 'grant_type is missing');
  throw new OAuthRefusal(
    'unsupported_grant_type',
    'grant_type must be authorization_code or refresh_token',
  );
}

/** An error with a code of OAuth. */
class OAuthRefusal extends AppError {
  readonly error: string;

  constructor(error: string, detail: string) {
    super(error === 'invalid_client' ? 'unauthenticated' : 'invalid', detail);
    this.error = error;
  }
}

function bodyOf<Schema extends z.ZodType>(
  schema: Schema,
  body: unknown,
  error = 'invalid_request',
): z.output<Schema> {
  const read = schema.safeParse(body);
  if (read.success) return read.data;
  const [issue] = read.error.issues;
  const path = issue?.path.join('.') ?? '';
  throw new OAuthRefusal(
    error,
    `${path === '' ? 'The body' : path}: ${issue?.message ?? 'invalid'}`,
  );
}

/** The token endpoint reads forms (RFC 6749). A repeated parameter is ambiguous, and is refused. */
function acceptForms(app: Pick<FastifyInstance, 'addContentTypeParser'>): void {
  app.addContentTypeParser(
    'application/x-www-form-urlencoded',
    { parseAs: 'buffer' },
    async (_request: unknown, body: Buffer) => {
      const text = isUtf8(body) ? body.toString('utf8') : '';
      const fields = new Map<string, string>();
      for (const [name, value] of new URLSearchParams(text)) {
        if (fields.has(name)) {
          throw new OAuthRefusal(
            'invalid_request',
            `${name.slice(0, 100)} is given more than once`,
          );
        }
        // An empty value counts as none.
        if (value !== '') fields.set(name, value);
      }
      return Object.fromEntries(fields);
    },
  );
}

const oauthErrors: Partial<Record<ErrorCode, string>> = {
  rate_limited: 'temporarily_unavailable',
  unavailable: 'temporarily_unavailable',
  internal: 'server_error',
};

/** Every error in the form of RFC 6749. */
function refuse(
  error: FastifyError | AppError,
  request: FastifyRequest,
  reply: FastifyReply,
): FastifyReply {
  const { code, detail: usualDetail } = classify(error);
  const detail = code === 'too_large' ? 'The body is larger than 32 kB' : usualDetail;
  if (code === 'internal') request.log.error({ err: error }, 'request failed');
  const registers = request.routeOptions.url === '/api/oauth/register';
  const usual = registers ? 'invalid_client_metadata' : 'invalid_request';
  const named = error instanceof OAuthRefusal ? error.error : (oauthErrors[code] ?? usual);
  const isAddress = registers && detail.startsWith('redirect_uris');
  const retryAfter = errorTable[code].retryable
    ? ((error as Partial<AppError>).retryAfterSeconds ?? 2)
    : undefined;
  if (retryAfter !== undefined) reply.header('retry-after', String(retryAfter));
  return reply
    .code(errorTable[code].status)
    .type('application/json; charset=utf-8')
    .serializer(JSON.stringify)
    .send(
      oauthErrorBody.parse({
        error: isAddress ? 'invalid_redirect_uri' : named,
        error_description: detail,
      }),
    );
}

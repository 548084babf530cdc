import cors from '@fastify/cors';
import helmet from '@fastify/helmet';
import websocket from '@fastify/websocket';
import fastify, { type FastifyBaseLogger, LogController } from 'fastify';
import {
  serializerCompiler,
  validatorCompiler,
  type ZodTypeProvider,
} from 'fastify-type-provider-zod';
import { newId } from '../shared/platform/ids.ts';
import { createSessionTokens } from '../shared/platform/session-tokens.ts';
import { authenticate, createAuthenticator } from './authenticate.ts';
import { refuseUndeclaredRoutes } from './authorize.ts';
import { acceptJson, BODY_LIMIT_BYTES } from './body.ts';
import type { ApiDeps, App, RouteContext } from './deps.ts';
import { answerErrors, answerFrameworkError, answerSocketError } from './error-handler.ts';
import { refuseUnsafeInput } from './input-guard.ts';
import { createKeyUses } from './key-uses.ts';
import { mcpRoutes } from './mcp/route.ts';
import { measureRequests } from './metrics.ts';
import { documentRoutes } from './openapi.ts';
import { serveReference } from './reference.ts';
import { approvalRoutes } from './routes/ops/approvals.ts';
import { auditRoutes } from './routes/ops/audit.ts';
import { authRoutes } from './routes/ops/auth.ts';
import { budgetRoutes } from './routes/ops/budgets.ts';
import { governanceRoutes } from './routes/ops/governance.ts';
import { healthRoutes } from './routes/ops/health.ts';
import { keyRoutes } from './routes/ops/keys.ts';
import { policyRoutes } from './routes/ops/policies.ts';
import { priceRoutes } from './routes/ops/prices.ts';
import { runRoutes } from './routes/ops/runs.ts';
import { templateRoutes } from './routes/ops/templates.ts';
import { usageRoutes } from './routes/ops/usage.ts';
import { versionRoutes } from './routes/ops/versions.ts';
import { workflowRoutes } from './routes/ops/workflows.ts';
import { workspaceRoutes } from './routes/ops/workspace.ts';
import { socketOptions, streamRoutes } from './stream/route.ts';
import { createUntold } from './untold.ts';

/** How long a whole request may take to arrive. */
const REQUEST_TIMEOUT_MS = 30_000;
/** How long a handler may take; just above the database's own statement timeout. */
const HANDLER_TIMEOUT_MS = 35_000;
/** Starts, decisions and the like on their way to Temporal that no request waits for. */
const MAX_UNTOLD = 200;
const SANE_REQUEST_ID = /^[\w.:-]{1,100}$/;

/** Every route there is, by resource. */
const routes = [
  healthRoutes,
  authRoutes,
  workflowRoutes,
  versionRoutes,
  templateRoutes,
  runRoutes,
  approvalRoutes,
  keyRoutes,
  workspaceRoutes,
  usageRoutes,
  auditRoutes,
  priceRoutes,
  budgetRoutes,
  governanceRoutes,
  policyRoutes,
  streamRoutes,
  mcpRoutes,
];

/** The HTTP application, not yet listening. Closing it ends its sockets; what `deps` holds stays the caller's. */
export function buildApp(deps: ApiDeps): App {
  const tokens = createSessionTokens(deps.config.auth.secretKey);
  const keyUses = createKeyUses(deps);
  const context: RouteContext = {
    ...deps,
    tokens,
    keyUses,
    authenticator: createAuthenticator({ ...deps, tokens, keyUses }),
    untold: createUntold(MAX_UNTOLD),
  };
  const { trustedProxies, corsOrigins } = deps.config.api;
  const app = fastify({
    loggerInstance: deps.log as FastifyBaseLogger,
    logController: new LogController({
      disableRequestLogging: true,
      requestIdLogLabel: 'requestId',
    }),
    requestIdHeader: false,
    genReqId: (request) => {
      const given = request.headers['x-request-id'];
      return typeof given === 'string' && SANE_REQUEST_ID.test(given) ? given : newId('request');
    },
    trustProxy: trustedProxies.length > 0 ? trustedProxies : false,
    bodyLimit: BODY_LIMIT_BYTES,
    requestTimeout: REQUEST_TIMEOUT_MS,
    handlerTimeout: HANDLER_TIMEOUT_MS,
    keepAliveTimeout: 72_000,
    forceCloseConnections: true,
    return503OnClosing: true,
    routerOptions: { maxParamLength: 1_000 },
    frameworkErrors: answerFrameworkError,
    clientErrorHandler: answerSocketError,
  }).withTypeProvider<ZodTypeProvider>();

  app.setValidatorCompiler(validatorCompiler);
  app.setSerializerCompiler(serializerCompiler);
  app.addHook('onRequest', async (request, reply) => {
    reply.header('x-request-id', request.id);
  });
  app.addHook('onClose', async () => {
    await Promise.all([context.untold.told(), keyUses.stop()]);
  });
  answerErrors(app, context);
  acceptJson(app);
  refuseUndeclaredRoutes(app);
  measureRequests(app, deps);
  app.register(cors, {
    origin: corsOrigins,
    methods: ['GET', 'HEAD', 'POST', 'PUT', 'PATCH', 'DELETE'],
    exposedHeaders: ['x-request-id', 'idempotent-replayed', 'retry-after'],
    maxAge: 600,
  });
  app.register(helmet, {
    // Answers are data; only the reference page is a document, and it brings a policy of its own.
    contentSecurityPolicy: {
      useDefaults: false,
      directives: { defaultSrc: ["'none'"], frameAncestors: ["'none'"] },
    },
    // Whoever terminates TLS in front of us decides about HSTS.
    strictTransportSecurity: false,
  });
  app.register(websocket, socketOptions);
  documentRoutes(app);
  app.register(async (scope) => {
    authenticate(scope, context);
    refuseUnsafeInput(scope);
    for (const register of routes) register(scope.withTypeProvider<ZodTypeProvider>(), context);
  });
  serveReference(app);
  return app;
}

import cors from '@fastify/cors';
import websocket from '@fastify/websocket';
import fastify, { type FastifyBaseLogger, LogController } from 'fastify';
import { validatorCompiler, type ZodTypeProvider } from 'fastify-type-provider-zod';
import { withCommitsNoted } from '#shared/db/commit-outcome.ts';
import { createConnectionTokens } from '#shared/operations/connections/tokens.ts';
import { recordAuthorizationUses, recordDataKeyUses } from '#shared/db/people/key-uses.ts';
import { createDataCursors } from '#shared/crypto/data-cursors.ts';
import { createEgress } from '#shared/platform/egress/egress.ts';
import { ownServices } from '#shared/platform/egress/own-services.ts';
import { newId } from '#shared/crypto/ids.ts';
import { createSealer } from '#shared/crypto/sealing.ts';
import { createSessionTokens } from '#shared/platform/secrets/session-tokens.ts';
import { createStreamTokens } from '#shared/platform/secrets/stream-tokens.ts';
import { authenticate, createAuthenticator } from './identity/authenticate.ts';
import { refuseUndeclaredRoutes } from './identity/authorize.ts';
import { acceptJson, BODY_LIMIT_BYTES } from './http/body.ts';
import {
  type ConnectionLimits,
  connectionLimits,
  leaveLargeBodies,
  refuseWhileStopping,
  serverFactory,
} from './http/connections.ts';
import { loadConsole, serveConsole } from './console.ts';
import { createDataAccess, dataHeaders, guardDataRoutes } from './data/access.ts';
import type { ApiDeps, App, RouteContext } from './deps.ts';
import {
  answerErrors,
  answerFrameworkError,
  answerHandshakeError,
  answerSocketError,
} from './http/error-handler.ts';
import { refuseUnsafeInput } from './http/input-guard.ts';
import { routedUrl } from './inbound/address.ts';
import { createKeyUses } from './identity/key-uses.ts';
import { mcpRoutes } from './mcp/route.ts';
import { oauthRoutes } from './oauth/routes.ts';
import { createMeter } from './data/meter.ts';
import { compareRecords } from './http/conditional.ts';
import { acceptIdempotencyKeys } from './http/idempotency.ts';
import { learnMethods } from './http/methods.ts';
import { measureRequests } from './http/metrics.ts';
import { documentRoutes } from './openapi/document.ts';
import { limitRate, rateLimitHeaders } from './http/rate-limit.ts';
import { serveFileSchema } from './http/file-schema.ts';
import { serveGuide } from './guide/routes.ts';
import { serveReference } from './http/reference.ts';
import { serializer } from './http/responses.ts';
import { alertRoutes } from './routes/ops/alerts/alerts.ts';
import { approvalRoutes } from './routes/ops/gates/approvals.ts';
import { decideRoutes } from './routes/ops/gates/decide.ts';
import { authorizationRoutes } from './routes/ops/authorizations/authorizations.ts';
import { auditRoutes } from './routes/ops/audit/audit.ts';
import { authRoutes } from './routes/ops/people/auth.ts';
import { backtestRoutes } from './routes/ops/policies/backtests.ts';
import { budgetRoutes } from './routes/ops/money/budgets.ts';
import { dataFeedRoutes } from './routes/ops/data/feeds.ts';
import { dataIngestRoutes } from './routes/ops/data/ingest.ts';
import { dataSourceRoutes } from './routes/ops/data/sources.ts';
import { dataKeyRoutes } from './routes/ops/data/keys.ts';
import { governanceRoutes } from './routes/ops/policies/governance.ts';
import { healthRoutes } from './routes/ops/health.ts';
import { hookRoutes } from './routes/ops/inbound/hooks.ts';
import { inboundEventRoutes } from './routes/ops/inbound/inbound-events.ts';
import { keyRoutes } from './routes/ops/people/keys.ts';
import { memberRoutes } from './routes/ops/people/members.ts';
import { policyRoutes } from './routes/ops/policies/policies.ts';
import { priceRoutes } from './routes/ops/money/prices.ts';
import { draftRoutes } from './routes/ops/workflows/drafts.ts';
import { dryRunRoutes } from './routes/ops/workflows/dry-runs.ts';
import { eventRoutes } from './routes/ops/events/events.ts';
import { limitRoutes } from './routes/ops/limits/limits.ts';
import { triggerRoutes } from './routes/ops/events/triggers.ts';
import { callbackRoutes } from './routes/ops/waits/callbacks.ts';
import { waitRoutes } from './routes/ops/waits/waits.ts';
import { experimentRoutes } from './routes/ops/experiments/experiments.ts';
import { forkRoutes } from './routes/ops/forks/forks.ts';
import { nodeTestRoutes } from './routes/ops/workflows/node-tests.ts';
import { pinRoutes } from './routes/ops/workflows/pins.ts';
import { evidenceRoutes } from './routes/ops/evidence/evidence.ts';
import { runExportRoutes } from './routes/ops/runs/run-export.ts';
import { runViewRoutes } from './routes/ops/runs/run-views.ts';
import { runRoutes } from './routes/ops/runs/runs.ts';
import { streamTokenRoutes } from './routes/ops/runs/stream-tokens.ts';
import { connectionRoutes } from './routes/ops/connections/connections.ts';
import {
  clientDocumentRoutes,
  connectionCallbackRoutes,
} from './routes/ops/connections/callbacks.ts';
import { secretRoutes } from './routes/ops/secrets/secrets.ts';
import { toolImportRoutes } from './routes/ops/tools/imports.ts';
import { toolRoutes } from './routes/ops/tools/tools.ts';
import { scheduleRoutes } from './routes/ops/schedules/schedules.ts';
import { templateRoutes } from './routes/ops/workflows/templates.ts';
import { slackAccountRoutes } from './routes/ops/slack/account.ts';
import { slackRoutes } from './routes/ops/slack/interactions.ts';
import { usageRoutes } from './routes/ops/money/usage.ts';
import { versionRoutes } from './routes/ops/workflows/versions.ts';
import { webhookRoutes } from './routes/ops/inbound/webhooks.ts';
import { workflowRoutes } from './routes/ops/workflows/workflows.ts';
import { endpointRoutes } from './routes/v1/webhooks.ts';
import { workspaceRoutes } from './routes/ops/people/workspace.ts';
import { dataRecordRoutes } from './routes/ops/data/records.ts';
import { memberEndpointRoutes } from './routes/ops/webhooks/endpoints.ts';
import { dataChangeRoutes } from './routes/v1/changes.ts';
import { dataEntityRoutes } from './routes/v1/entities.ts';
import { dataEventRoutes } from './routes/v1/events.ts';
import { dataExportRoutes } from './routes/v1/exports.ts';
import { feedReadRoutes } from './routes/v1/feeds.ts';
import { sourceReadRoutes } from './routes/v1/sources.ts';
import { dataUsageRoutes } from './routes/v1/usage.ts';
import { prepareAnswer } from './http/security-headers.ts';
import { traceRequests } from './http/traces.ts';
import { dropDeadSockets } from './stream/heartbeat.ts';
import { refuseOtherSockets, socketOptions, streamRoutes } from './stream/route.ts';
import { createInFlight } from './load/in-flight.ts';

/** The maximum number of calls to Temporal in flight, such as starts and decisions, that no request waits for. */
const MAX_IN_FLIGHT = 200;
const SANE_REQUEST_ID = /^[\w.:-]{1,100}$/;

type RegisterRoutes = (app: App, context: RouteContext) => void;

/** Routes of one tag of an OpenAPI document, by resource. Without a tag, the routes declare their own. */
type Section = readonly [tag: string | undefined, ...routes: RegisterRoutes[]];

/** All routes, in the order of the document. */
const operationSections: readonly Section[] = [
  ['Health', healthRoutes],
  ['Sign-in', authRoutes],
  ['Members', memberRoutes],
  ['Workflows', workflowRoutes, versionRoutes, draftRoutes, limitRoutes],
  ['Templates', templateRoutes],
  [
    'Runs',
    runRoutes,
    runExportRoutes,
    evidenceRoutes,
    runViewRoutes,
    dryRunRoutes,
    forkRoutes,
    streamTokenRoutes,
  ],
  ['Events', eventRoutes],
  ['Events', triggerRoutes],
  ['Events', waitRoutes, callbackRoutes],
  ['Experiments', experimentRoutes],
  ['Runs', nodeTestRoutes],
  ['Workflows', pinRoutes],
  ['Webhooks', webhookRoutes, hookRoutes, inboundEventRoutes],
  ['Runs', approvalRoutes, decideRoutes],
  ['Tools', toolRoutes, toolImportRoutes],
  ['Secrets', secretRoutes],
  ['Connections', connectionRoutes, connectionCallbackRoutes, clientDocumentRoutes],
  ['Schedules', scheduleRoutes],
  ['API keys', keyRoutes],
  ['Authorizations', authorizationRoutes],
  ['Data', dataKeyRoutes],
  ['Workspace', workspaceRoutes, alertRoutes, slackRoutes, slackAccountRoutes, usageRoutes],
  ['Audit', auditRoutes],
  ['Workspace', priceRoutes],
  ['Budgets', budgetRoutes],
  ['Governance', governanceRoutes, policyRoutes, backtestRoutes],
  ['Data', dataFeedRoutes, dataSourceRoutes, dataIngestRoutes, dataRecordRoutes],
  ['Webhook endpoints', memberEndpointRoutes],
  [undefined, streamRoutes],
  ['MCP', mcpRoutes],
];

/** All routes of the data API, in the order of its document. */
const dataSections: readonly Section[] = [
  ['Feeds', feedReadRoutes],
  ['Entities', dataEntityRoutes, dataChangeRoutes],
  ['Events', dataEventRoutes],
  ['Sources', sourceReadRoutes],
  ['Exports', dataExportRoutes],
  ['Usage', dataUsageRoutes],
  ['Webhooks', endpointRoutes],
];

/** Guards, caches and connections that all routes of a process share. */
function createContext(deps: ApiDeps, { commentEveryMs }: ConnectionLimits): RouteContext {
  const tokens = createSessionTokens(deps.config.auth.secretKey);
  const keyUses = createKeyUses(deps);
  const dataKeyUses = createKeyUses(deps, recordDataKeyUses);
  const authorizationUses = createKeyUses(deps, recordAuthorizationUses);
  const meter = createMeter(deps);
  const { db, config } = deps;
  const egress = createEgress({ allow: config.egressAllow, own: ownServices(config) });
  const sealer = createSealer(config);
  return {
    ...deps,
    egress,
    sealer,
    connectionTokens: createConnectionTokens({
      ...{ db, sealer, egress },
      publicUrl: config.api.publicUrl,
    }),
    tokens,
    streamTokens: createStreamTokens(deps.config.auth.secretKey),
    keyUses,
    authorizationUses,
    dataKeyUses,
    dataCursors: createDataCursors(deps.config.auth.secretKey),
    meter,
    dataAccess: createDataAccess({ ...deps, meter, dataKeyUses }),
    authenticator: createAuthenticator({ ...deps, tokens, keyUses, authorizationUses }),
    inFlight: createInFlight(MAX_IN_FLIGHT),
    commentEveryMs,
  };
}

/** The server without routes: connections, request handling, and responses to requests that reach no route. */
function createServer({ config, log }: ApiDeps, limits: ConnectionLimits): App {
  const { trustedProxies } = config.api;
  const app = fastify({
    loggerInstance: log as FastifyBaseLogger,
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
    serverFactory: serverFactory(limits),
    handlerTimeout: limits.handlerMs,
    forceCloseConnections: true,
    return503OnClosing: false,
    rewriteUrl: ({ url = '/' }) => routedUrl(url),
    routerOptions: { maxParamLength: 1_000 },
    frameworkErrors: answerFrameworkError,
    clientErrorHandler: answerSocketError,
  }).withTypeProvider<ZodTypeProvider>();
  app.setValidatorCompiler(validatorCompiler);
  app.setSerializerCompiler(serializer);
  return app;
}

/** Lets pages of these origins read responses. */
function allowOrigins(app: App, corsOrigins: ApiDeps['config']['api']['corsOrigins']): void {
  app.register(cors, {
    origin: corsOrigins,
    methods: ['GET', 'HEAD', 'POST', 'PUT', 'PATCH', 'DELETE'],
    exposedHeaders: [
      'x-request-id',
      'etag',
      'debounce-joined',
      'idempotent-replayed',
      'retry-after',
      ...rateLimitHeaders,
      ...dataHeaders,
    ],
    maxAge: 600,
    // In strict mode, the plugin would answer an OPTIONS request that is not a preflight in its own format.
    strictPreflight: false,
  });
}

/** Everything under `/api` and `/v1`, each behind its own guard. */
function registerRoutes(app: App, context: RouteContext): void {
  app.register(async (scope) => {
    authenticate(scope, context);
    refuseUnsafeInput(scope);
    compareRecords(scope, context.db);
    acceptIdempotencyKeys(scope);
    registerSections(scope, context, operationSections);
  });
  app.register(async (scope) => {
    refuseUnsafeInput(scope);
    oauthRoutes(scope.withTypeProvider<ZodTypeProvider>(), context);
  });
  app.register(async (scope) => {
    guardDataRoutes(scope, context);
    refuseUnsafeInput(scope);
    acceptIdempotencyKeys(scope);
    registerSections(scope, context, dataSections);
  });
}

/** Routes that a resource registers in a scope of its own come later, and declare their tag themselves. */
function registerSections(scope: App, context: RouteContext, sections: readonly Section[]): void {
  let current: string | undefined;
  scope.addHook('onRoute', (route) => {
    if (current !== undefined) route.schema = { tags: [current], ...route.schema };
  });
  for (const [tag, ...routes] of sections) {
    current = tag;
    for (const register of routes) register(scope.withTypeProvider<ZodTypeProvider>(), context);
  }
  current = undefined;
}

/** The HTTP application, not yet listening. Closing it ends its sockets; the caller closes the resources in `deps`. */
export function buildApp(deps: ApiDeps, limits: ConnectionLimits = connectionLimits): App {
  const context = createContext(deps, limits);
  const { keyUses, authorizationUses, dataKeyUses, egress } = context;
  const { corsOrigins, documentedUrl, rateLimitPerMinute } = deps.config.api;
  const app = createServer(deps, limits);
  app.addHook('onRequest', (_request, _reply, next) => withCommitsNoted(next));
  app.addHook('onRequest', async (_request, reply) => prepareAnswer(reply));
  refuseWhileStopping(app);
  app.addHook('onClose', async () => {
    await Promise.all([
      context.inFlight.settled(),
      keyUses.stop(),
      authorizationUses.stop(),
      dataKeyUses.stop(),
      egress.close(),
    ]);
  });
  app.decorateRequest('dataCall');
  app.decorateRequest('dataAccount');
  const console = loadConsole();
  answerErrors(app, context, { console, methodsOf: learnMethods(app) });
  acceptJson(app);
  refuseUndeclaredRoutes(app);
  measureRequests(app, deps);
  traceRequests(app);
  leaveLargeBodies(app);
  // First, since it closes the sockets of handshakes that a later plugin rejects.
  app.register(websocket, socketOptions).after(() => {
    app.websocketServer.on('wsClientError', answerHandshakeError);
  });
  refuseOtherSockets(app);
  dropDeadSockets(app, limits.pingEveryMs);
  allowOrigins(app, corsOrigins);
  // After CORS, so that a page can read the refusal. Preflights are not counted: they cost as little as a refusal.
  limitRate(app, rateLimitPerMinute);
  const server = documentedUrl ?? '/';
  documentRoutes(app, { surface: 'operations', server });
  documentRoutes(app, { surface: 'data', server });
  registerRoutes(app, context);
  serveReference(app);
  serveFileSchema(app);
  serveGuide(app, documentedUrl ?? '');
  serveConsole(app, console);
  return app;
}

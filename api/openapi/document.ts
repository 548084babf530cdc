import packageJson from '#package.json' with { type: 'json' };
import swagger from '@fastify/swagger';
import { jsonSchemaTransform, jsonSchemaTransformObject } from 'fastify-type-provider-zod';
import { z } from 'zod';
import { SCHEMA_VERSION } from '#shared/contract/data/envelope.ts';
import type { FastifyInstance, RouteOptions } from 'fastify';
import type { OpenAPIV3_1 } from 'openapi-types';
import {
  type RouteResponse,
  commonRefusals,
  completeResponses,
  factsOf,
  type RouteFacts,
} from './responses.ts';
import { headers } from './headers.ts';
import {
  addDiscriminators,
  type Components,
  dropSuffixes,
  dropUnused,
  nameInline,
  type Schema,
} from './schemas.ts';

declare module 'fastify' {
  interface FastifyInstance {
    dataSwagger: FastifyInstance['swagger'];
  }
}

interface RequestBody {
  required?: boolean;
  content?: Record<string, { schema?: Schema }>;
}

interface Operation {
  operationId: string;
  requestBody?: RequestBody;
  responses: Record<string, RouteResponse>;
  /** Passed from `transform` to `finish` only. */
  'x-facts'?: RouteFacts;
}

interface Document {
  paths: Record<string, Record<string, Operation>>;
  components: Components;
}

const description = `Workflows, runs, human gates and the workspace around them.

Times are ISO 8601 in UTC, money is in US dollars, durations are in milliseconds. Every error is \`{"detail": "..."}\`;
\`x-request-id\` identifies the request in the logs. No response may be cached (\`Cache-Control: no-store\`).`;

const license = { name: 'MIT', identifier: 'MIT' };

/** How long a copy of the document can be cached. */
const TTL_SECONDS = 60;

const operationsApi: OpenAPIV3_1.Document = {
  openapi: '3.1.0',
  info: { title: 'Operations API', version: packageJson.version, description, license },
  tags: [
    { name: 'Workflows', description: 'Graphs, their versions and their checks' },
    { name: 'Templates', description: 'Graphs to start from, built in or your own' },
    { name: 'Runs', description: 'Executions, their gates and their frames' },
    { name: 'Events', description: 'What runs wait for, and what starts runs' },
    { name: 'Experiments', description: 'Drafts and versions, tried on past runs' },
    {
      name: 'Tools',
      description: 'Tools of the workspace, called from workflows as `custom:<name>`',
    },
    { name: 'Connections', description: 'Accounts at other services, by OAuth' },
    { name: 'Secrets', description: 'Values that requests of steps need and no one reads' },
    { name: 'Webhooks', description: 'Inbound events that start runs' },
    { name: 'Webhook endpoints', description: 'Where events of runs and records are sent' },
    { name: 'Schedules', description: 'Runs that start automatically at given times' },
    { name: 'Sign-in', description: 'Sessions, and how to become a member' },
    { name: 'API keys', description: 'Credentials of programs' },
    { name: 'Authorizations', description: 'Clients that members let use /api/mcp for them' },
    {
      name: 'Data',
      description:
        'Feeds of records, their sources and how records come in; who may read them by the data API, and what that cost',
    },
    { name: 'Members', description: 'Who belongs to the workspace, and what each member can do' },
    { name: 'Workspace', description: 'Settings of the workspace, its plan and its usage' },
    { name: 'Audit', description: 'What was done, by whom, and whether the log is intact' },
    { name: 'Budgets', description: 'Caps on what runs may cost in a window' },
    { name: 'Governance', description: 'Decisions of policies, budgets and overrides' },
    { name: 'MCP', description: 'The same actions as tools for models' },
    { name: 'Health', description: 'The state of the service' },
  ],
  // Either credential, or none in open mode.
  security: [{ apiKey: [] }, { session: [] }, {}],
  paths: {},
  components: {
    securitySchemes: {
      apiKey: { type: 'apiKey', in: 'header', name: 'X-API-Key' },
      session: { type: 'http', scheme: 'bearer' },
    },
  },
};

const dataDescription = `Records that are collected for an organization, their changes and their events.

Every response is \`{data, pagination, meta}\`; \`pagination.next_cursor\` leads to the next page and is null on the last,
\`meta.credits_consumed\` is the cost of the call. Live keys read live records, test keys read demo records. Times are ISO
8601 in UTC. Every error is \`{"detail": "..."}\`. No response may be cached (\`Cache-Control: no-store\`).`;

const dataApi: OpenAPIV3_1.Document = {
  openapi: '3.1.0',
  info: { title: 'Data API', version: SCHEMA_VERSION, description: dataDescription, license },
  tags: [
    { name: 'Feeds', description: 'Streams of records, and what each collects' },
    { name: 'Entities', description: 'Records, their versions and their changes' },
    { name: 'Events', description: 'What happened to records' },
    { name: 'Sources', description: 'Where records come from, and their health' },
    { name: 'Exports', description: 'Many records at once, as JSON or CSV' },
    { name: 'Webhooks', description: 'Your endpoints that receive events' },
    { name: 'Usage', description: 'The use of the allowances' },
  ],
  security: [{ bearer: [] }, { apiKey: [] }],
  paths: {},
  components: {
    securitySchemes: {
      bearer: { type: 'http', scheme: 'bearer' },
      apiKey: { type: 'apiKey', in: 'header', name: 'X-API-Key' },
    },
  },
};

/** The two APIs. Each has its own document without the other's routes. */
export const surfaces = {
  operations: { url: '/api/openapi.json', document: operationsApi, decorator: 'swagger' },
  data: { url: '/v1/openapi.json', document: dataApi, decorator: 'dataSwagger' },
} as const;

const isOf = (surface: keyof typeof surfaces, url: string): boolean =>
  url.startsWith('/v1/') === (surface === 'data');

/**
 * Collects the routes of an API that are registered next, and serves them as one OpenAPI document. `server` is the URL
 * of its paths, or `/` for the address where the document itself is served.
 */
export function documentRoutes(
  app: FastifyInstance,
  { surface, server }: { surface: keyof typeof surfaces; server: string },
): void {
  const { url, document, decorator } = surfaces[surface];
  app.register(swagger, {
    openapi: { ...document, servers: [{ url: server }] },
    decorator,
    transform: (given) => {
      if (!isOf(surface, given.url)) return { schema: { hide: true }, url: given.url };
      const { schema, url: path } = jsonSchemaTransform(given as never);
      return { schema: { ...schema, 'x-facts': factsOf(given.route as RouteOptions) }, url: path };
    },
    transformObject: (given) =>
      finish(jsonSchemaTransformObject(given) as unknown as Document) as never,
  });
  let text: string | undefined;
  app.register(async (scope) => {
    scope.route({
      method: 'GET',
      url,
      schema: { hide: true, response: { 200: z.string() } },
      config: { capability: 'public' },
      handler: async (_request, reply) => {
        text ??= JSON.stringify(app[decorator]());
        return reply
          .header('cache-control', `public, max-age=${TTL_SECONDS}`)
          .type('application/json; charset=utf-8')
          .send(text);
      },
    });
  });
}

const operationsOf = ({ paths }: Document): Operation[] =>
  Object.values(paths).flatMap((path) => Object.values(path));

/** Adds what the generator omits, and removes what has no meaning. */
function finish(generated: Document): Document {
  const document = JSON.parse(JSON.stringify(generated), (_key, value: unknown) =>
    describeList(describeInteger(value)),
  ) as Document;
  const operations = operationsOf(document);
  const common = operations.map((operation) => operation['x-facts']?.common ?? []);
  document.components = {
    ...document.components,
    headers: { ...headers },
    responses: commonRefusals([...new Set(common.flat())]),
  };
  const tagged = taggedSchemas(document.components.schemas);
  for (const operation of operations) {
    if (operation.requestBody !== undefined) allowNoBody(operation.requestBody);
    const { 'x-facts': facts } = operation;
    if (facts !== undefined) {
      operation.responses = completeResponses(operation.responses, facts, tagged);
    }
    delete operation['x-facts'];
  }
  dropUnused(document);
  const finished = dropSuffixes(document);
  nameInline(finished.components.schemas, operationsOf(finished));
  addDiscriminators(finished.components.schemas);
  // Sorted, because schemas are registered in the order in which modules happen to load.
  finished.components.schemas = Object.fromEntries(
    Object.entries(finished.components.schemas).sort(([a], [b]) => (a < b ? -1 : 1)),
  );
  return finished;
}

/** References to the schemas of records with an entity tag. */
const taggedSchemas = (schemas: Record<string, Schema>): Set<string> =>
  new Set(
    Object.keys(schemas)
      .filter((name) => schemas[name]?.properties?.['etag'] !== undefined)
      .map((name) => `#/components/schemas/${name}`),
  );

// An optional body is declared nullable, but a body of `null` is rejected.
function allowNoBody(requestBody: RequestBody): void {
  const media = requestBody.content?.['application/json'];
  const branches = media?.schema?.anyOf;
  if (media === undefined || !branches?.some((branch) => branch.type === 'null')) return;
  const { anyOf: _anyOf, ...rest } = media.schema ?? {};
  media.schema = { ...branches.find((branch) => branch.type !== 'null'), ...rest };
  requestBody.required = false;
}

// The range of integers that JSON can represent applies to all of them, and would only add noise. The default of an
// integer in a query is declared as its text.
function describeInteger(value: unknown): unknown {
  if (typeof value !== 'object' || value === null) return value;
  const schema = value as {
    type?: unknown;
    minimum?: unknown;
    maximum?: unknown;
    default?: unknown;
  };
  if (schema.type === 'integer' && typeof schema.default === 'string') {
    schema.default = Number(schema.default);
  }
  if (schema.minimum === Number.MIN_SAFE_INTEGER) delete schema.minimum;
  if (schema.maximum === Number.MAX_SAFE_INTEGER) delete schema.maximum;
  return schema;
}

// Several values of a parameter are separated by commas; by default they would be several parameters.
function describeList(value: unknown): unknown {
  const { in: where, schema } = (value ?? {}) as { in?: unknown; schema?: Schema };
  if (where !== 'query' || schema?.type !== 'array') return value;
  return Object.assign(value as object, { style: 'form', explode: false });
}

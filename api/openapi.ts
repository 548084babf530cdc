import packageJson from '../package.json' with { type: 'json' };
import swagger from '@fastify/swagger';
import { STATUS_CODES } from 'node:http';
import { jsonSchemaTransform, jsonSchemaTransformObject } from 'fastify-type-provider-zod';
import { z } from 'zod';
import type { FastifyInstance } from 'fastify';
import type { OpenAPIV3_1 } from 'openapi-types';

interface Schema {
  type?: string;
  anyOf?: Schema[];
}

interface RequestBody {
  required?: boolean;
  content?: Record<string, { schema?: Schema }>;
}

interface Operation {
  requestBody?: RequestBody;
  responses?: Record<string, { description?: string }>;
}

interface Document {
  paths?: Record<string, Record<string, Operation>>;
  components?: { schemas?: Record<string, unknown> };
}

const description = `Workflows, runs, human gates and the workspace around them.

Times are ISO 8601 in UTC, money is in US dollars, durations are in milliseconds. Every refusal is \`{"detail": "..."}\`;
\`x-request-id\` names the request in the logs.`;

/** How long a copy of the document may be kept. */
const TTL_SECONDS = 60;

const document: OpenAPIV3_1.Document = {
  openapi: '3.1.0',
  info: { title: 'Operations API', version: packageJson.version, description },
  tags: [
    { name: 'Workflows', description: 'Graphs, their versions and their checks' },
    { name: 'Templates', description: 'Graphs to begin with, built in or your own' },
    { name: 'Runs', description: 'Executions, the gates they wait at and the frames they send' },
    {
      name: 'Tools',
      description: 'Tools of the workspace, called from workflows as `custom:<name>`',
    },
    { name: 'Webhooks', description: 'Events from elsewhere that start runs' },
    { name: 'Schedules', description: 'Runs that begin by themselves at given times' },
    { name: 'Sign-in', description: 'Sessions, and how to become a member' },
    { name: 'API keys', description: 'Credentials of programs' },
    { name: 'Members', description: 'Who belongs to the workspace, and what each may do' },
    { name: 'Workspace', description: 'Settings of the workspace, its plan and its figures' },
    { name: 'Audit', description: 'What was done, by whom, and whether the record is whole' },
    { name: 'Budgets', description: 'Caps on what runs may cost in a window' },
    { name: 'Governance', description: 'What policies, budgets and overrides decided' },
    { name: 'Data', description: 'Feeds of records, their sources, and how records come in' },
    { name: 'MCP', description: 'The same acts as tools for models' },
    { name: 'Health', description: 'How the service is' },
  ],
  // Either one, or none where the service runs open.
  security: [{ apiKey: [] }, { session: [] }, {}],
  paths: {},
  components: {
    securitySchemes: {
      apiKey: { type: 'apiKey', in: 'header', name: 'X-API-Key' },
      session: { type: 'http', scheme: 'bearer' },
    },
  },
};

/** Collects the routes that follow and serves them as one OpenAPI document. */
export function documentRoutes(app: FastifyInstance): void {
  app.register(swagger, {
    openapi: document,
    transform: jsonSchemaTransform,
    transformObject: (given) =>
      finish(jsonSchemaTransformObject(given) as unknown as Document) as never,
  });
  let text: string | undefined;
  app.register(async (scope) => {
    scope.route({
      method: 'GET',
      url: '/api/openapi.json',
      schema: { hide: true, response: { 200: z.string() } },
      config: { capability: 'public' },
      handler: async (_request, reply) => {
        text ??= JSON.stringify(app.swagger());
        return reply
          .header('cache-control', `public, max-age=${TTL_SECONDS}`)
          .type('application/json; charset=utf-8')
          .send(text);
      },
    });
  });
}

/** Says what the generator leaves open, and leaves out what says nothing. */
function finish(generated: Document): Document {
  const document = JSON.parse(JSON.stringify(generated), dropIntegerBounds) as Document;
  for (const operations of Object.values(document.paths ?? {})) {
    for (const { requestBody, responses = {} } of Object.values(operations)) {
      if (requestBody !== undefined) allowNoBody(requestBody);
      for (const [status, response] of Object.entries(responses)) {
        if (response.description === 'Default Response') {
          response.description = STATUS_CODES[status] ?? 'Answer';
        }
      }
    }
  }
  return dropUnused(document);
}

// A body that may be left out is declared nullable; as text, null is refused.
function allowNoBody(requestBody: RequestBody): void {
  const media = requestBody.content?.['application/json'];
  const branches = media?.schema?.anyOf;
  if (media === undefined || !branches?.some((branch) => branch.type === 'null')) return;
  const { anyOf: _anyOf, ...rest } = media.schema ?? {};
  media.schema = { ...branches.find((branch) => branch.type !== 'null'), ...rest };
  requestBody.required = false;
}

// The range of integers that JSON can carry holds for all of them and only clutters each.
function dropIntegerBounds(_key: string, value: unknown): unknown {
  if (typeof value !== 'object' || value === null) return value;
  const schema = value as { minimum?: unknown; maximum?: unknown };
  if (schema.minimum === Number.MIN_SAFE_INTEGER) delete schema.minimum;
  if (schema.maximum === Number.MAX_SAFE_INTEGER) delete schema.maximum;
  return schema;
}

// Each noun is generated as input and as output; most are only one of them.
function dropUnused(document: Document): Document {
  const { schemas = {} } = document.components ?? {};
  for (;;) {
    const text = JSON.stringify(document);
    const unused = Object.keys(schemas).filter(
      (name) => !text.includes(`"#/components/schemas/${name}"`),
    );
    if (unused.length === 0) return document;
    for (const name of unused) delete schemas[name];
  }
}

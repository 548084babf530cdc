import { z } from 'zod';
import { jsonObject, jsonValue } from '#shared/contract/common.ts';
import { customToolSchema, endpointUrl, toolHeaders } from './custom-tool.ts';
import { toolAuth } from './tool-auth.ts';

/** A tool's name on its MCP server. */
const serverToolName = z.string().min(1).max(200);

/** The maximum length of an API document, in bytes. */
export const MAX_API_DOCUMENT = 20_000_000;
/** The maximum number of operations that one import registers. */
export const MAX_OPERATIONS = 500;

const apiDocument = z.union([z.string().min(1).max(MAX_API_DOCUMENT), jsonObject]).meta({
  description:
    'An OpenAPI 3.0 or 3.1 or Swagger 2.0 document: its URL, its text (YAML or JSON), or the object itself. At most 20 MB',
});

/** The fields of an import from an API document, and of one from an MCP server. */
const ofDocument = ['operations', 'server'] as const;
const ofServer = ['names'] as const;

/** Requires either an MCP server or an API document, and only the fields of that. */
export function requireOneSource(
  input: Partial<
    Record<'server_url' | 'openapi' | 'names' | 'operations' | 'server' | 'auth', unknown>
  >,
  context: z.RefinementCtx,
): void {
  const { server_url: server, openapi } = input;
  const issue = (path: string, message: string): void =>
    context.addIssue({ code: 'custom', path: [path], message });
  if ((server === undefined) === (openapi === undefined)) {
    issue(
      'server_url',
      openapi === undefined ? 'or openapi is required' : 'is not allowed with openapi',
    );
  }
  for (const field of server === undefined ? ofServer : ofDocument) {
    if (input[field] === undefined) continue;
    issue(field, `is only allowed with ${server === undefined ? 'server_url' : 'openapi'}`);
  }
  const { as } = (input.auth ?? {}) as { as?: string };
  if (server !== undefined && as?.startsWith('query:') === true) {
    issue('auth.as', 'must be a header for an MCP server');
  }
}

export const toolImportInput = z
  .strictObject({
    server_url: endpointUrl.optional().meta({
      description: 'An MCP server, whose tools are imported. Either this or `openapi`',
    }),
    openapi: apiDocument.optional(),
    headers: toolHeaders.default({}),
    names: z.array(serverToolName).min(1).max(200).optional().meta({
      description: 'Which tools of the MCP server to import; default: all, at most 200',
    }),
    operations: z.array(z.string().min(1).max(2_000)).min(1).max(MAX_OPERATIONS).optional().meta({
      description:
        'Which operations of the document to import, by `operationId` or as `GET /path`; default: the first 500',
    }),
    server: z.string().min(1).max(2_000).optional().meta({
      description:
        "Where the API is, instead of the document's first server; can be relative to the document's URL",
    }),
    auth: toolAuth.optional().meta({
      description: 'What calls of the imported tools authenticate with',
    }),
    prefix: z
      .string()
      .regex(
        /^[a-z][a-z0-9_-]{0,31}$/,
        "must start with a letter and contain only a-z, 0-9, '_' and '-', at most 32",
      )
      .optional()
      .meta({ description: 'What the names of the tools begin with here' }),
    only_list: z
      .boolean()
      .default(false)
      .meta({ description: 'Imports nothing: `listed` says what an import would do' }),
  })
  .superRefine(requireOneSource)
  .meta({
    examples: [
      {
        openapi: 'https://api.example.com/openapi.json',
        operations: ['getOrder'],
        prefix: 'crm_',
      },
    ],
  });
export type ToolImportInput = z.infer<typeof toolImportInput>;

const importedTool = z
  .object({
    id: z.string(),
    name: z.string(),
    mcp_tool: z.string().nullable().meta({ description: 'Its name on the MCP server' }),
    operation: z
      .string()
      .nullable()
      .meta({ description: 'Its operation in the API document: its id, or `GET /path`' }),
    schema_digest: z.string(),
  })
  .meta({ id: 'ImportedTool' });
export type ImportedTool = z.infer<typeof importedTool>;

const listedTool = z
  .object({
    mcp_tool: z.string().nullable().meta({ description: 'Its name on the MCP server' }),
    operation: z
      .string()
      .nullable()
      .meta({ description: 'Its operation in the API document: its id, or `GET /path`' }),
    endpoint: z
      .string()
      .nullable()
      .meta({ description: 'What the operation calls, such as `GET /orders/{id}`' }),
    name: z.string().meta({ description: 'Its name here; empty if it cannot have one' }),
    description: z.string(),
    input_schema: jsonObject
      .nullable()
      .meta({ description: 'Null also for later operations of a long list' }),
    state: z.enum(['new', 'changed', 'unchanged', 'skipped']).meta({
      description:
        'What an import would do with it. `changed`: imported earlier, described otherwise now',
    }),
    reason: z.string().optional().meta({ description: 'Why it would be skipped' }),
  })
  .meta({ id: 'ListedTool' });
export type ListedTool = z.infer<typeof listedTool>;

const importedDocument = z
  .object({
    title: z.string(),
    version: z.string(),
    servers: z
      .array(z.string())
      .meta({ description: 'The first is used, unless `server` says another' }),
    security_schemes: z.array(
      z.object({
        name: z.string(),
        type: z.string().meta({ description: '`http`, `apiKey`, `oauth2` or another' }),
        scheme: z.string().optional().meta({ description: 'For type `http`: `bearer`, `basic`' }),
        in: z.enum(['query', 'header', 'cookie']).optional(),
        parameter: z.string().optional().meta({ description: 'Its name, for type `apiKey`' }),
      }),
    ),
    beyond_limit: z
      .int()
      .meta({ description: 'How many operations are not listed, since there are too many' }),
  })
  .meta({ id: 'ImportedDocument' });

export const toolImportSchema = z
  .object({
    listed: z.array(listedTool).optional().meta({ description: 'With `only_list`' }),
    document: importedDocument
      .optional()
      .meta({ description: 'With `only_list`, of an API document' }),
    created: z.array(importedTool),
    updated: z.array(importedTool).meta({
      description:
        'Imported earlier; the server describes them otherwise now, or they were changed',
    }),
    unchanged: z.array(importedTool),
    skipped: z.array(
      z.object({
        name: z
          .string()
          .meta({ description: 'Its name on the MCP server, or its operation in the document' }),
        reason: z.string(),
      }),
    ),
  })
  .meta({ id: 'ToolImport' });
export type ToolImport = z.infer<typeof toolImportSchema>;

export const toolRefreshInput = z
  .strictObject({
    openapi: apiDocument.optional().meta({
      description: 'The current document, for a tool whose document was not imported by its URL',
    }),
    accept: z.string().max(100).optional().meta({
      description:
        'Accepts the change with this `digest`, which an earlier refresh has shown. Nothing is read',
    }),
  })
  .refine(({ openapi, accept }) => openapi === undefined || accept === undefined, {
    path: ['accept'],
    message: 'is not allowed with openapi',
  })
  .nullish()
  .meta({ examples: [{}] });
export type ToolRefreshInput = z.infer<typeof toolRefreshInput>;

export const toolRefreshSchema = z
  .object({
    state: z.enum(['unchanged', 'changed', 'gone', 'accepted']).meta({
      description:
        '`changed`: the document describes it otherwise now. `gone`: it no longer has the operation. Until the change is accepted, or undone in the document, the tool is not called',
    }),
    digest: z
      .string()
      .nullable()
      .meta({ description: 'To accept the change with; null without one' }),
    changes: z.array(
      z.object({
        field: z.enum(['method', 'request', 'input_schema', 'response_schema', 'description']),
        before: jsonValue,
        after: jsonValue,
      }),
    ),
    tool: customToolSchema,
  })
  .meta({ id: 'ToolRefresh' });
export type ToolRefresh = z.infer<typeof toolRefreshSchema>;

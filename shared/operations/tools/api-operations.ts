import type { Actor } from '#shared/people/actor.ts';
import { holds } from '#shared/people/capabilities.ts';
import { customToolInput } from '#shared/contract/tools/custom-tool.ts';
import { MAX_OPERATIONS, type ToolImportInput } from '#shared/contract/tools/tool-import.ts';
import { AppError } from '#shared/errors.ts';
import type { DigestedOperation } from '#shared/platform/threads/documents.ts';
import { checkToolSecrets } from '#shared/operations/secrets/secrets.ts';
import { type GivenDocument, readApiDocument, urlOf } from './api-document.ts';
import type { ToolDeps } from './custom-tools.ts';
import { type Described, endpointOf, type Found, type SourceTool } from './source-tools.ts';

/** The maximum number of operations in a list. An import registers fewer, chosen from all. */
const MAX_LISTED = 5_000;
/** The total length of the schemas in a list, in characters. */
const MAX_LISTED_SCHEMAS = 500_000;

/**
 * The operations of an API document, as they will be registered: those that were chosen, or the first 500. Throws
 * AppError `invalid` when the document cannot be read, and when the credentials may not be sent to its server.
 */
export async function listOperations(
  deps: ToolDeps,
  actor: Actor,
  input: ToolImportInput & { openapi: GivenDocument },
  timeoutMs: number,
): Promise<Found> {
  const { openapi, operations, prefix, server, only_list: list } = input;
  const limit = list ? MAX_LISTED : MAX_OPERATIONS;
  const options = { operations, prefix, server, limit };
  const document = await readApiDocument(deps.egress, actor, openapi, options, timeoutMs);
  if (document.operations.length + document.skipped.length === 0) {
    throw new AppError('invalid', 'The API document has no operations');
  }
  await checkCredentials(deps, actor, input, document.operations);
  const tools = document.operations.map((operation) => sourceTool(actor, input, operation));
  const { title, version, servers, security_schemes, beyond_limit } = document;
  return {
    tools: list ? shortened(tools) : tools,
    skipped: document.skipped.map(({ operation: name, reason }) => ({ name, reason })),
    document: { title, version, servers, security_schemes, beyond_limit },
  };
}

/** Every server that gets the credentials must be allowed for them. Throws AppError `invalid`. */
async function checkCredentials(
  { db }: ToolDeps,
  { workspaceId }: Actor,
  { auth, headers }: ToolImportInput,
  operations: readonly DigestedOperation[],
): Promise<void> {
  const servers = new Set(
    operations.flatMap(({ request }) => (request.own_server ? [] : [request.server])),
  );
  for (const server of servers) {
    await checkToolSecrets(db, workspaceId, { headers, auth }, server);
  }
}

function sourceTool(
  actor: Actor,
  input: ToolImportInput & { openapi: GivenDocument },
  operation: DigestedOperation,
): SourceTool {
  const { name, description, input_schema, method, path } = operation;
  return {
    source: {
      mcp_tool: null,
      operation: operation.operation,
      endpoint: `${method} ${path}`,
    },
    ...{ name, description, input_schema },
    describe: () => describe(actor, input, operation),
  };
}

/** The tool as it will be registered, or why it cannot be. */
function describe(
  { role, overrides }: Actor,
  { auth, openapi, server }: ToolImportInput & { openapi: GivenDocument },
  { operation: _operation, path: _path, deprecated: _deprecated, ...operation }: DigestedOperation,
): Described | string {
  const { request, response_schema, read_only, digest, ...fields } = operation;
  const parsed = customToolInput.safeParse({
    ...fields,
    kind: 'http',
    endpoint_url: endpointOf(request),

    // Only a person who can publish can confirm that calls change nothing.
    read_only: read_only && holds(role, overrides, 'publish_workflows'),
  });
  if (!parsed.success) {
    return parsed.error.issues
      .map(({ path, message }) => `its ${path.join('.')}: ${message}`)
      .join('; ');
  }
  return {
    ...parsed.data,
    request,
    response_schema,
    auth: request.own_server ? null : (auth ?? null),
    document_url: urlOf(openapi),
    document_server: server ?? null,
    pinned_schema: digest,
  };
}

/** Without the schemas of later tools, so that the list stays short. */
function shortened(tools: readonly SourceTool[]): SourceTool[] {
  let left = MAX_LISTED_SCHEMAS;
  return tools.map((tool) => {
    left -= left < 0 ? 0 : JSON.stringify(tool.input_schema).length;
    return left < 0 ? { ...tool, input_schema: null } : tool;
  });
}

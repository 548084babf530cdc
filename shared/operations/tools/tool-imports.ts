import type { Actor } from '#shared/people/actor.ts';
import type {
  ImportedTool,
  ListedTool,
  ToolImport,
  ToolImportInput,
} from '#shared/contract/tools/tool-import.ts';
import { jsonDigest } from '#shared/crypto/json-digest.ts';
import {
  createCustomTool,
  type CustomTool,
  findCustomTool,
  findCustomTools,
  updateCustomTool,
} from '#shared/db/tools/custom-tools.ts';
import { AppError, conflict, type ErrorCode } from '#shared/errors.ts';
import { NodeError } from '#shared/node-error.ts';
import { openHeaders } from '#shared/platform/calls/custom-tool.ts';
import { schemaProblem } from '#shared/platform/threads/untrusted.ts';
import { listOperations } from './api-operations.ts';
import type { ToolDeps } from './custom-tools.ts';
import { listServerTools } from './server-tools.ts';
import type { Described, SourceTool } from './source-tools.ts';
import { sealHeaders } from './tool-headers.ts';

/** In ms. Their sum is below a handler's timeout. */
const LIMITS = { listMs: 15_000, registerMs: 10_000 };

/**
 * Registers the tools of an MCP server, each pinned to the schema that the server reports now, or the operations of an
 * API document, each pinned to what the document describes. A tool that was imported before gets the current
 * description and schema. Those that cannot be registered are skipped, each with the reason. Throws AppError `invalid`
 * when the tools cannot be listed, and `forbidden` for a secret in a header of an MCP server without `run_workflows`:
 * listing sends it.
 */
export async function importTools(
  deps: ToolDeps,
  actor: Actor,
  input: ToolImportInput,
  { listMs, registerMs } = LIMITS,
): Promise<ToolImport> {
  sealHeaders(deps.sealer, { workspaceId: actor.workspaceId, toolId: '' }, input.headers, {});
  const found =
    input.openapi === undefined
      ? await listServerTools(deps, actor, input, listMs)
      : await listOperations(deps, actor, { ...input, openapi: input.openapi }, listMs);
  const result: ToolImport = {
    ...{ created: [], updated: [], unchanged: [] },
    skipped: [...found.skipped],
  };
  const until = performance.now() + registerMs;
  const taken = new Map<string, string>();
  const shown: ListedTool[] = [];
  const known = input.only_list
    ? await knownTools(deps, actor, found.tools)
    : new Map<string, never>();
  for (const tool of found.tools) {
    const late = performance.now() > until ? TOO_LATE : undefined;
    const described = late ?? (await usable(actor, tool, taken));
    if (input.only_list) {
      shown.push(listedAs(tool, described, known.get(tool.name)));
      continue;
    }
    const outcome =
      typeof described === 'string' ? described : await importTool(deps, actor, input, described);
    if (typeof outcome === 'string') {
      result.skipped.push({ name: sourceName(tool), reason: outcome });
    } else result[outcome.change].push(outcome.tool);
  }
  return input.only_list ? { ...result, listed: shown, document: found.document } : result;
}

const sourceName = ({ source }: SourceTool): string => source.mcp_tool ?? source.operation ?? '';

async function knownTools(
  { db }: ToolDeps,
  { workspaceId }: Actor,
  tools: readonly SourceTool[],
): Promise<ReadonlyMap<string, CustomTool>> {
  const names = tools.map(({ name }) => name);
  const known = await findCustomTools(db, { workspaceId, names });
  return new Map(known.map((tool) => [tool.name, tool]));
}

/** What an import would do with a tool. */
function listedAs(
  { source, name, description, input_schema }: SourceTool,
  described: Described | string,
  known: CustomTool | undefined,
): ListedTool {
  const shown = { ...source, name, description, input_schema };
  if (typeof described === 'string') return { ...shown, state: 'skipped', reason: described };
  if (known === undefined) return { ...shown, state: 'new' };
  if (!isSameTool(known, described)) return { ...shown, state: 'skipped', reason: takenText(name) };
  return { ...shown, state: isAsDescribed(known, described) ? 'unchanged' : 'changed' };
}

const TOO_LATE = 'there was no time left to check its schema; import it by its name';

interface Change {
  change: 'created' | 'updated' | 'unchanged';
  tool: ImportedTool;
}

/** Errors that concern a single tool. The others can still be imported. */
const SKIPPED: ReadonlySet<ErrorCode> = new Set(['invalid', 'conflict', 'forbidden', 'not_found']);

/**
 * The tool as it will be registered, or why it cannot be. `taken` are the names that this import has already used, with
 * their tools.
 */
async function usable(
  { workspaceId }: Actor,
  tool: SourceTool,
  taken: Map<string, string>,
): Promise<Described | string> {
  const { name, input_schema: schema } = tool;
  if (name === '') return 'its name has no letter from a to z';
  const other = taken.get(name);
  if (other === sourceName(tool)) return 'the server lists it twice';
  if (other !== undefined) return `its name here would be '${name}', as that of '${other}'`;
  taken.set(name, sourceName(tool));
  const described = tool.describe();
  if (typeof described === 'string' || schema === null) return described;
  const problem = await schemaProblem(workspaceId, schema);
  return problem === undefined ? described : `its schema ${problem}`;
}

/** The change, or why the tool is skipped. */
async function importTool(
  deps: ToolDeps,
  actor: Actor,
  input: ToolImportInput,
  described: Described,
): Promise<Change | string> {
  const { workspaceId } = actor;
  try {
    const existing = await findCustomTool(deps.db, { workspaceId, name: described.name });
    if (existing !== undefined) return await importAgain(deps, actor, input, existing, described);
    const created = await createCustomTool(deps.db, actor, described, (scope) =>
      sealHeaders(deps.sealer, scope, headersOf(input, described), {}),
    );
    return { change: 'created', tool: imported(created) };
  } catch (error) {
    if (error instanceof AppError && SKIPPED.has(error.code)) return error.message;
    throw error;
  }
}

/** An operation on a server of its own gets no credentials. */
const headersOf = ({ headers }: ToolImportInput, { request }: Described): Record<string, string> =>
  request?.own_server === true ? {} : headers;

/** Updates a tool that comes from the same source. Throws AppError `conflict` for any other tool. */
async function importAgain(
  deps: ToolDeps,
  actor: Actor,
  input: ToolImportInput,
  { id, name, workspace_id: workspaceId }: CustomTool,
  described: Described,
): Promise<Change> {
  const headers = headersOf(input, described);
  const change: Pick<Change, 'change'> = { change: 'unchanged' };
  const tool = await updateCustomTool(deps.db, actor, id, (before) => {
    if (!isSameTool(before, described)) throw conflict(takenText(name));
    const sameHeaders = hasHeaders(deps, before, headers);
    const same = isAsDescribed(before, described);
    if (same && sameHeaders && !isOther(before.auth, described.auth)) return before;
    change.change = 'updated';
    const sealed = sameHeaders
      ? before.headers
      : sealHeaders(deps.sealer, { workspaceId, toolId: id }, headers, {});
    const { description, endpoint_url, method, input_schema, pinned_schema } = described;
    const { request = null, auth = null, response_schema = null } = described;
    const { document_url = null, document_server = null } = described;
    return {
      ...before,
      ...{ description, endpoint_url, method, input_schema, pinned_schema, headers: sealed },
      ...{ request, auth, document_url, document_server, response_schema, offered: null },
      // A person has confirmed that the tool only reads as it was described then.
      read_only: same ? before.read_only : described.read_only,
    };
  });
  return { ...change, tool: imported(tool) };
}

/**
 * Whether a tool comes from the same tool of the same server, or from the same operation of the same document. A
 * document without a URL is known by the origin of its server.
 */
function isSameTool(tool: CustomTool, described: Described): boolean {
  if (tool.kind !== described.kind || tool.mcp_tool !== described.mcp_tool) return false;
  const { request } = described;
  if (request === undefined || request === null || tool.request === null) {
    return (
      (request ?? null) === null &&
      tool.request === null &&
      tool.kind === 'mcp' &&
      tool.endpoint_url === described.endpoint_url
    );
  }
  if (tool.request.operation !== request.operation) return false;
  if (tool.document_url !== described.document_url) return false;
  return tool.document_url !== null || originOf(tool.request) === originOf(request);
}

const originOf = ({ server }: { server: string }): string | undefined => URL.parse(server)?.origin;

const isAsDescribed = (tool: CustomTool, described: Described): boolean =>
  tool.offered === null &&
  tool.description === described.description &&
  tool.pinned_schema === described.pinned_schema &&
  !isOther(tool.response_schema, described.response_schema);

const isOther = (one: object | null, other: object | null | undefined): boolean =>
  JSON.stringify(one) !== JSON.stringify(other ?? null);

const takenText = (name: string): string => `A tool named '${name}' already exists`;

function hasHeaders(
  { sealer }: ToolDeps,
  tool: CustomTool,
  headers: Readonly<Record<string, string>>,
): boolean {
  try {
    const stored = openHeaders(sealer, tool);
    return jsonDigest({ ...stored }) === jsonDigest({ ...headers });
  } catch (error) {
    // They are sealed with another key, so they are stored again.
    if (error instanceof NodeError) return false;
    throw error;
  }
}

const imported = ({ id, name, mcp_tool, request, input_schema }: CustomTool): ImportedTool => ({
  id,
  name,
  mcp_tool,
  operation: request?.operation ?? null,
  schema_digest: jsonDigest(input_schema),
});

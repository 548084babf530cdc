import { type Actor, requireCapability } from '#shared/people/actor.ts';
import { type CustomToolInput, customToolInput } from '#shared/contract/tools/custom-tool.ts';
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
  updateCustomTool,
} from '#shared/db/tools/custom-tools.ts';
import { AppError, conflict, type ErrorCode, messageOf } from '#shared/errors.ts';
import { useSecrets } from '#shared/db/secrets/secrets.ts';
import { type Json, type JsonObject, toStorable } from '#shared/json.ts';
import { secretNamesIn } from '#shared/values/secrets.ts';
import { NodeError } from '#shared/node-error.ts';
import { nameHere } from '#shared/openapi/names.ts';
import { openHeaders } from '#shared/platform/calls/custom-tool.ts';
import { listMcpTools, type ServerTool } from '#shared/platform/calls/mcp-tools.ts';
import {
  checkedEgress,
  openSecrets,
  withoutSecrets,
} from '#shared/platform/secrets/open-secrets.ts';
import { createSecretCutter, secretsOfHeaders } from '#shared/platform/secrets/secret-cutter.ts';
import { schemaProblem } from '#shared/platform/threads/untrusted.ts';
import { checkHeaderSecrets } from '#shared/operations/secrets/secrets.ts';
import type { ToolDeps } from './custom-tools.ts';
import { sealHeaders } from './tool-headers.ts';

/** Their sum is below a handler's timeout. */
const LIMITS = { listMs: 15_000, registerMs: 10_000 };

const MAX_LABEL = 200;
const MAX_DESCRIPTION = 5_000;

/**
 * Registers the tools of an MCP server, each pinned to the schema that the server reports now. A tool that was imported
 * before gets the server's current description and schema. Those that cannot be registered are skipped, each with the
 * reason. Throws AppError `invalid` when the server's tools cannot be listed, and `forbidden` for a secret in a header
 * without `run_workflows`: listing sends it.
 */
export async function importTools(
  deps: ToolDeps,
  actor: Actor,
  input: ToolImportInput,
  { listMs, registerMs } = LIMITS,
): Promise<ToolImport> {
  // Before any of them is sent.
  if (Object.values(input.headers).some((text) => secretNamesIn(text).length > 0)) {
    requireCapability(actor, 'run_workflows');
  }
  sealHeaders(deps.sealer, { workspaceId: actor.workspaceId, toolId: '' }, input.headers, {});
  await checkHeaderSecrets(deps.db, actor.workspaceId, input.headers, input.server_url);
  const listed = await listTools(deps, actor, input, listMs);
  const result: ToolImport = { created: [], updated: [], unchanged: [], skipped: [] };
  for (const name of new Set(input.names)) {
    if (listed.some((tool) => tool.name === name)) continue;
    result.skipped.push({ name, reason: 'the server has no tool with this name' });
  }
  const until = performance.now() + registerMs;
  const taken = new Map<string, string>();
  const shown: ListedTool[] = [];
  for (const tool of listed) {
    const late = performance.now() > until ? TOO_LATE : undefined;
    const described = late ?? (await describedTool(actor, input, tool, taken));
    if (input.only_list) {
      shown.push(await listedAs(deps, actor, input, tool, described));
      continue;
    }
    const outcome =
      typeof described === 'string' ? described : await importTool(deps, actor, input, described);
    if (typeof outcome === 'string') result.skipped.push({ name: tool.name, reason: outcome });
    else result[outcome.change].push(outcome.tool);
  }
  return input.only_list ? { ...result, listed: shown } : result;
}

/** What an import would do with a tool of the server. */
async function listedAs(
  { db }: ToolDeps,
  { workspaceId }: Actor,
  { prefix }: ToolImportInput,
  { name: mcp_tool, description, schema }: ServerTool,
  described: Described | string,
): Promise<ListedTool> {
  const name = nameHere(mcp_tool, prefix);
  const shown = { mcp_tool, name, description, input_schema: schema };
  if (typeof described === 'string') return { ...shown, state: 'skipped', reason: described };
  const known = await findCustomTool(db, { workspaceId, name });
  if (known === undefined) return { ...shown, state: 'new' };
  if (!isSameTool(known, described)) return { ...shown, state: 'skipped', reason: takenText(name) };
  return { ...shown, state: hasSameTexts(known, described) ? 'unchanged' : 'changed' };
}

const TOO_LATE = 'there was no time left to check its schema; import it with names';

async function listTools(
  { db, sealer, egress }: ToolDeps,
  { workspaceId }: Actor,
  { server_url: serverUrl, headers: given, names }: ToolImportInput,
  timeoutMs: number,
): Promise<ServerTool[]> {
  const signal = AbortSignal.timeout(timeoutMs);
  const secrets = Object.values(given).flatMap(secretNamesIn);
  const sealed = await useSecrets(db, { workspaceId, names: secrets });
  try {
    const opened = openSecrets(sealer, { sealed, addresses: new Map() }, secrets);
    const headers = opened.fillHeaders(given);
    const cutter = createSecretCutter([...secretsOfHeaders(headers), ...opened.values]);
    // The signal covers all exchanges together, and is checked first.
    const server = {
      serverUrl,
      headers,
      timeoutMs: timeoutMs + 1_000,
      redact: cutter.text,
      signal,
    };
    const tools = await withoutSecrets(cutter, () =>
      listMcpTools(checkedEgress(egress, opened.check), server, names),
    );
    // A redacted schema differs from the server's, so a tool pinned to it could never be called.
    return secrets.length === 0
      ? tools
      : (cutter.json(tools as unknown as Json) as unknown as ServerTool[]);
  } catch (error) {
    if (!signal.aborted && !(error instanceof NodeError)) throw error;
    const reason = signal.aborted
      ? `It did not respond in full within ${timeoutMs / 1000} s`
      : messageOf(error);
    throw new AppError('invalid', `The tools of this server cannot be listed. ${reason}`);
  }
}

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
async function describedTool(
  { workspaceId }: Actor,
  input: ToolImportInput,
  tool: ServerTool,
  taken: Map<string, string>,
): Promise<Described | string> {
  const name = nameHere(tool.name, input.prefix);
  if (name === '') return 'its name has no letter from a to z';
  const other = taken.get(name);
  if (other === tool.name) return 'the server lists it twice';
  if (other !== undefined) return `its name here would be '${name}', as that of '${other}'`;
  taken.set(name, tool.name);
  const { schema } = tool;
  if (schema === null) return 'the server gives no inputSchema for it that is an object';
  const described = describe(input, { ...tool, schema }, name);
  if (typeof described === 'string') return described;
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
    const { sealer } = deps;
    const created = await createCustomTool(deps.db, actor, described, (scope) =>
      sealHeaders(sealer, scope, input.headers, {}),
    );
    return { change: 'created', tool: imported(created) };
  } catch (error) {
    if (error instanceof AppError && SKIPPED.has(error.code)) return error.message;
    throw error;
  }
}

type Described = CustomToolInput & { pinned_schema: string };

/** The tool as it will be registered, or why it cannot be. */
function describe(
  { server_url }: ToolImportInput,
  { name: serverName, title, description, schema }: ServerTool & { schema: JsonObject },
  name: string,
): Described | string {
  const parsed = customToolInput.safeParse({
    name,
    label: textOf(title, MAX_LABEL),
    description: textOf(description, MAX_DESCRIPTION),
    kind: 'mcp',
    endpoint_url: server_url,
    mcp_tool: serverName,
    input_schema: schema,
  });
  if (parsed.success) return { ...parsed.data, pinned_schema: jsonDigest(schema) };
  return parsed.error.issues
    .map(({ path, message }) => `its ${path.join('.')}: ${message}`)
    .join('; ');
}

/** The beginning of the text, cut between two characters to the length that can be stored. */
function textOf(text: string, most: number): string {
  const storable = toStorable(text) as string;
  return storable.slice(0, most).replace(/[\ud800-\udbff]$/, '');
}

/** Updates a tool that comes from the same server. Throws AppError `conflict` for any other tool. */
async function importAgain(
  deps: ToolDeps,
  actor: Actor,
  { headers }: ToolImportInput,
  { id, name, workspace_id: workspaceId }: CustomTool,
  described: Described,
): Promise<Change> {
  const change: Pick<Change, 'change'> = { change: 'unchanged' };
  const tool = await updateCustomTool(deps.db, actor, id, (before) => {
    if (!isSameTool(before, described)) throw conflict(takenText(name));
    const { description, input_schema, pinned_schema } = described;
    const sameHeaders = hasHeaders(deps, before, headers);
    const sameTexts = hasSameTexts(before, described);
    if (sameTexts && sameHeaders) return before;
    change.change = 'updated';
    const sealed = sameHeaders
      ? before.headers
      : sealHeaders(deps.sealer, { workspaceId, toolId: id }, headers, {});
    // A person has confirmed that the tool only reads as it was described then.
    const read_only = sameTexts && before.read_only;
    return { ...before, description, input_schema, pinned_schema, headers: sealed, read_only };
  });
  return { ...change, tool: imported(tool) };
}

/** Whether a tool comes from the same tool of the same server. */
const isSameTool = (tool: CustomTool, { mcp_tool, endpoint_url }: Described): boolean =>
  tool.kind === 'mcp' && tool.mcp_tool === mcp_tool && tool.endpoint_url === endpoint_url;

const hasSameTexts = (tool: CustomTool, { description, pinned_schema }: Described): boolean =>
  tool.description === description && tool.pinned_schema === pinned_schema;

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

const imported = ({ id, name, mcp_tool, input_schema }: CustomTool): ImportedTool => ({
  id,
  name,
  mcp_tool: mcp_tool ?? '',
  schema_digest: jsonDigest(input_schema),
});

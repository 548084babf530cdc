import { z } from 'zod';
import type { Actor } from '#shared/people/actor.ts';
import type {
  CallTarget,
  CustomToolDefinitions,
  ToolDefinitions,
} from '#shared/agents/offered-tools.ts';
import type { OffsetPage } from '#shared/contract/common.ts';
import {
  type CustomToolAnswer,
  type CustomToolInput,
  customToolKinds,
  customToolMethods,
  HEADER_MASK,
} from '#shared/contract/tools/custom-tool.ts';
import type { RequestMapping } from '#shared/contract/tools/request-mapping.ts';
import type { ToolAuth } from '#shared/contract/tools/tool-auth.ts';
import type { AgentNode } from '#shared/contract/workflows/graph.ts';
import { conflict, notFound } from '#shared/errors.ts';
import { offeredWorkflowsOf } from '#shared/graph/children/called-workflows.ts';
import { offeredNamesOf } from '#shared/graph/node-tools.ts';
import type { JsonObject } from '#shared/json.ts';
import { withEtag } from '#shared/crypto/etags.ts';
import { newId } from '#shared/crypto/ids.ts';
import { jsonDigest } from '#shared/crypto/json-digest.ts';
import { recordAudit } from '#shared/db/audit/audit.ts';
import { offsetClause } from '#shared/db/cursor.ts';
import { readWorkflowDefinitions } from '#shared/db/children/called-workflows.ts';
import { customTool, requireToChange } from '#shared/db/workflows/graphs-in-use.ts';
import { type Db, type Pool, sql, statement, type Tx } from '#shared/db/pool.ts';
import { customToolNames } from '#shared/tools.ts';
import { codeLanguages } from '#shared/contract/workflows/code-node.ts';
import { isChanged, type OfferedOperation } from './described-operation.ts';
import { requireRoom } from '#shared/db/people/limits.ts';
import { lockWorkspace } from '#shared/db/people/workspaces.ts';
import { storedJson } from '#shared/db/stored-json.ts';

const jsonObject = storedJson<JsonObject>();

const toolRow = z.object({
  id: z.string(),
  workspace_id: z.string(),
  name: z.string(),
  label: z.string(),
  description: z.string(),
  kind: z.enum(customToolKinds),
  endpoint_url: z.string(),
  /** For kind `code`. */
  source: z.string().nullable(),
  language: z.enum(codeLanguages),
  method: z.enum(customToolMethods),
  /** The values are sealed. */
  headers: z.record(z.string(), z.string()),
  mcp_tool: z.string().nullable(),
  input_schema: jsonObject.nullable(),
  /** The digest of the schema that the tool's server must still report, or of the operation in the API document. */
  pinned_schema: z.string().nullable(),
  /** For a tool of an API document. */
  request: storedJson<RequestMapping>().nullable(),
  auth: storedJson<ToolAuth>().nullable(),
  document_url: z.string().nullable(),
  /** The server that the import named; null for the document's own. */
  document_server: z.string().nullable(),
  response_schema: jsonObject.nullable(),
  /** The operation that a refresh found, if it differs from the pinned one. */
  offered: storedJson<OfferedOperation>().nullable(),
  timeout_seconds: z.number(),
  retry_count: z.number(),
  /** Whether a person has confirmed that its calls change nothing. */
  read_only: z.boolean(),
  /** Increases with each change to what its calls do. */
  revision: z.number(),
  created_by: z.string().nullable(),
  created_at: z.string(),
  updated_at: z.string(),
});

/** A stored tool: reading its headers requires the sealer. */
export type CustomTool = z.infer<typeof toolRow>;

const toolColumns = sql.fragment`
  id, workspace_id, name, label, description, kind, endpoint_url, source, language, method, headers, mcp_tool, input_schema,
  pinned_schema, request, auth, document_url, document_server, response_schema, offered, timeout_seconds, retry_count, read_only, revision,
  created_by, created_at, updated_at`;

export interface CustomToolScope {
  workspaceId: string;
  toolId: string;
}

/** Binds a sealed header to its tool and name: its value cannot be opened for another tool or name. */
export const headerContext = (tool: CustomToolScope, header: string): string =>
  `${tool.workspaceId}/${tool.toolId}/${header.toLowerCase()}`;

/** The tool as the API shows it. */
export function toAnswer({
  pinned_schema,
  revision: _revision,
  offered,
  ...tool
}: CustomTool): CustomToolAnswer {
  const names = Object.keys(tool.headers);
  return withEtag({
    ...tool,
    headers: Object.fromEntries(names.map((name) => [name, HEADER_MASK])),
    schema_digest: tool.input_schema === null ? null : jsonDigest(tool.input_schema),
    pinned: pinned_schema !== null,
    changed: isChanged({ offered, pinned_schema }),
  });
}

/** The tool as the API returns it. */
export async function listCustomTools(
  db: Db,
  page: OffsetPage & { workspaceId: string },
): Promise<readonly CustomTool[]> {
  return db.any(statement(toolRow)`
    SELECT ${toolColumns} FROM custom_tools WHERE workspace_id = ${page.workspaceId}
    ORDER BY name ${offsetClause(page)}
  `);
}

/** Throws AppError `not_found`. */
export async function readCustomTool(db: Db, scope: CustomToolScope): Promise<CustomTool> {
  const tool = await db.maybeOne(statement(toolRow)`
    SELECT ${toolColumns} FROM custom_tools
    WHERE id = ${scope.toolId} AND workspace_id = ${scope.workspaceId}
  `);
  if (tool === null) throw notFound('Tool');
  return tool;
}

/** The current tool of `custom:<name>` in a workspace. */
export async function findCustomTool(
  db: Db,
  named: { workspaceId: string; name: string },
): Promise<CustomTool | undefined> {
  const tool = await db.maybeOne(statement(toolRow)`
    SELECT ${toolColumns} FROM custom_tools
    WHERE workspace_id = ${named.workspaceId} AND name = ${named.name}
  `);
  return tool ?? undefined;
}

/** The current tools with these names; those that do not exist are missing. */
export async function findCustomTools(
  db: Db,
  { workspaceId, names }: { workspaceId: string; names: readonly string[] },
): Promise<readonly CustomTool[]> {
  if (names.length === 0) return [];
  return db.any(statement(toolRow)`
    SELECT ${toolColumns} FROM custom_tools
    WHERE workspace_id = ${workspaceId} AND name = ANY (${sql.array([...names], 'text')})
  `);
}

/**
 * What a call of the tool reaches. The values of headers are sealed differently each time, and a tool can be deleted
 * and registered again, so the revision and the id represent them.
 */
export const targetOf = (
  tool: Pick<
    CustomTool,
    'id' | 'revision' | 'kind' | 'endpoint_url' | 'method' | 'headers' | 'mcp_tool'
  >,
): CallTarget => ({
  id: tool.id,
  revision: tool.revision,
  kind: tool.kind,
  endpoint_url: tool.endpoint_url,
  method: tool.method,
  headers: Object.keys(tool.headers).sort(),
  mcp_tool: tool.mcp_tool,
});

/** The names of all custom tools of a workspace. */
export const readCustomToolNames = (db: Db, workspaceId: string): Promise<readonly string[]> =>
  db.anyFirst(statement(z.object({ name: z.string() }))`
    SELECT name FROM custom_tools WHERE workspace_id = ${workspaceId} ORDER BY name
  `);

/** How agents offer these tools, by name; those that do not exist are missing. */
export async function readToolDefinitions(
  db: Db,
  { workspaceId, names }: { workspaceId: string; names: readonly string[] },
): Promise<CustomToolDefinitions> {
  const tools = await findCustomTools(db, { workspaceId, names });
  return new Map(
    tools.map(({ label, description, input_schema, ...tool }) => [
      tool.name,
      { label, description, input_schema, target: targetOf(tool) },
    ]),
  );
}

/** The present custom tools and workflows that an agent offers. */
export async function findOfferedDefinitions(
  db: Db,
  { workspaceId, node }: { workspaceId: string; node: Pick<AgentNode, 'tools'> },
): Promise<ToolDefinitions> {
  const names = customToolNames(offeredNamesOf(node));
  return {
    customTools: await readToolDefinitions(db, { workspaceId, names }),
    workflows: await readWorkflowDefinitions(db, {
      workspaceId,
      workflows: offeredWorkflowsOf(node),
    }),
  };
}

/**
 * Records that a tool or secret was added, removed, or got another schema or other hosts, so that graphs that use them
 * are checked again. Concurrent changes wait until the commit.
 */
export async function raiseToolRevision(tx: Tx, workspaceId: string): Promise<void> {
  await tx.query(statement(z.object({}))`
    UPDATE workspaces SET tool_revision = tool_revision + 1 WHERE id = ${workspaceId}
  `);
}

/** A tool to register. An imported tool is pinned to its server's schema, or to its operation. */
export type NewTool = CustomToolInput &
  Partial<
    Pick<
      CustomTool,
      'pinned_schema' | 'request' | 'auth' | 'document_url' | 'document_server' | 'response_schema'
    >
  >;

/**
 * Registers a tool. `seal` receives its id and returns the sealed headers. Throws AppError `conflict` for a duplicate
 * name and when there are too many tools, `forbidden` if a graph in use already calls it, and the errors of `seal`.
 */
export async function createCustomTool(
  db: Pool,
  actor: Actor,
  input: NewTool,
  seal: (tool: CustomToolScope) => Record<string, string>,
): Promise<CustomTool> {
  const { workspaceId } = actor;
  const toolId = newId('tool');
  const headers = seal({ workspaceId, toolId });
  return db.transaction(async (tx) => {
    await requireRoom(tx, workspaceId, 'tools');
    await raiseToolRevision(tx, workspaceId);
    const tool = await tx.maybeOne(statement(toolRow)`
      INSERT INTO custom_tools (id, workspace_id, name, label, description, kind, endpoint_url, source, language,
                                method, headers, mcp_tool, input_schema, pinned_schema, request, auth, document_url,
                                document_server, response_schema, timeout_seconds, retry_count, read_only, created_by)
      VALUES (${toolId}, ${workspaceId}, ${input.name}, ${input.label}, ${input.description}, ${input.kind},
             ${input.endpoint_url}, ${input.source}, ${input.language}, ${input.method}, ${JSON.stringify(headers)}::json, ${input.mcp_tool},
             ${jsonOrNull(input.input_schema)}::json, ${input.pinned_schema ?? null}, ${jsonOrNull(input.request)}::json,
             ${jsonOrNull(input.auth)}::json, ${input.document_url ?? null}, ${input.document_server ?? null},
             ${jsonOrNull(input.response_schema)}::json,
             ${input.timeout_seconds}::int,
             ${input.retry_count}::int, ${input.read_only}::boolean, ${actor.id})
      ON CONFLICT (workspace_id, name) DO NOTHING
      RETURNING ${toolColumns}
    `);
    if (tool === null) throw conflict(`A tool named '${input.name}' already exists`);
    await requireToChange(tx, actor, customTool(tool.name));
    await auditTool(tx, actor, tool, 'create', { kind: tool.kind });
    return tool;
  });
}

const jsonOrNull = (value: object | null | undefined): string | null =>
  value === null || value === undefined ? null : JSON.stringify(value);

/**
 * Changes a tool to the result of `change`, and records the differences in the audit log. The next step that calls it
 * uses the new version. Throws AppError `not_found`, `forbidden` if a graph in use calls it, and the errors of
 * `change`.
 */
export async function updateCustomTool(
  db: Pool,
  actor: Actor,
  toolId: string,
  change: (before: CustomTool) => CustomTool,
): Promise<CustomTool> {
  const { workspaceId } = actor;
  return db.transaction(async (tx) => {
    await lockWorkspace(tx, workspaceId);
    const before = await tx.maybeOne(statement(toolRow)`
      SELECT ${toolColumns} FROM custom_tools
      WHERE id = ${toolId} AND workspace_id = ${workspaceId} FOR NO KEY UPDATE
    `);
    if (before === null) throw notFound('Tool');
    const after = change(before);
    const changed = changedFields(before, after);
    if (changed.length === 0) return before;
    const texts = changed.every((field) => TEXTS.has(field));
    await requireToChange(tx, actor, customTool(before.name, texts ? 'texts' : 'all'));
    if (changed.includes('input_schema')) await raiseToolRevision(tx, workspaceId);
    const tool = await tx.one(statement(toolRow)`
      UPDATE custom_tools
      SET label = ${after.label}, description = ${after.description}, kind = ${after.kind},
          endpoint_url = ${after.endpoint_url}, source = ${after.source}, language = ${after.language},
          method = ${after.method},
          headers = ${JSON.stringify(after.headers)}::json, mcp_tool = ${after.mcp_tool},
          input_schema = ${jsonOrNull(after.input_schema)}::json, pinned_schema = ${after.pinned_schema},
          request = ${jsonOrNull(after.request)}::json, auth = ${jsonOrNull(after.auth)}::json,
          document_url = ${after.document_url}, document_server = ${after.document_server},
          response_schema = ${jsonOrNull(after.response_schema)}::json,
          offered = ${jsonOrNull(after.offered)}::json,
          timeout_seconds = ${after.timeout_seconds}::int, retry_count = ${after.retry_count}::int,
          read_only = ${after.read_only}::boolean, updated_at = now(),
          revision = revision + ${changed.some(isBound) ? 1 : 0}
      WHERE id = ${toolId} AND workspace_id = ${workspaceId}
      RETURNING ${toolColumns}
    `);
    await auditTool(tx, actor, tool, 'update', { changed });
    return tool;
  });
}

const WRITABLE = [
  'label',
  'description',
  'kind',
  'endpoint_url',
  'source',
  'language',
  'method',
  'headers',
  'mcp_tool',
  'input_schema',
  'pinned_schema',
  'request',
  'auth',
  'document_url',
  'document_server',
  'response_schema',
  'offered',
  'timeout_seconds',
  'retry_count',
  'read_only',
] as const;

/** Fields that do not affect calls. */
const TEXTS: ReadonlySet<string> = new Set(['label', 'description']);

/** Whether the field affects what calls do, beyond how often they are retried and how long they can take. */
const isBound = (field: string): boolean => !TEXTS.has(field) && !UNBOUND.has(field);

const UNBOUND: ReadonlySet<string> = new Set([
  'timeout_seconds',
  'retry_count',
  'read_only',
  'document_url',
  'document_server',
  'response_schema',
  'offered',
]);

const changedFields = (before: CustomTool, after: CustomTool): string[] =>
  WRITABLE.filter((field) => JSON.stringify(before[field]) !== JSON.stringify(after[field]));

/**
 * Deletes a tool. From the commit on, workflows that use it cannot be triggered; a step that reaches it fails. Throws
 * AppError `not_found`, and `forbidden` if a graph in use calls it.
 */
export async function deleteCustomTool(db: Pool, actor: Actor, toolId: string): Promise<void> {
  const { workspaceId } = actor;
  await db.transaction(async (tx) => {
    await raiseToolRevision(tx, workspaceId);
    const tool = await tx.maybeOne(statement(toolRow)`
      DELETE FROM custom_tools WHERE id = ${toolId} AND workspace_id = ${workspaceId}
      RETURNING ${toolColumns}
    `);
    if (tool === null) throw notFound('Tool');
    await requireToChange(tx, actor, customTool(tool.name));
    await auditTool(tx, actor, tool, 'delete', {});
  });
}

/** An audit entry about a tool, without its address and headers, which may contain a secret. */
export const auditTool = (
  db: Db,
  actor: Actor,
  tool: Pick<CustomTool, 'id' | 'name'>,
  action: 'create' | 'update' | 'delete' | 'test',
  details: JsonObject,
): Promise<void> =>
  recordAudit(db, actor, {
    action,
    targetType: 'tool',
    targetId: tool.id,
    details: { name: tool.name, ...details },
  });

import { z } from 'zod';
import type { JsonObject } from '#shared/json.ts';
import { slugWith } from '#shared/values/slug.ts';
import { type Db, type Pool, statement } from '#shared/db/pool.ts';
import { storedJson } from '#shared/db/stored-json.ts';

/** A workflow that models can call as a separate tool. */
export interface WorkflowTool {
  /** `run_<slug>`: unique in the workspace, at most 64 characters of `a-z`, `0-9` and `_`. */
  tool: string;
  workflowId: string;
  name: string;
  description: string;
  inputSchema: JsonObject;
}

/**
 * The maximum number of workflows that are offered, oldest first, and the total length of their schemas in characters.
 */
const MAX_OFFERED = 100;
const MAX_SCHEMAS = 500_000;

const PREFIX = 'run_';
/** With the prefix and the last characters of an id, 64 characters: the limit of model providers. */
const MAX_SLUG = 44;
const ID_END = 8;

/**
 * The part of a tool's name that comes from the workflow's name: `Répondre aux tickets` becomes `repondre_aux_tickets`.
 */
export const slugOf = (name: string): string => slugWith('_', name, MAX_SLUG);

const offeredRow = z.object({
  id: z.string(),
  name: z.string(),
  description: z.string(),
  input_schema: storedJson<JsonObject>(),
  slug: z.string().nullable(),
  tool: z.string().nullable(),
});
type OfferedRow = z.infer<typeof offeredRow>;

const readOffered = async (db: Db, workspaceId: string): Promise<readonly OfferedRow[]> =>
  db.any(statement(offeredRow)`
    SELECT id, name, description, input_schema, slug, tool FROM (
      SELECT w.id, w.name, w.description, v.input_schema, t.slug, t.name AS tool,
             sum(length(v.input_schema::text)) OVER (ORDER BY w.id) AS characters
      FROM workflows w
      JOIN workflow_versions v ON v.workflow_id = w.id AND v.version = w.version
      LEFT JOIN workflow_tools t ON t.workflow_id = w.id
      WHERE w.workspace_id = ${workspaceId} AND w.status = 'published' AND v.input_schema IS NOT NULL
      ORDER BY w.id LIMIT ${MAX_OFFERED}
    ) AS offered WHERE characters <= ${MAX_SCHEMAS} ORDER BY id
  `);

const isNamed = ({ name, slug }: OfferedRow): boolean => slug === slugOf(name);

/**
 * The published workflows with an input schema: the oldest 100, as long as their schemas have at most 500,000
 * characters in total. Those that are offered for the first time, or were renamed, get a tool name. `isTaken` says
 * whether another tool has a name.
 */
export async function offeredWorkflows(
  db: Pool,
  workspaceId: string,
  isTaken: (tool: string) => boolean,
): Promise<WorkflowTool[]> {
  let rows = await readOffered(db, workspaceId);
  const unnamed = rows.filter((row) => !isNamed(row));
  if (unnamed.length > 0) {
    await giveNames(db, workspaceId, unnamed, isTaken);
    rows = await readOffered(db, workspaceId);
  }
  return rows.filter(({ tool }) => tool !== null).map(toTool);
}

/**
 * The offered workflow with this tool name. A workflow that already has the name is found without reading the others.
 */
export async function findWorkflowTool(
  db: Pool,
  { workspaceId, tool }: { workspaceId: string; tool: string },
  isTaken: (tool: string) => boolean,
): Promise<WorkflowTool | undefined> {
  const row = await db.maybeOne(statement(offeredRow)`
    SELECT w.id, w.name, w.description, v.input_schema, t.slug, t.name AS tool
    FROM workflow_tools t
    JOIN workflows w ON w.id = t.workflow_id
    JOIN workflow_versions v ON v.workflow_id = w.id AND v.version = w.version
    WHERE t.workspace_id = ${workspaceId} AND t.name = ${tool} AND w.workspace_id = ${workspaceId}
      AND w.status = 'published' AND v.input_schema IS NOT NULL
  `);
  if (row !== null && isNamed(row)) return toTool(row);
  const offered = await offeredWorkflows(db, workspaceId, isTaken);
  return offered.find((each) => each.tool === tool);
}

const toTool = (row: OfferedRow): WorkflowTool => ({
  tool: row.tool ?? '',
  workflowId: row.id,
  name: row.name,
  description: row.description,
  inputSchema: row.input_schema,
});

const namedRow = z.object({ name: z.string() });

/**
 * Gives workflows tool names, in order. If two processes do so concurrently, the second finds the names of the first.
 */
async function giveNames(
  db: Pool,
  workspaceId: string,
  rows: readonly OfferedRow[],
  isTaken: (tool: string) => boolean,
): Promise<void> {
  await db.transaction(async (tx) => {
    for (const { id, name } of rows) {
      const slug = slugOf(name);
      await tx.query(statement(z.object({}))`
        DELETE FROM workflow_tools WHERE workflow_id = ${id} AND slug <> ${slug}
      `);
      const choices = [slug, `${slug}_${id.slice(-ID_END)}`, id].map((part) => PREFIX + part);
      for (const tool of choices.filter((choice) => !isTaken(choice))) {
        const named = await tx.maybeOne(statement(namedRow)`
          INSERT INTO workflow_tools (workflow_id, workspace_id, slug, name)
          SELECT id, workspace_id, ${slug}, ${tool} FROM workflows
          WHERE id = ${id} AND workspace_id = ${workspaceId}
          ON CONFLICT DO NOTHING RETURNING name
        `);
        if (named !== null) break;
      }
    }
  });
}

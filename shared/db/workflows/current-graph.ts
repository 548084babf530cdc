import { z } from 'zod';
import type { Json } from '../../json.ts';
import { type Db, sql } from '../pool.ts';

const currentRow = z.object({
  version: z.number(),
  graph: z.unknown() as unknown as z.ZodType<Json>,
  tool_revision: z.number(),
  custom_tools: z.array(z.string()),
});

/** A workflow's current graph, as drawn, with the tools it can call. */
export interface CurrentGraph {
  version: number;
  graph: Json;
  /** Names of the workspace's custom tools. */
  customTools: ReadonlySet<string>;
  /** Counts the changes of those names. */
  toolRevision: number;
}

/** Reads everything as of one moment. Undefined when the workspace has no such workflow. */
export async function readCurrentGraph(
  db: Db,
  ids: { workspaceId: string; workflowId: string },
): Promise<CurrentGraph | undefined> {
  const row = await db.maybeOne(sql.prepared('current_graph', currentRow)`
    SELECT w.version, v.graph, s.tool_revision,
           ARRAY(SELECT name FROM custom_tools WHERE workspace_id = ${ids.workspaceId}) AS custom_tools
    FROM workflows w
    JOIN workspaces s ON s.id = w.workspace_id
    JOIN workflow_versions v ON v.workflow_id = w.id AND v.version = w.version
    WHERE w.id = ${ids.workflowId} AND w.workspace_id = ${ids.workspaceId}
  `);
  if (row === null) return undefined;
  return {
    version: row.version,
    graph: row.graph,
    customTools: new Set(row.custom_tools),
    toolRevision: row.tool_revision,
  };
}

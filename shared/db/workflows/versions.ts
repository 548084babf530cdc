import { z } from 'zod';
import type { Workflow, WorkflowVersion } from '#shared/contract/workflows/workflow.ts';
import { AppError, notFound } from '#shared/errors.ts';
import { type Db, sql, statement } from '#shared/db/pool.ts';
import { requireWorkflow, type WorkflowScope } from './workflows.ts';
import { storedJson } from '#shared/db/stored-json.ts';

const versionRow = z.object({
  workflow_id: z.string(),
  version: z.number(),
  created_by: z.string().nullable(),
  created_by_name: z.string().nullable(),
  note: z.string().nullable(),
  created_at: z.string(),
  graph: storedJson<Workflow['graph']>(),
  input_schema: storedJson<Workflow['input_schema']>(),
});

const listedRow = versionRow
  .omit({ graph: true, input_schema: true })
  .extend({ nodes: z.number(), edges: z.number() });

// Versions from before authors' names were stored have the member's present name.
const authorName = sql.fragment`
  coalesce(v.created_by_name, (
    SELECT name FROM members WHERE id = v.created_by AND workspace_id = w.workspace_id
  )) AS created_by_name`;

export type ListedVersion = z.infer<typeof listedRow>;

/** The error for a requested version that the workflow does not have. */
export const noSuchVersion = (version: number | undefined): AppError =>
  new AppError('unprocessable', `The workflow has no version ${version}`);

/**
 * A page of versions, newest first, before version `below`. `next` is the `below` of the next page. Throws AppError
 * `not_found`.
 */
export async function listVersions(
  db: Db,
  scope: WorkflowScope,
  page: { limit: number; below?: number },
): Promise<{ versions: ListedVersion[]; next: number | null }> {
  await requireWorkflow(db, scope);
  const rows = await db.any(statement(listedRow)`
    SELECT v.workflow_id, v.version, v.created_by, ${authorName}, v.note, v.created_at,
           json_array_length(v.graph -> 'nodes') AS nodes, json_array_length(v.graph -> 'edges') AS edges
    FROM workflow_versions v
    JOIN workflows w ON w.id = v.workflow_id
    WHERE w.id = ${scope.workflowId} AND w.workspace_id = ${scope.workspaceId}
      AND v.version < ${page.below ?? 2_147_483_647}
    ORDER BY v.version DESC LIMIT ${page.limit + 1}
  `);
  const versions = rows.slice(0, page.limit);
  const more = rows.length > page.limit;
  return { versions, next: more ? (versions.at(-1)?.version ?? null) : null };
}

/** Throws AppError `not_found`, with the noun that is missing. */
export async function readVersion(
  db: Db,
  scope: WorkflowScope & { version: number },
): Promise<WorkflowVersion> {
  const row = await db.maybeOne(statement(versionRow)`
    SELECT w.id AS workflow_id, coalesce(v.version, 0) AS version, v.created_by, ${authorName}, v.note,
           coalesce(v.created_at, w.created_at) AS created_at, v.graph, v.input_schema
    FROM workflows w
    LEFT JOIN workflow_versions v ON v.workflow_id = w.id AND v.version = ${scope.version}
    WHERE w.id = ${scope.workflowId} AND w.workspace_id = ${scope.workspaceId}
  `);
  if (row === null) throw notFound('Workflow');
  if (row.version === 0) throw notFound('Version');
  return row;
}

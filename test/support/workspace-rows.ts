import { z } from 'zod';
import { type Pool, sql } from '#shared/db/pool.ts';

/** Columns that record our own checks, not user actions. */
const restless = ['checked_at'];

export interface WorkspaceRows {
  /** A digest of the rows of each non-empty table. */
  digests: Record<string, string>;
  /** All ids of the workspace. */
  ids: string[];
  /** Tables with a row that contains `text`. */
  found: string[];
}

/**
 * The rows of a workspace in every table: rows with its id, and rows of tables without a workspace column that contain
 * one of its ids.
 */
export async function rowsOf(db: Pool, workspaceId: string, text = ''): Promise<WorkspaceRows> {
  const tables = await db.any(sql.type(
    z.object({ name: z.string(), has_workspace: z.boolean(), has_id: z.boolean() }),
  )`
    SELECT t.table_name AS name,
           bool_or(c.column_name = 'workspace_id') AS has_workspace,
           bool_or(c.column_name = 'id' AND c.data_type = 'text') AS has_id
    FROM information_schema.tables t JOIN information_schema.columns c USING (table_schema, table_name)
    WHERE table_schema = 'public' AND table_type = 'BASE TABLE' GROUP BY 1 ORDER BY 1
  `);
  const idsOf = tables
    .filter((table) => table.has_workspace && table.has_id)
    .map(
      ({ name }) =>
        sql.fragment`SELECT id FROM ${sql.identifier([name])} WHERE workspace_id = ${workspaceId}`,
    );
  const ids = await db.anyFirst(sql.type(z.object({ id: z.string() }))`
    SELECT ${workspaceId} AS id UNION ${sql.join(idsOf, sql.fragment` UNION `)}`);
  const looks = tables.map(({ name, has_workspace: hasWorkspace }) => {
    const table = sql.identifier([name]);
    const all =
      name === 'workspaces'
        ? sql.fragment`t.id = ${workspaceId}`
        : hasWorkspace
          ? sql.fragment`t.workspace_id = ${workspaceId}`
          : sql.fragment`EXISTS (
              SELECT FROM jsonb_each_text(to_jsonb(t)) v WHERE v.value = ANY (${sql.array([...ids], 'text')}))`;
    // Anyone can send an event, and the log has those that were refused.
    const owned =
      name === 'inbound_events' && text === ''
        ? sql.fragment`${all} AND t.outcome <> 'refused'`
        : all;
    return sql.fragment`
      SELECT ${name} AS name, md5(string_agg(row, ' ' ORDER BY row)) AS digest,
             ${text !== ''} AND bool_or(strpos(row, ${text}) > 0) AS found
      FROM (SELECT (to_jsonb(t) - ${sql.array(restless, 'text')})::text AS row FROM ${table} t WHERE ${owned}) r
      HAVING count(*) > 0`;
  });
  const digests = await db.any(
    sql.type(
      z.object({ name: z.string(), digest: z.string(), found: z.boolean() }),
    )`${sql.join(looks, sql.fragment` UNION ALL `)}`,
  );
  return {
    digests: Object.fromEntries(digests.map(({ name, digest }) => [name, digest])),
    ids: [...ids],
    found: digests.filter(({ found }) => found).map(({ name }) => name),
  };
}

import { z } from 'zod';
import type { FeedInput } from '#shared/contract/data/feed.ts';
import type { SourceInput } from '#shared/contract/data/source.ts';
import { newId } from '#shared/crypto/ids.ts';
import { sql, statement, type Tx } from '#shared/db/pool.ts';

/** Whether a workspace has demo feeds or sources. */
export async function hasDemoData(tx: Tx, workspaceId: string): Promise<boolean> {
  return tx.oneFirst(statement(z.object({ exists: z.boolean() }))`
    SELECT EXISTS (SELECT 1 FROM data_feeds WHERE workspace_id = ${workspaceId} AND is_demo)
        OR EXISTS (SELECT 1 FROM data_sources WHERE workspace_id = ${workspaceId} AND is_demo) AS exists
  `);
}

/** Adds demo sources and returns their ids by their names. */
export async function insertDemoSources(
  tx: Tx,
  workspaceId: string,
  sources: readonly SourceInput[],
): Promise<Map<string, string>> {
  const rows = sources.map((source) => ({ ...source, id: newId('source') }));
  await tx.query(statement(z.object({}))`
    INSERT INTO data_sources (id, workspace_id, is_demo, name, type, jurisdiction, cadence, permission_status,
                              license_status, reliability_score, health, last_success_at)
    SELECT id, ${workspaceId}, true, name, type, jurisdiction, cadence, permission_status, license_status,
           reliability_score, 'healthy', now()
    FROM json_to_recordset(${JSON.stringify(rows)}::json) AS r(
      id text, name text, type text, jurisdiction text, cadence text, permission_status text, license_status text,
      reliability_score float8)
  `);
  return new Map(rows.map(({ id, name }) => [name, id]));
}

/** Adds a demo feed and returns its id. */
export async function insertDemoFeed(
  tx: Tx,
  workspaceId: string,
  feed: FeedInput,
): Promise<string> {
  const id = newId('feed');
  await tx.query(statement(z.object({}))`
    INSERT INTO data_feeds (id, workspace_id, is_demo, name, description, status, entity_types, schema, geography,
                            specification)
    VALUES (${id}, ${workspaceId}, true, ${feed.name}, ${feed.description}, ${feed.status},
            ${sql.array(feed.entity_types, 'text')}, ${JSON.stringify(feed.schema)}::json,
            ${JSON.stringify(feed.geography)}::json, ${JSON.stringify(feed.specification)}::json)
  `);
  return id;
}

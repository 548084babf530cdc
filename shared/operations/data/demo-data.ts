import { z } from 'zod';
import type { IngestRecord } from '../../contract/data/ingest.ts';
import type { FeedInput } from '../../contract/data/feed.ts';
import { ingestBatch } from '../../db/data/ingest.ts';
import { takeTurn } from '../../db/data/turns.ts';
import { type Pool, sql, type Tx } from '../../db/pool.ts';
import { newId } from '../../crypto/ids.ts';
import { demoFeeds, demoSources } from './demo-records.ts';

const BATCH_RECORDS = 1_000;

/**
 * Fills a workspace with made-up feeds, sources, records and events, for test keys to read. A workspace that has any
 * of the kind keeps what it has; any number of processes may call this at once. Returns whether it was filled.
 */
export async function createDemoData(db: Pool, workspaceId: string): Promise<boolean> {
  return db.transaction(async (tx) => {
    await takeTurn(tx, workspaceId);
    const exists = await tx.oneFirst(sql.prepared('demo_exists', z.object({ exists: z.boolean() }))`
      SELECT EXISTS (SELECT 1 FROM data_feeds WHERE workspace_id = ${workspaceId} AND is_demo)
          OR EXISTS (SELECT 1 FROM data_sources WHERE workspace_id = ${workspaceId} AND is_demo) AS exists
    `);
    if (exists) return false;
    const sourceIds = await insertSources(tx, workspaceId);
    for (const { feed, records } of demoFeeds) {
      const feedId = await insertFeed(tx, workspaceId, feed);
      const numbered = records().map((record, index) => ({
        line: index + 1,
        record: withSources(record, sourceIds),
      }));
      for (let at = 0; at < numbered.length; at += BATCH_RECORDS) {
        await ingestBatch(tx, { workspaceId, feedId }, numbered.slice(at, at + BATCH_RECORDS));
      }
    }
    return true;
  });
}

/** Evidence names its sources by their ids, which every workspace has of its own. */
function withSources(record: IngestRecord, ids: ReadonlyMap<string, string>): IngestRecord {
  const source_evidence = record.source_evidence.map((evidence) => ({
    source_id: ids.get(evidence.source_name ?? '') ?? null,
    ...evidence,
  }));
  return { ...record, source_evidence };
}

/** Returns the ids of the sources by their names. */
async function insertSources(tx: Tx, workspaceId: string): Promise<Map<string, string>> {
  const rows = demoSources.map((source) => ({ ...source, id: newId('source') }));
  await tx.query(sql.prepared('demo_insert_sources', z.object({}))`
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

async function insertFeed(tx: Tx, workspaceId: string, feed: FeedInput): Promise<string> {
  const id = newId('feed');
  await tx.query(sql.prepared('demo_insert_feed', z.object({}))`
    INSERT INTO data_feeds (id, workspace_id, is_demo, name, description, status, entity_types, schema, geography,
                            specification)
    VALUES (${id}, ${workspaceId}, true, ${feed.name}, ${feed.description}, ${feed.status},
            ${sql.array(feed.entity_types, 'text')}, ${JSON.stringify(feed.schema)}::json,
            ${JSON.stringify(feed.geography)}::json, ${JSON.stringify(feed.specification)}::json)
  `);
  return id;
}

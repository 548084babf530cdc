import type { IngestRecord } from '#shared/contract/data/ingest.ts';
import { hasDemoData, insertDemoFeed, insertDemoSources } from '#shared/db/data/demo.ts';
import { ingestBatch } from '#shared/db/data/ingest.ts';
import { lockForWrite } from '#shared/db/data/write-lock.ts';
import type { Pool } from '#shared/db/pool.ts';
import { demoFeeds, demoSources } from './demo-records.ts';

const BATCH_RECORDS = 1_000;

/**
 * Fills a workspace with demo feeds, sources, records and events for test keys. Does nothing if there is already demo
 * data; safe with concurrent processes. Returns whether it was filled.
 */
export async function createDemoData(db: Pool, workspaceId: string): Promise<boolean> {
  return db.transaction(async (tx) => {
    await lockForWrite(tx, workspaceId);
    if (await hasDemoData(tx, workspaceId)) return false;
    const sourceIds = await insertDemoSources(tx, workspaceId, demoSources);
    for (const { feed, records } of demoFeeds) {
      const feedId = await insertDemoFeed(tx, workspaceId, feed);
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

/** Evidence refers to sources by id, and the ids differ between workspaces. */
function withSources(record: IngestRecord, ids: ReadonlyMap<string, string>): IngestRecord {
  const source_evidence = record.source_evidence.map((evidence) => ({
    source_id: ids.get(evidence.source_name ?? '') ?? null,
    ...evidence,
  }));
  return { ...record, source_evidence };
}

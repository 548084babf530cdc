import { z } from 'zod';
import { jsonObject } from '#shared/contract/common.ts';
import { conflict, notFound } from '#shared/errors.ts';
import { sql, statement, type Tx } from '#shared/db/pool.ts';
import {
  type BatchFeed,
  type BatchOutcome,
  type BatchPlan,
  type KnownEntity,
  type KnownEvent,
  type NumberedRecord,
  planBatch,
} from './ingest-plan.ts';
import { announceChanges } from '#shared/db/events/service-events.ts';
import { contentHash, type EntityContent, entityContent } from './record-content.ts';
import { lockForWrite } from './write-lock.ts';

export interface IngestTarget {
  workspaceId: string;
  feedId: string;
  /** The run that writes the records. */
  runId?: string;
}

/**
 * Writes records to a feed, in order, in the caller's transaction: the number of statements does not depend on the
 * number of records. A refused record writes nothing. Batches of a workspace are serialized. Throws AppError
 * `not_found`, and `conflict` for an archived feed.
 */
export async function ingestBatch(
  tx: Tx,
  target: IngestTarget,
  records: readonly NumberedRecord[],
): Promise<BatchOutcome> {
  const { workspaceId } = target;
  // Deleting the feed takes the same lock, so the feed exists until the commit.
  const stamp = await lockForWrite(tx, workspaceId);
  const feed = await readBatchFeed(tx, target);
  const entities = await findEntities(tx, target, records);
  const events = await findEvents(tx, target, records);
  const plan = planBatch(feed, stamp, { entities, events }, records);
  const place = { ...target, isDemo: feed.is_demo, stamp };
  if (plan.entities.length > 0 || plan.seen.length > 0) await writeEntities(tx, place, plan);
  if (plan.events.length > 0) await writeEvents(tx, place, plan);
  await noteFreshness(tx, place, plan);
  await announceChanges(tx, workspaceId, plan.promises, target.runId);
  return plan.outcome;
}

const feedRow = z.object({
  id: z.string(),
  is_demo: z.boolean(),
  status: z.string(),
  entity_types: z.array(z.string()),
});

/**
 * The next statements look rows up by key among possibly millions. A plan made while the tables were empty would read
 * the whole feed for each batch, and statistics lag behind a long stream. Until the commit, these settings force a new
 * plan per batch that uses the indexes.
 */
async function readBatchFeed(tx: Tx, target: IngestTarget): Promise<BatchFeed> {
  const feed = await tx.maybeOne(statement(feedRow)`
    SELECT id, is_demo, status, entity_types,
           set_config('enable_seqscan', 'off', true), set_config('enable_hashjoin', 'off', true),
           set_config('enable_mergejoin', 'off', true), set_config('jit', 'off', true),
           set_config('plan_cache_mode', 'force_custom_plan', true)
    FROM data_feeds WHERE id = ${target.feedId} AND workspace_id = ${target.workspaceId}
  `);
  if (feed === null) throw notFound('Feed');
  if (feed.status === 'archived') throw conflict('The feed is archived');
  return feed;
}

const knownEntity = z.object({
  external_key: z.string(),
  id: z.string(),
  entity_type: z.string(),
  version: z.number(),
  hash: z.string(),
  content: (jsonObject as unknown as z.ZodType<EntityContent>).nullable(),
});

/** The existing entities named in a batch, with their content only if it may have changed. */
async function findEntities(
  tx: Tx,
  { workspaceId, feedId }: IngestTarget,
  records: readonly NumberedRecord[],
): Promise<readonly KnownEntity[]> {
  const hashes = new Map<string, string>();
  for (const { record } of records) {
    if (record.type === 'event') {
      if (!hashes.has(record.primary_external_key)) hashes.set(record.primary_external_key, '');
    } else if ((hashes.get(record.external_key) ?? '') === '') {
      hashes.set(record.external_key, contentHash(entityContent(record)));
    }
  }
  return tx.any(statement(knownEntity)`
    SELECT e.external_key, e.id, e.entity_type, e.version, encode(e.content_hash, 'hex') AS hash,
           CASE WHEN k.hash NOT IN ('', encode(e.content_hash, 'hex')) THEN jsonb_build_object(
             'entity_type', e.entity_type, 'canonical_name', e.canonical_name, 'aliases', e.aliases,
             'attributes', e.attributes, 'external_ids', e.external_ids, 'geography', e.geography,
             'status', e.status, 'verification_status', e.verification_status, 'confidence', e.confidence,
             'source_evidence', e.source_evidence) END AS content
    FROM unnest(${sql.array([...hashes.keys()], 'text')}, ${sql.array([...hashes.values()], 'text')})
      AS k(external_key, hash)
    -- The limit keeps the planner from starting with the entities of the feed.
    CROSS JOIN LATERAL (
      SELECT * FROM data_entities
      WHERE feed_id = ${feedId} AND external_key = k.external_key AND workspace_id = ${workspaceId} LIMIT 1
    ) e
  `);
}

const knownEvent = z.object({
  external_key: z.string(),
  id: z.string(),
  hash: z.string(),
  verification_status: z.string(),
});

async function findEvents(
  tx: Tx,
  { workspaceId, feedId }: IngestTarget,
  records: readonly NumberedRecord[],
): Promise<readonly KnownEvent[]> {
  const keys = records.flatMap(({ record }) =>
    record.type === 'event' ? [record.external_key] : [],
  );
  if (keys.length === 0) return [];
  return tx.any(statement(knownEvent)`
    SELECT v.external_key, v.id, encode(v.content_hash, 'hex') AS hash, v.verification_status
    FROM (SELECT DISTINCT unnest(${sql.array(keys, 'text')})) AS k(external_key)
    CROSS JOIN LATERAL (
      SELECT * FROM data_events
      WHERE feed_id = ${feedId} AND external_key = k.external_key AND workspace_id = ${workspaceId} LIMIT 1
    ) v
  `);
}

/** Where and when a batch is written. */
interface Place extends IngestTarget {
  isDemo: boolean;
  stamp: string;
}

/** The newest state of each entity, all its new versions, and their changes, in one statement. */
async function writeEntities(tx: Tx, place: Place, plan: BatchPlan): Promise<void> {
  const { workspaceId, feedId, isDemo, stamp } = place;
  await tx.query(statement(z.object({}))`
    WITH written AS MATERIALIZED (
      SELECT row_number() OVER () AS n, r.*
      FROM json_to_recordset(${JSON.stringify(plan.entities)}::json) AS r(
        id text, is_new boolean, external_key text, entity_type text, canonical_name text, aliases jsonb,
        attributes jsonb, external_ids jsonb, geography jsonb, status text, verification_status text,
        confidence float8, version int, source_evidence jsonb, hash text, first_observed_at timestamptz,
        last_observed_at timestamptz, verified boolean, changed text[])
    ), made AS (
      INSERT INTO data_entities (id, workspace_id, feed_id, is_demo, external_key, entity_type, canonical_name, aliases,
                                 attributes, external_ids, geography, status, verification_status, confidence, version,
                                 source_evidence, content_hash, first_observed_at, last_observed_at, last_verified_at,
                                 created_at, updated_at)
      SELECT id, ${workspaceId}, ${feedId}, ${isDemo}, external_key, entity_type, canonical_name, aliases, attributes,
             external_ids, geography, status, verification_status, confidence, version, source_evidence,
             decode(hash, 'hex'), first_observed_at, last_observed_at,
             CASE WHEN verified THEN ${stamp}::timestamptz END, ${stamp}::timestamptz, ${stamp}::timestamptz
      FROM written WHERE is_new ORDER BY n
    ), changed AS (
      UPDATE data_entities e
      SET canonical_name = w.canonical_name, aliases = w.aliases, attributes = w.attributes,
          external_ids = w.external_ids, geography = w.geography, status = w.status,
          verification_status = w.verification_status, confidence = w.confidence, version = w.version,
          source_evidence = w.source_evidence, content_hash = decode(w.hash, 'hex'),
          last_observed_at = greatest(e.last_observed_at, w.last_observed_at),
          last_verified_at = CASE WHEN w.verified THEN ${stamp}::timestamptz ELSE e.last_verified_at END,
          updated_at = ${stamp}::timestamptz
      FROM written w WHERE NOT w.is_new AND e.id = w.id AND e.workspace_id = ${workspaceId}
    ), seen AS (
      UPDATE data_entities e
      SET last_observed_at = greatest(e.last_observed_at, s.last_observed_at), content_hash = decode(s.hash, 'hex')
      FROM json_to_recordset(${JSON.stringify(plan.seen)}::json) AS s(id text, hash text, last_observed_at timestamptz)
      WHERE e.id = s.id AND e.workspace_id = ${workspaceId}
        AND (e.last_observed_at < s.last_observed_at OR e.content_hash <> decode(s.hash, 'hex'))
    ), versions AS (
      INSERT INTO data_entity_versions (entity_id, version, workspace_id, changed_at, attributes, changed)
      SELECT entity_id, version, ${workspaceId}, ${stamp}::timestamptz, attributes, changed
      FROM json_to_recordset(${JSON.stringify(plan.passedVersions)}::json) AS p(
        entity_id text, version int, attributes jsonb, changed text[])
      UNION ALL
      SELECT id, version, ${workspaceId}, ${stamp}::timestamptz, attributes, changed FROM written
    )
    INSERT INTO data_changes (id, workspace_id, feed_id, is_demo, entity_id, entity_type, attribute, old_value,
                              new_value, version, source_id, changed_at)
    SELECT id, ${workspaceId}, ${feedId}, ${isDemo}, entity_id, entity_type, attribute, old_value, new_value, version,
           source_id, ${stamp}::timestamptz
    FROM json_to_recordset(${JSON.stringify(plan.changes)}::json) AS c(
      id text, entity_id text, entity_type text, attribute text, old_value jsonb, new_value jsonb, version int,
      source_id text)
  `);
}

async function writeEvents(tx: Tx, place: Place, plan: BatchPlan): Promise<void> {
  const { workspaceId, feedId, isDemo, stamp } = place;
  await tx.query(statement(z.object({}))`
    WITH written AS MATERIALIZED (
      SELECT row_number() OVER () AS n, r.*
      FROM json_to_recordset(${JSON.stringify(plan.events)}::json) AS r(
        id text, is_new boolean, external_key text, event_type text, occurred_at timestamptz, primary_entity_id text,
        summary text, relevance_score float8, opportunity_score float8, confidence float8, verification_status text,
        match_reason text, source_evidence jsonb, hash text)
    ), changed AS (
      UPDATE data_events v
      SET event_type = w.event_type, occurred_at = w.occurred_at, primary_entity_id = w.primary_entity_id,
          summary = w.summary, relevance_score = w.relevance_score, opportunity_score = w.opportunity_score,
          confidence = w.confidence, verification_status = w.verification_status, match_reason = w.match_reason,
          source_evidence = w.source_evidence, content_hash = decode(w.hash, 'hex'),
          updated_at = ${stamp}::timestamptz
      FROM written w WHERE NOT w.is_new AND v.id = w.id AND v.workspace_id = ${workspaceId}
    )
    INSERT INTO data_events (id, workspace_id, feed_id, is_demo, external_key, event_type, occurred_at, detected_at,
                             primary_entity_id, summary, relevance_score, opportunity_score, confidence,
                             verification_status, match_reason, source_evidence, content_hash, created_at, updated_at)
    SELECT id, ${workspaceId}, ${feedId}, ${isDemo}, external_key, event_type, occurred_at, ${stamp}::timestamptz,
           primary_entity_id, summary, relevance_score, opportunity_score, confidence, verification_status,
           match_reason, source_evidence, decode(hash, 'hex'), ${stamp}::timestamptz, ${stamp}::timestamptz
    FROM written WHERE is_new ORDER BY n
  `);
}

async function noteFreshness(tx: Tx, place: Place, plan: BatchPlan): Promise<void> {
  const hasNews = plan.entities.length > 0 || plan.events.length > 0;
  await tx.query(statement(z.object({}))`
    UPDATE data_feeds
    SET last_checked_at = ${place.stamp}::timestamptz,
        last_event_at = CASE WHEN ${hasNews} THEN ${place.stamp}::timestamptz ELSE last_event_at END
    WHERE id = ${place.feedId} AND workspace_id = ${place.workspaceId}
  `);
}

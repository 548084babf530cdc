import { z } from 'zod';
import { type IntelligenceEvent, intelligenceEventSchema } from '#shared/contract/data/event.ts';
import { notFound } from '#shared/errors.ts';
import { type Db, sql, statement, type Tx } from '#shared/db/pool.ts';
import {
  confidenceClass,
  HIGHEST_CONFIDENCE_CLASS,
  listPosition,
  ofEntity,
  ofFeed,
  ofReader,
  type Page,
  type PageRequest,
  readPage,
  type ReaderScope,
  type RecordScope,
  scopesOf,
  type Walk,
} from './lists.ts';

export interface EventFilter {
  feed_id?: string | undefined;
  entity_id?: string | undefined;
  event_type?: string | undefined;
  /** 0 to 1. */
  confidence_min?: number | undefined;
  /** ISO 8601; compared with the detection time. */
  created_since?: string | undefined;
}

const listedEvent = intelligenceEventSchema.extend(listPosition);
const detected = sql.fragment`detected_at`;

const eventColumns = sql.fragment`
  e.id, e.feed_id, e.event_type, e.occurred_at, e.detected_at, e.primary_entity_id, e.summary, e.relevance_score,
  e.opportunity_score, e.confidence, e.verification_status, e.match_reason, e.source_evidence, e.delivered_at,
  e.is_demo`;

/**
 * Newest first, by detection. Every filter and every pair of filters has an index in that order; other filters for one
 * record are applied to each event.
 */
export async function listEvents(
  db: Db,
  scope: ReaderScope,
  filter: EventFilter,
  page: PageRequest,
): Promise<Page<IntelligenceEvent>> {
  return readPage(db, listedEvent, eventColumns, { walk: walkOf(scope, filter), page });
}

function walkOf(scope: ReaderScope, filter: EventFilter): Walk {
  const { feed_id, entity_id, event_type, confidence_min, created_since } = filter;
  const scopes =
    entity_id === undefined
      ? scopesOf(scope, feed_id)
      : [ofEntity(scope, sql.fragment`primary_entity_id`, entity_id)];
  const where = [sql.fragment`e.detected_at >= ${created_since ?? '-infinity'}::timestamptz`];
  if (entity_id !== undefined && feed_id !== undefined) where.push(ofFeed(scope, feed_id));
  if (event_type !== undefined) where.push(sql.fragment`e.event_type = ${event_type}`);
  const walk: Walk = { table: sql.fragment`data_events`, clock: detected, scopes, where };
  if (confidence_min === undefined) return walk;
  where.push(sql.fragment`e.confidence >= ${confidence_min}::float8`);
  // With feed and type, or for one record, that index is used and the confidence is checked for each row.
  if (entity_id === undefined && (feed_id === undefined || event_type === undefined)) {
    walk.classes = {
      column: sql.fragment`confidence_class`,
      from: confidenceClass(confidence_min),
      to: HIGHEST_CONFIDENCE_CLASS,
    };
  }
  return walk;
}

/** Throws AppError `not_found`. */
export async function readEvent(
  db: Db,
  scope: ReaderScope,
  eventId: string,
): Promise<IntelligenceEvent> {
  const event = await db.maybeOne(statement(intelligenceEventSchema)`
    SELECT ${eventColumns} FROM data_events e WHERE e.id = ${eventId} AND ${ofReader(scope)}
  `);
  if (event === null) throw notFound('Event');
  return event;
}

const deliveredRow = z.object({ id: z.string(), delivered_at: z.string() });

/**
 * Records the first delivery time of events that are about to be delivered, and returns the events. Locks rows in id
 * order, so that concurrent deliveries of the same events cannot deadlock.
 */
export async function markDelivered(
  tx: Tx,
  { workspaceId, isDemo }: RecordScope,
  events: readonly IntelligenceEvent[],
): Promise<IntelligenceEvent[]> {
  const fresh = events.filter((event) => event.delivered_at === null).map((event) => event.id);
  if (fresh.length === 0) return [...events];
  const marked = await tx.any(statement(deliveredRow)`
    WITH fresh AS MATERIALIZED (
      SELECT e.id FROM data_events e
      WHERE e.id = ANY (${sql.array(fresh, 'text')}) AND e.workspace_id = ${workspaceId} AND e.is_demo = ${isDemo}
      ORDER BY e.id FOR NO KEY UPDATE
    )
    UPDATE data_events e SET delivered_at = coalesce(e.delivered_at, clock_timestamp())
    FROM fresh WHERE e.id = fresh.id AND e.workspace_id = ${workspaceId}
    RETURNING e.id, e.delivered_at
  `);
  const times = new Map(marked.map(({ id, delivered_at }) => [id, delivered_at]));
  return events.map((event) => ({
    ...event,
    delivered_at: times.get(event.id) ?? event.delivered_at,
  }));
}

import { z } from 'zod';
import type { Actor } from '#shared/people/actor.ts';
import { jsonObject, type OffsetPage } from '#shared/contract/common.ts';
import {
  type Feed,
  type FeedDetail,
  type FeedInput,
  feedStatuses,
  type FeedUpdate,
} from '#shared/contract/data/feed.ts';
import { notFound } from '#shared/errors.ts';
import type { JsonObject } from '#shared/json.ts';
import { etagOf } from '#shared/crypto/etags.ts';
import { newId } from '#shared/crypto/ids.ts';
import { recordAudit } from '#shared/db/audit/audit.ts';
import { offsetClause } from '#shared/db/cursor.ts';
import { type Db, type Pool, sql, statement } from '#shared/db/pool.ts';
import { requireRoom } from '#shared/db/people/limits.ts';
import { announceChanges } from '#shared/db/events/service-events.ts';
import { lockForWrite } from './write-lock.ts';

/** Records deleted per transaction, with all rows that reference them. */
const DELETED_AT_ONCE = 5_000;

const feedRow = z
  .object({
    id: z.string(),
    name: z.string(),
    description: z.string(),
    status: z.enum(feedStatuses),
    last_event_at: z.string().nullable(),
    last_checked_at: z.string().nullable(),
    lag_seconds: z.number().nullable(),
    entity_types: z.array(z.string()),
    schema: jsonObject,
    geography: jsonObject,
    is_demo: z.boolean(),
    created_at: z.string(),
    updated_at: z.string(),
    /** Represents the specification in the tag, because lists do not read it. */
    specification_digest: z.string(),
  })
  .transform(({ last_event_at, last_checked_at, lag_seconds, ...edited }): Feed => {
    const { specification_digest: _, ...feed } = edited;
    return {
      ...feed,
      freshness: { last_event_at, last_checked_at, lag_seconds },
      etag: etagOf(edited, ['updated_at']),
    };
  });
const feedDetailRow = feedRow.in
  .extend({ specification: jsonObject })
  .transform(({ specification, ...row }): FeedDetail => {
    return { ...feedRow.parse(row), specification };
  });

const feedColumns = sql.fragment`
  id, name, description, status, last_event_at, last_checked_at,
  floor(extract(epoch FROM greatest(now(), last_event_at) - last_event_at))::int AS lag_seconds,
  entity_types, schema, geography, is_demo, created_at, updated_at, md5(specification::text) AS specification_digest`;

/**
 * Newest first, with or without archived feeds. `isDemo` selects demo or live feeds, `name` those with exactly this
 * name; by default, all are listed.
 */
export async function listFeeds(
  db: Db,
  of: { workspaceId: string; isDemo?: boolean; name?: string | undefined; archived: boolean },
  page?: OffsetPage,
): Promise<readonly Feed[]> {
  return db.any(statement(feedRow)`
    SELECT ${feedColumns} FROM data_feeds
    WHERE workspace_id = ${of.workspaceId}
      AND (${of.isDemo ?? null}::boolean IS NULL OR is_demo = ${of.isDemo ?? null})
      AND (${of.name ?? null}::text IS NULL OR name = ${of.name ?? null})
      AND (${of.archived} OR status <> 'archived')
    ORDER BY created_at DESC, id DESC ${offsetClause(page)}
  `);
}

/** A feed in any status. Throws AppError `not_found`, also when `isDemo` is given and differs from the feed's. */
export async function readFeed(
  db: Db,
  of: { workspaceId: string; isDemo?: boolean; feedId: string },
): Promise<FeedDetail> {
  const feed = await db.maybeOne(statement(feedDetailRow)`
    SELECT ${feedColumns}, specification FROM data_feeds
    WHERE id = ${of.feedId} AND workspace_id = ${of.workspaceId}
      AND (${of.isDemo ?? null}::boolean IS NULL OR is_demo = ${of.isDemo ?? null})
  `);
  if (feed === null) throw notFound('Feed');
  return feed;
}

/** Throws AppError `conflict` when the workspace has too many feeds. */
export async function createFeed(db: Pool, actor: Actor, input: FeedInput): Promise<FeedDetail> {
  const { workspaceId } = actor;
  return db.transaction(async (tx) => {
    await requireRoom(tx, workspaceId, 'feeds');
    await lockForWrite(tx, workspaceId);
    const feed = await tx.one(statement(feedDetailRow)`
      INSERT INTO data_feeds (id, workspace_id, is_demo, name, description, status, entity_types, schema, geography,
                              specification, created_by)
      VALUES (${newId('feed')}, ${workspaceId}, ${input.is_demo}, ${input.name}, ${input.description}, ${input.status},
              ${sql.array(input.entity_types, 'text')}, ${JSON.stringify(input.schema)}::json,
              ${JSON.stringify(input.geography)}::json, ${JSON.stringify(input.specification)}::json, ${actor.id})
      RETURNING ${feedColumns}, specification
    `);
    await auditFeed(tx, actor, feed, 'create', { is_demo: feed.is_demo });
    return feed;
  });
}

/**
 * Changes the given fields, records them in the audit log, and queues `feed.status_changed` for a changed status.
 * Throws AppError `not_found`.
 */
export async function updateFeed(
  db: Pool,
  actor: Actor,
  feedId: string,
  update: FeedUpdate,
): Promise<FeedDetail> {
  const { workspaceId } = actor;
  return db.transaction(async (tx) => {
    const before = await tx.maybeOne(statement(feedDetailRow)`
      SELECT ${feedColumns}, specification FROM data_feeds
      WHERE id = ${feedId} AND workspace_id = ${workspaceId} FOR NO KEY UPDATE
    `);
    if (before === null) throw notFound('Feed');
    const after = { ...before, ...update };
    const changed = WRITABLE.filter(
      (field) => JSON.stringify(before[field]) !== JSON.stringify(after[field]),
    );
    if (changed.length === 0) return before;
    const feed = await tx.one(statement(feedDetailRow)`
      UPDATE data_feeds
      SET name = ${after.name}, description = ${after.description}, status = ${after.status},
          entity_types = ${sql.array(after.entity_types, 'text')}, schema = ${JSON.stringify(after.schema)}::json,
          geography = ${JSON.stringify(after.geography)}::json,
          specification = ${JSON.stringify(after.specification)}::json, updated_at = now()
      WHERE id = ${feedId} AND workspace_id = ${workspaceId}
      RETURNING ${feedColumns}, specification
    `);
    await auditFeed(tx, actor, feed, 'update', { changed });
    if (feed.status !== before.status) {
      const data = { feed_id: feed.id, name: feed.name, from: before.status, to: feed.status };
      await announceChanges(tx, workspaceId, [
        { type: 'feed.status_changed', isDemo: feed.is_demo, data },
      ]);
    }
    return feed;
  });
}

const WRITABLE = [
  'name',
  'description',
  'status',
  'entity_types',
  'schema',
  'geography',
  'specification',
] as const;

/**
 * Deletes a feed and all its records in batches, since there may be millions. After an interruption, some are deleted;
 * deleting the feed again continues from there. Throws AppError `not_found`.
 */
export async function deleteFeed(db: Pool, actor: Actor, feedId: string): Promise<void> {
  const { workspaceId } = actor;
  await readFeed(db, { workspaceId, feedId });
  while ((await deleteRecords(db, workspaceId, feedId)) === DELETED_AT_ONCE);
  await db.transaction(async (tx) => {
    await lockForWrite(tx, workspaceId);
    const feed = await tx.maybeOne(statement(feedRow)`
      DELETE FROM data_feeds WHERE id = ${feedId} AND workspace_id = ${workspaceId}
      RETURNING ${feedColumns}
    `);
    if (feed === null) throw notFound('Feed');
    await auditFeed(tx, actor, feed, 'delete', {});
  });
}

const deleteRecords = async (db: Pool, workspaceId: string, feedId: string): Promise<number> =>
  db.transaction(async (tx) => {
    await lockForWrite(tx, workspaceId);
    const { rowCount } = await tx.query(statement(z.object({}))`
      DELETE FROM data_entities WHERE id IN (
        SELECT id FROM data_entities WHERE feed_id = ${feedId} AND workspace_id = ${workspaceId}
        LIMIT ${DELETED_AT_ONCE}
      )
    `);
    return rowCount;
  });

const auditFeed = (
  db: Db,
  actor: Actor,
  feed: Pick<Feed, 'id' | 'name'>,
  action: 'create' | 'update' | 'delete',
  details: JsonObject,
): Promise<void> =>
  recordAudit(db, actor, {
    action,
    targetType: 'feed',
    targetId: feed.id,
    details: { name: feed.name, ...details },
  });

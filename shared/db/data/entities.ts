import { z } from 'zod';
import type { Change } from '#shared/contract/data/change.ts';
import {
  type Entity,
  entitySchema,
  type EntityVersion,
  entityVersionSchema,
} from '#shared/contract/data/entity.ts';
import { notFound } from '#shared/errors.ts';
import type { ListPosition } from '#shared/crypto/data-cursors.ts';
import { type Db, type FragmentSqlToken, sql, statement } from '#shared/db/pool.ts';
import { listChangesOf } from './changes.ts';
import {
  confidenceClass,
  HIGHEST_CONFIDENCE_CLASS,
  listPosition,
  ofFeeds,
  ofReader,
  type Page,
  pageOf,
  type PageRequest,
  readPage,
  type ReaderScope,
  scopesOf,
  type Walk,
} from './lists.ts';

export interface EntityFilter {
  feed_id?: string | undefined;
  entity_type?: string | undefined;
  geography?: string | undefined;
  /** 0 to 1. */
  confidence_min?: number | undefined;
  /** ISO 8601. */
  updated_since?: string | undefined;
  created_since?: string | undefined;
}

/** A filter for workflows, which identify records by the keys they write them with. */
export interface EntitySearch extends EntityFilter {
  external_key?: string | undefined;
}

/** A record with the key under which it was written. */
const foundEntity = entitySchema.extend({ external_key: z.string() });
export type FoundEntity = z.infer<typeof foundEntity>;

const listedEntity = entitySchema.extend(listPosition);
const searchedEntity = foundEntity.extend(listPosition);

const entityColumns = sql.fragment`
  e.id, e.feed_id, e.entity_type, e.canonical_name, e.aliases, e.attributes, e.external_ids, e.geography, e.status,
  e.verification_status, e.confidence, e.version, e.source_evidence, e.first_observed_at, e.last_observed_at,
  e.last_verified_at, e.updated_at, e.is_demo`;

const firstObserved = sql.fragment`first_observed_at`;
const updated = sql.fragment`updated_at`;
const table = sql.fragment`data_entities`;

/**
 * Newest first: by first observation, or with `updated_since` by last update, so that a time filter is a range of the
 * order. Every filter and every pair of filters has an index in that order.
 */
export async function listEntities(
  db: Db,
  scope: ReaderScope,
  filter: EntityFilter,
  page: PageRequest,
): Promise<Page<Entity>> {
  return readPage(db, listedEntity, entityColumns, { walk: walkOf(scope, filter), page });
}

/** Like `listEntities`, for tools: includes the key of each record, and can filter by that key, in all feeds or one. */
export async function searchEntities(
  db: Db,
  scope: ReaderScope,
  filter: EntitySearch,
  page: PageRequest,
): Promise<Page<FoundEntity>> {
  const columns = sql.fragment`${entityColumns}, e.external_key`;
  return readPage(db, searchedEntity, columns, { walk: walkOf(scope, filter), page });
}

/** The scan of a list. Each combination of filters is a separate statement. */
function walkOf(scope: ReaderScope, filter: EntitySearch): Walk {
  const { feed_id, external_key } = filter;
  const anyFeed = external_key !== undefined && feed_id === undefined;
  const scopes = anyFeed ? [ofFeeds(scope)] : scopesOf(scope, feed_id);
  const where: FragmentSqlToken[] = [];
  if (external_key !== undefined) where.push(sql.fragment`e.external_key = ${external_key}`);
  if (filter.entity_type !== undefined) {
    where.push(sql.fragment`e.entity_type = ${filter.entity_type}`);
  }
  if (filter.confidence_min !== undefined) {
    where.push(sql.fragment`e.confidence >= ${filter.confidence_min}::float8`);
  }
  if (filter.created_since !== undefined) {
    where.push(sql.fragment`e.first_observed_at >= ${filter.created_since}::timestamptz`);
  }
  if (filter.updated_since !== undefined) {
    where.push(sql.fragment`e.updated_at >= ${filter.updated_since}::timestamptz`);
  }
  const walk: Walk = {
    table,
    clock: filter.updated_since === undefined ? firstObserved : updated,
    scopes,
    where,
    ...(filter.geography === undefined ? {} : { anyOf: placesOf(filter.geography) }),
  };
  // At most one record per feed has the key, so ranges are not needed.
  return external_key === undefined ? inClasses(walk, filter) : walk;
}

const placesOf = (place: string): FragmentSqlToken[] => [
  sql.fragment`e.city = lower(${place})`,
  sql.fragment`e.region = lower(${place})`,
  sql.fragment`e.country = lower(${place})`,
];

/**
 * Turns a condition that is not a range of the order into a range within each class, where an index by class exists.
 */
function inClasses(walk: Walk, filter: EntityFilter): Walk {
  const { feed_id, entity_type, geography, confidence_min, created_since, updated_since } = filter;
  const sameness = [feed_id, entity_type, geography].filter((value) => value !== undefined).length;
  if (updated_since !== undefined && created_since !== undefined && sameness === 0) {
    return {
      ...walk,
      where: [...walk.where, olderThanAge(created_since)],
      classes: { column: sql.fragment`age_class`, from: -1, to: OLDEST_CLASS },
    };
  }
  if (confidence_min === undefined || sameness > (updated_since === undefined ? 1 : 0)) return walk;
  return {
    ...walk,
    classes: {
      column: sql.fragment`confidence_class`,
      from: confidenceClass(confidence_min),
      to: HIGHEST_CONFIDENCE_CLASS,
    },
  };
}

/** 2^(156/4) seconds are about 17,000 years. */
const OLDEST_CLASS = 156;

/**
 * A record first observed after a time, with a given age, was updated that age after it: so in every class except at
 * most one, either all rows match or none. The small margin compensates for the rounding of logarithms.
 */
const olderThanAge = (createdSince: string): FragmentSqlToken => sql.fragment`
  e.updated_at >= ${createdSince}::timestamptz + CASE
    WHEN c.class < 0 THEN interval '-1000 years'
    WHEN c.class = 0 THEN interval '0'
    ELSE power(2, c.class / 4.0::float8) * 0.999999 * interval '1 second' END`;

/** Throws AppError `not_found`. */
export async function readEntity(db: Db, scope: ReaderScope, entityId: string): Promise<Entity> {
  const entity = await db.maybeOne(statement(entitySchema)`
    SELECT ${entityColumns} FROM data_entities e WHERE e.id = ${entityId} AND ${ofReader(scope)}
  `);
  if (entity === null) throw notFound('Entity');
  return entity;
}

/** Maximum number of versions in a `/v1` history. */
export const MAX_VERSIONS = 1_000;
/** The largest Postgres integer. */
const AFTER_ALL = 2_147_483_647;

const listedVersion = entityVersionSchema.extend(listPosition);

/** A page of a record's versions, newest first; the position is the version. */
export async function listVersions(
  db: Db,
  scope: ReaderScope,
  entityId: string,
  page: PageRequest,
): Promise<Page<EntityVersion>> {
  const below = page.after === undefined ? AFTER_ALL : Number(page.after.tie);
  const versions = await db.any(statement(listedVersion)`
    SELECT v.version, v.changed_at, v.attributes, v.changed, 0 AS at, v.version AS tie
    FROM data_entity_versions v
    JOIN data_entities e ON e.id = v.entity_id AND e.workspace_id = v.workspace_id
    WHERE v.entity_id = ${entityId} AND v.workspace_id = ${scope.workspaceId} AND v.version < ${below}::int
      AND ${ofReader(scope)}
    ORDER BY v.version DESC LIMIT ${page.limit + 1}
  `);
  return pageOf(versions, page);
}

/**
 * A page of a record's versions, newest first, with their changes, attribute by attribute. Throws AppError `not_found`.
 */
export async function readHistory(
  db: Db,
  scope: ReaderScope,
  entityId: string,
  page: PageRequest,
): Promise<{ versions: EntityVersion[]; changes: Change[]; end: ListPosition | null }> {
  await readEntity(db, scope, entityId);
  const { rows: versions, end } = await listVersions(db, scope, entityId, page);
  const [newest, oldest] = [versions.at(0), versions.at(-1)];
  if (newest === undefined || oldest === undefined) return { versions, changes: [], end };
  const { workspaceId } = scope;
  const of = { workspaceId, entityId, from: oldest.version, to: newest.version };
  return { versions, changes: await listChangesOf(db, of), end };
}

import { z } from 'zod';
import { type Change, changeSchema } from '#shared/contract/data/change.ts';
import { type Db, sql, statement } from '#shared/db/pool.ts';
import {
  listPosition,
  ofEntity,
  ofFeed,
  type Page,
  type PageRequest,
  readPage,
  type ReaderScope,
  scopesOf,
  type Walk,
} from './lists.ts';

export interface ChangeFilter {
  feed_id?: string | undefined;
  entity_id?: string | undefined;
  entity_type?: string | undefined;
  /** ISO 8601. */
  updated_since?: string | undefined;
}

const listedChange = changeSchema.extend(listPosition);
const changedAt = sql.fragment`changed_at`;
const entityId = sql.fragment`entity_id`;

const changeColumns = sql.fragment`
  e.id, e.feed_id, e.entity_id, e.entity_type, e.attribute, e.old_value, e.new_value, e.version, e.changed_at,
  e.source_id`;

/**
 * Changes of records, attribute by attribute, newest first. Every filter, and feed with type, has an index in that
 * order; other filters for one record are applied to each change.
 */
export async function listChanges(
  db: Db,
  scope: ReaderScope,
  filter: ChangeFilter,
  page: PageRequest,
): Promise<Page<Change>> {
  return readPage(db, listedChange, changeColumns, { walk: walkOf(scope, filter), page });
}

function walkOf(scope: ReaderScope, filter: ChangeFilter): Walk {
  const { feed_id, entity_id, entity_type, updated_since } = filter;
  const scopes =
    entity_id === undefined ? scopesOf(scope, feed_id) : [ofEntity(scope, entityId, entity_id)];
  const where = [sql.fragment`e.changed_at >= ${updated_since ?? '-infinity'}::timestamptz`];
  if (entity_id !== undefined && feed_id !== undefined) where.push(ofFeed(scope, feed_id));
  if (entity_type !== undefined) where.push(sql.fragment`e.entity_type = ${entity_type}`);
  return { table: sql.fragment`data_changes`, clock: changedAt, scopes, where };
}

const named = z.object({ id: z.string(), canonical_name: z.string() });

/** The names of the changed records, by record id. */
export async function namesOfChanged(
  db: Db,
  workspaceId: string,
  changes: readonly Change[],
): Promise<ReadonlyMap<string, string>> {
  const ids = [...new Set(changes.map(({ entity_id }) => entity_id))];
  const rows = await db.any(statement(named)`
    SELECT id, canonical_name FROM data_entities
    WHERE id = ANY(${sql.array(ids, 'text')}) AND workspace_id = ${workspaceId}
  `);
  return new Map(rows.map(({ id, canonical_name }) => [id, canonical_name]));
}

/** The changes of some versions of a record, newest first. */
export async function listChangesOf(
  db: Db,
  of: { workspaceId: string; entityId: string; from: number; to: number },
): Promise<Change[]> {
  const changes = await db.any(statement(changeSchema)`
    SELECT ${changeColumns} FROM data_changes e
    WHERE e.entity_id = ${of.entityId} AND e.workspace_id = ${of.workspaceId}
      AND e.version BETWEEN ${of.from}::int AND ${of.to}::int
    ORDER BY e.version DESC, e.attribute
  `);
  return [...changes];
}

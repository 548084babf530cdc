import { z } from 'zod';
import { type Change, changeSchema } from '../../contract/data/change.ts';
import { type Db, sql } from '../pool.ts';
import {
  depthOf,
  ofFeed,
  ofScope,
  type Page,
  pageOf,
  type PageRequest,
  positionColumns,
  type RecordScope,
  walked,
} from './lists.ts';

const listedChange = changeSchema.extend({ at: z.number(), tie: z.number() });
const changedAt = sql.fragment`changed_at`;

/** What records were changed, attribute by attribute, newest first. */
export async function listChanges(
  db: Db,
  scope: RecordScope,
  filter: { feed_id?: string | undefined; updated_since?: string | undefined },
  page: PageRequest,
): Promise<Page<Change>> {
  const { feed_id, updated_since } = filter;
  const walk = {
    table: sql.fragment`data_changes`,
    clock: changedAt,
    where: [
      feed_id === undefined ? ofScope(scope) : ofFeed(scope, feed_id),
      sql.fragment`e.changed_at >= ${updated_since ?? '-infinity'}::timestamptz`,
    ],
  };
  const name = `data_changes_list_${depthOf(page.limit)}${feed_id === undefined ? '' : '_feed_id'}`;
  const rows = await db.any(sql.prepared(name, listedChange)`
    SELECT e.id, e.feed_id, e.entity_id, e.entity_type, e.attribute, e.old_value, e.new_value, e.version,
           e.changed_at, e.source_id, ${positionColumns(changedAt)}
    FROM ${walked(walk, page)} e
    ORDER BY e.changed_at DESC, e.seq DESC LIMIT ${page.limit + 1}
  `);
  return pageOf(rows, page);
}

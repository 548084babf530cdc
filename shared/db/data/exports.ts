import { z } from 'zod';
import { entitySchema } from '../../contract/data/entity.ts';
import { intelligenceEventSchema } from '../../contract/data/event.ts';
import { type ExportKind, MAX_EXPORT_ROWS } from '../../contract/data/export.ts';
import { notFound } from '../../errors.ts';
import { type FragmentSqlToken, type Pool, sql, type Tx } from '../pool.ts';
import { ofScope, type RecordScope, scopesOf, walkedFar } from './lists.ts';

/** Rows held in memory at a time. */
const BATCH = 250;

/** By the names of `exportColumns`. */
type ExportRow = Readonly<Record<string, unknown>>;

/** What an export has of a record: all of it, as the lists do. */
export const exportColumns = {
  entities: Object.keys(entitySchema.shape),
  events: Object.keys(intelligenceEventSchema.shape),
} satisfies Record<ExportKind, string[]>;

export interface ExportSet {
  /** How many rows there are to be sent. */
  rows: number;
  /** Whether there were more than an export may hold. */
  truncated: boolean;
  /**
   * The rows, newest first, in batches; with what is JSON in them as values or, for who would only write it again, as
   * the text that the database has. Good until the work that was given the set has ended.
   */
  batches: (json: 'values' | 'texts') => AsyncGenerator<readonly ExportRow[]>;
}

// Taken as they are: looking at ten thousand rows field by field takes longer than reading them.
const exportRow = z.custom<ExportRow>();
const idRow = z.object({ id: z.string() });
const found = z.object({ exists: z.boolean() });

/**
 * Fixes the set of an export, does the work, and lets go of it. The set is a snapshot: what comes, changes and goes
 * meanwhile is not seen, so as many rows are sent as were counted before. Throws AppError `not_found` for a feed that
 * the scope has not.
 */
export async function withExportSet<Done>(
  db: Pool,
  scope: RecordScope,
  what: { kind: ExportKind; feedId?: string | undefined },
  work: (set: ExportSet) => Promise<Done>,
): Promise<Done> {
  return db.transaction(async (tx) => {
    await tx.query(sql.unsafe`SET TRANSACTION ISOLATION LEVEL REPEATABLE READ, READ ONLY`);
    if (what.feedId !== undefined) await requireFeed(tx, scope, what.feedId);
    const ids = await keysOf(tx, scope, what);
    const sent = ids.slice(0, MAX_EXPORT_ROWS);
    return work({
      rows: sent.length,
      truncated: ids.length > MAX_EXPORT_ROWS,
      batches: (json) => batchesOf(tx, scope, { kind: what.kind, json }, sent),
    });
  });
}

async function requireFeed(tx: Tx, scope: RecordScope, feedId: string): Promise<void> {
  const exists = await tx.oneFirst(sql.prepared('data_exports_feed', found)`
    SELECT EXISTS (SELECT FROM data_feeds f WHERE f.id = ${feedId} AND f.workspace_id = ${scope.workspaceId}
                   AND f.is_demo = ${scope.isDemo}) AS exists
  `);
  if (!exists) throw notFound('Feed');
}

const kinds = {
  entities: { table: sql.fragment`data_entities`, clock: sql.fragment`first_observed_at` },
  events: { table: sql.fragment`data_events`, clock: sql.fragment`detected_at` },
};

/** Of the newest rows, one more than an export may hold. */
async function keysOf(
  tx: Tx,
  scope: RecordScope,
  { kind, feedId }: { kind: ExportKind; feedId?: string | undefined },
): Promise<readonly string[]> {
  const scopes = scopesOf(scope, feedId);
  const name = `data_exports_keys_${kind}${feedId === undefined ? '' : '_feed_id'}`;
  return tx.anyFirst(sql.prepared(name, idRow)`
    SELECT e.id FROM ${walkedFar({ ...kinds[kind], scopes, where: [] })} e
    ORDER BY e.${kinds[kind].clock} DESC, e.seq DESC
  `);
}

async function* batchesOf(
  tx: Tx,
  scope: RecordScope,
  { kind, json }: { kind: ExportKind; json: 'values' | 'texts' },
  ids: readonly string[],
): AsyncGenerator<readonly ExportRow[]> {
  const { table, clock } = kinds[kind];
  const columns = sql.join(
    exportColumns[kind].map((name) => columnOf(name, json)),
    sql.fragment`, `,
  );
  for (let start = 0; start < ids.length; start += BATCH) {
    const batch = sql.array(ids.slice(start, start + BATCH), 'text');
    yield await tx.any(sql.prepared(`data_exports_${kind}_${json}`, exportRow)`
      SELECT ${columns} FROM ${table} e WHERE e.id = ANY (${batch}) AND ${ofScope(scope)}
      ORDER BY e.${clock} DESC, e.seq DESC
    `);
  }
}

const jsonColumns: ReadonlySet<string> = new Set([
  'aliases',
  'attributes',
  'external_ids',
  'geography',
  'source_evidence',
]);

function columnOf(name: string, json: 'values' | 'texts'): FragmentSqlToken {
  const column = sql.identifier([name]);
  return json === 'texts' && jsonColumns.has(name)
    ? sql.fragment`e.${column}::text AS ${column}`
    : sql.fragment`e.${column}`;
}

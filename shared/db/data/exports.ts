import { z } from 'zod';
import { entitySchema } from '#shared/contract/data/entity.ts';
import { intelligenceEventSchema } from '#shared/contract/data/event.ts';
import { type ExportKind, MAX_EXPORT_ROWS } from '#shared/contract/data/export.ts';
import { notFound } from '#shared/errors.ts';
import {
  type FragmentSqlToken,
  inSnapshot,
  type Pool,
  sql,
  statement,
  type Tx,
} from '#shared/db/pool.ts';
import { ofScope, type RecordScope, scopesOf, walkedFar } from './lists.ts';

/** Rows in memory at a time. */
const BATCH = 250;

/** Keyed by the names in `exportColumns`. */
type ExportRow = Readonly<Record<string, unknown>>;

/** The columns of a record in an export: all of them, as in the lists. */
export const exportColumns = {
  entities: Object.keys(entitySchema.shape),
  events: Object.keys(intelligenceEventSchema.shape),
} satisfies Record<ExportKind, string[]>;

export interface ExportSet {
  /** The rows that will be sent, in order. */
  ids: readonly string[];
  /** Whether there are more rows than an export can hold. */
  truncated: boolean;
  /**
   * The rows, newest first, in batches. JSON columns are values, or database texts for callers that only write them
   * out. They can be read until the callback ends.
   */
  batches: (json: 'values' | 'texts') => AsyncGenerator<readonly ExportRow[]>;
}

// Not parsed: checking ten thousand rows field by field takes longer than reading them.
const exportRow = z.custom<ExportRow>();
const idRow = z.object({ id: z.string() });
const found = z.object({ exists: z.boolean() });

/**
 * Opens the snapshot of an export, runs the callback, and closes it. Concurrent changes are not visible, so exactly the
 * counted rows are sent. Throws AppError `not_found` for a feed that is not in the scope.
 */
export async function withExportSet<Done>(
  db: Pool,
  scope: RecordScope,
  what: { kind: ExportKind; feedId?: string | undefined },
  work: (set: ExportSet) => Promise<Done>,
): Promise<Done> {
  return inSnapshot(db, async (tx) => {
    if (what.feedId !== undefined) await requireFeed(tx, scope, what.feedId);
    const ids = await keysOf(tx, scope, what);
    const sent = ids.slice(0, MAX_EXPORT_ROWS);
    return work({
      ids: sent,
      truncated: ids.length > MAX_EXPORT_ROWS,
      batches: (json) => batchesOf(tx, scope, { kind: what.kind, json }, sent),
    });
  });
}

/** Opens the rows of an earlier export again, as they are now. Deleted ones are missing. */
export const withRowsAgain = <Done>(
  db: Pool,
  scope: RecordScope,
  { kind, ids, truncated }: Pick<ExportSet, 'ids' | 'truncated'> & { kind: ExportKind },
  work: (set: ExportSet) => Promise<Done>,
): Promise<Done> =>
  inSnapshot(db, (tx) =>
    work({ ids, truncated, batches: (json) => batchesOf(tx, scope, { kind, json }, ids) }),
  );

async function requireFeed(tx: Tx, scope: RecordScope, feedId: string): Promise<void> {
  const exists = await tx.oneFirst(statement(found)`
    SELECT EXISTS (SELECT FROM data_feeds f WHERE f.id = ${feedId} AND f.workspace_id = ${scope.workspaceId}
                   AND f.is_demo = ${scope.isDemo}) AS exists
  `);
  if (!exists) throw notFound('Feed');
}

const kinds = {
  entities: { table: sql.fragment`data_entities`, clock: sql.fragment`first_observed_at` },
  events: { table: sql.fragment`data_events`, clock: sql.fragment`detected_at` },
};

/** Ids of the newest rows, one more than an export can hold. */
async function keysOf(
  tx: Tx,
  scope: RecordScope,
  { kind, feedId }: { kind: ExportKind; feedId?: string | undefined },
): Promise<readonly string[]> {
  const scopes = scopesOf(scope, feedId);
  return tx.anyFirst(statement(idRow)`
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
    yield await tx.any(statement(exportRow)`
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

import { z } from 'zod';
import type { Entity } from '../../contract/data/entity.ts';
import type { IntelligenceEvent } from '../../contract/data/event.ts';
import { type ExportKind, MAX_EXPORT_ROWS } from '../../contract/data/export.ts';
import { notFound } from '../../errors.ts';
import type { Pool, Tx } from '../pool.ts';
import { sql } from '../pool.ts';
import { entityColumns } from './entities.ts';
import { eventColumns } from './events.ts';
import { ofFeed, ofScope, type RecordScope, walkedFar } from './lists.ts';

/** Rows held in memory at a time. */
const BATCH = 250;

export type ExportRow = Entity | IntelligenceEvent;

export interface ExportSet {
  /** How many rows there are to be sent. */
  rows: number;
  /** Whether there were more than an export may hold. */
  truncated: boolean;
  /** The rows, newest first, in batches. Good until the work that was given the set has ended. */
  batches: () => AsyncGenerator<readonly ExportRow[]>;
}

// Taken as they are: looking at ten thousand rows field by field takes longer than reading them.
const entityRow = z.custom<Entity>();
const eventRow = z.custom<IntelligenceEvent>();
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
      batches: () => batchesOf(tx, scope, what.kind, sent),
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
  const where = [feedId === undefined ? ofScope(scope) : ofFeed(scope, feedId)];
  const name = `data_exports_keys_${kind}${feedId === undefined ? '' : '_feed_id'}`;
  return tx.anyFirst(sql.prepared(name, idRow)`
    SELECT e.id FROM ${walkedFar({ ...kinds[kind], where })} e
    ORDER BY e.${kinds[kind].clock} DESC, e.seq DESC
  `);
}

async function* batchesOf(
  tx: Tx,
  scope: RecordScope,
  kind: ExportKind,
  ids: readonly string[],
): AsyncGenerator<readonly ExportRow[]> {
  for (let start = 0; start < ids.length; start += BATCH) {
    const batch = sql.array(ids.slice(start, start + BATCH), 'text');
    yield kind === 'entities'
      ? await tx.any(sql.prepared('data_exports_entities', entityRow)`
          SELECT ${entityColumns} FROM data_entities e WHERE e.id = ANY (${batch}) AND ${ofScope(scope)}
          ORDER BY e.first_observed_at DESC, e.seq DESC
        `)
      : await tx.any(sql.prepared('data_exports_events', eventRow)`
          SELECT ${eventColumns} FROM data_events e WHERE e.id = ANY (${batch}) AND ${ofScope(scope)}
          ORDER BY e.detected_at DESC, e.seq DESC
        `);
  }
}

import { z } from 'zod';
import { LEASE_MS } from '#shared/db/runs/outbox.ts';
import {
  type Db,
  type Pool,
  type QuerySqlToken,
  sql,
  statement,
  type Tx,
} from '#shared/db/pool.ts';
import { storedJson } from '#shared/db/stored-json.ts';
import { storedEvent } from '#shared/db/waits/awaited-events.ts';
import type { JsonObject } from '#shared/json.ts';
import { notFound } from '#shared/errors.ts';

/** The starts of runs by events: rows that are written with the comparison of the event, and taken by the run. */

export interface Start {
  trigger_id: string;
  event_id: string;
}

/** `refusal`: why it starts no run. */
export type NewStart = Start & { refusal?: string };

const startRow = z.object({ trigger_id: z.string(), event_id: z.string() });

/** Stores starts, each once. Returns those that are due, leased to the caller. */
export async function insertStarts(
  tx: Tx,
  workspaceId: string,
  starts: readonly NewStart[],
): Promise<readonly Start[]> {
  if (starts.length === 0) return [];
  // A trigger that was deleted in the meantime starts nothing.
  const stored = await tx.any(statement(startRow.extend({ due: z.boolean() }))`
    INSERT INTO event_starts (trigger_id, event_id, workspace_id, refusal, leased_until)
    SELECT t.id, s.event_id, ${workspaceId}, s.refusal, now() + ${LEASE_MS}::int * interval '1 ms'
    FROM json_to_recordset(${JSON.stringify(starts)}::json) AS s (trigger_id text, event_id text, refusal text)
    JOIN event_triggers t ON t.id = s.trigger_id
    FOR KEY SHARE OF t
    ON CONFLICT (trigger_id, event_id) DO NOTHING
    RETURNING trigger_id, event_id, refusal IS NULL AS due
  `);
  return stored.flatMap(({ due, ...start }) => (due ? [start] : []));
}

/** Starts that are due because the process that had them was killed, leased to the caller. */
export const takeStarts = (db: Db, limit: number): Promise<readonly Start[]> =>
  db.any(statement(startRow)`
    UPDATE event_starts s SET leased_until = now() + ${LEASE_MS}::int * interval '1 ms'
    FROM (
      SELECT trigger_id, event_id FROM event_starts
      WHERE run_id IS NULL AND refusal IS NULL AND (leased_until IS NULL OR leased_until < now())
      ORDER BY created_at LIMIT ${limit} FOR UPDATE SKIP LOCKED
    ) AS due
    WHERE s.trigger_id = due.trigger_id AND s.event_id = due.event_id
    RETURNING s.trigger_id, s.event_id
  `);

const dueRow = storedEvent.extend({
  workspace_id: z.string(),
  workflow_id: z.string(),
  input: storedJson<JsonObject>().nullable(),
  enabled: z.boolean(),
});

/** The event of a start, and what the trigger makes of it; null if it is no longer due. */
export const readStart = (db: Db, { trigger_id, event_id }: Start) =>
  db.maybeOne(statement(dueRow)`
    SELECT t.workspace_id, t.workflow_id, t.input, t.enabled, e.id, e.seq, e.name, e.data, e.created_at, e.depth
    FROM event_starts s JOIN event_triggers t ON t.id = s.trigger_id JOIN events e ON e.id = s.event_id
    WHERE s.trigger_id = ${trigger_id} AND s.event_id = ${event_id} AND s.run_id IS NULL AND s.refusal IS NULL
  `);

/** Stores why a due start started no run. */
export async function refuseStart(
  db: Db,
  { trigger_id, event_id }: Start,
  refusal: string,
): Promise<void> {
  await db.query(statement(z.object({}))`
    UPDATE event_starts SET refusal = ${refusal}
    WHERE trigger_id = ${trigger_id} AND event_id = ${event_id} AND run_id IS NULL AND refusal IS NULL
  `);
}

/**
 * Admits the run of a start, together with its claim. Null if the start is no longer due, or as the admission. Locks the
 * workflow first, as its deletion does.
 */
export async function admitStarted<Row extends { id: string; joined: boolean }>(
  db: Pool,
  { trigger_id, event_id }: Start,
  admission: QuerySqlToken<z.ZodType<Row>>,
): Promise<Row | null> {
  return db.transaction(async (tx) => {
    await tx.query(statement(z.object({}))`
      SELECT FROM workflows w WHERE w.id = (SELECT t.workflow_id FROM event_triggers t WHERE t.id = ${trigger_id}) FOR KEY SHARE
    `);
    await tx.query(statement(z.object({}))`
      SELECT FROM event_triggers WHERE id = ${trigger_id} FOR KEY SHARE
    `);
    const due = await tx.maybeOne(statement(startRow)`
      SELECT trigger_id, event_id FROM event_starts
      WHERE trigger_id = ${trigger_id} AND event_id = ${event_id} AND run_id IS NULL AND refusal IS NULL FOR UPDATE
    `);
    if (due === null) return null;
    const row = await tx.maybeOne(admission);
    if (row === null) return null;
    await tx.query(statement(z.object({}))`
      WITH taken AS (
        UPDATE event_starts SET run_id = ${row.id} WHERE trigger_id = ${trigger_id} AND event_id = ${event_id}
      )
      UPDATE runs r SET trigger_id = coalesce(r.trigger_id, t.id), event_id = coalesce(r.event_id, e.id),
        event_depth = greatest(r.event_depth, e.depth), starter_id = CASE WHEN ${row.joined} THEN r.starter_id ELSE t.created_by END,
        starters = ARRAY(
          SELECT DISTINCT s FROM unnest(CASE WHEN ${row.joined} THEN r.starters END || t.created_by || t.editors) AS s
          WHERE s IS NOT NULL ORDER BY 1)
      FROM event_triggers t, events e WHERE r.id = ${row.id} AND t.id = ${trigger_id} AND e.id = ${event_id}
    `);
    return row;
  });
}

/** The run of a start; undefined while it has none. Throws AppError `not_found` if it is not due either. */
export async function runOfStart(
  db: Db,
  { trigger_id, event_id }: Start,
): Promise<string | undefined> {
  const row = await db.maybeOne(sql.type(
    z.object({ run_id: z.string().nullable(), refusal: z.string().nullable() }),
  )`
    SELECT run_id, refusal FROM event_starts WHERE trigger_id = ${trigger_id} AND event_id = ${event_id}
  `);
  if (row === null || row.refusal !== null) throw notFound('Start of the event trigger');
  return row.run_id ?? undefined;
}

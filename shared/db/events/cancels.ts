import { z } from 'zod';
import { type Db, type Pool, statement, type Tx } from '#shared/db/pool.ts';
import { type EndedRun, settleCancelled } from '#shared/db/runs/ends.ts';
import { LEASE_MS, type OutboxRow } from '#shared/db/runs/outbox.ts';

/** The cancels of runs by events: rows that are written with the comparison of the event, and carried out one by one. */

export interface Cancel {
  event_id: string;
  run_id: string;
}

/** `epoch`: the resume of the run that the event found. `refusal`: why the match failed. */
export type NewCancel = Cancel & { workflow_id: string; epoch: number; refusal?: string };

const cancelRow = z.object({ event_id: z.string(), run_id: z.string() });

/** Stores cancels, each once, and for each workflow the first run for which the match failed. Returns those that are due. */
export async function insertCancels(
  tx: Tx,
  workspaceId: string,
  cancels: readonly NewCancel[],
): Promise<readonly Cancel[]> {
  if (cancels.length === 0) return [];
  const rows = JSON.stringify(cancels);
  // Another event of the list may have matched before.
  await tx.query(statement(z.object({}))`
    INSERT INTO event_cancels (event_id, run_id, workspace_id, workflow_id, epoch, refusal)
    SELECT c.event_id, c.run_id, ${workspaceId}, c.workflow_id, c.epoch, c.refusal
    FROM json_to_recordset(${rows}::json) AS c (event_id text, run_id text, workflow_id text, epoch int, refusal text)
    WHERE c.refusal IS NOT NULL ON CONFLICT DO NOTHING
  `);
  return tx.any(statement(cancelRow)`
    INSERT INTO event_cancels AS k (event_id, run_id, workspace_id, workflow_id, epoch, leased_until)
    SELECT c.event_id, c.run_id, ${workspaceId}, c.workflow_id, c.epoch, now() + ${LEASE_MS}::int * interval '1 ms'
    FROM json_to_recordset(${rows}::json) AS c (event_id text, run_id text, workflow_id text, epoch int, refusal text)
    WHERE c.refusal IS NULL
    ON CONFLICT (event_id, run_id) DO UPDATE SET refusal = NULL, leased_until = excluded.leased_until
    WHERE k.refusal IS NOT NULL
    RETURNING event_id, run_id
  `);
}

/** Cancels that are due because the process that had them was killed, leased to the caller. */
export const takeCancels = (db: Db, limit: number): Promise<readonly Cancel[]> =>
  db.any(statement(cancelRow)`
    UPDATE event_cancels k SET leased_until = now() + ${LEASE_MS}::int * interval '1 ms'
    FROM (
      SELECT event_id, run_id FROM event_cancels
      WHERE cancelled_at IS NULL AND refusal IS NULL AND (leased_until IS NULL OR leased_until < now())
      ORDER BY created_at LIMIT ${limit} FOR UPDATE SKIP LOCKED
    ) AS due
    WHERE k.event_id = due.event_id AND k.run_id = due.run_id
    RETURNING k.event_id, k.run_id
  `);

const openRow = z.object({ workspace_id: z.string(), epoch: z.number() });
const dueRow = z.object({ event_id: z.string(), epoch: z.number(), name: z.string() });

/**
 * Cancels a run for the first of the events that are due for it. Undefined, with nothing left that is due, if it has
 * ended, or was resumed since.
 */
export async function cancelByEvents(
  db: Pool,
  { runId, alerts }: { runId: string; alerts: boolean },
): Promise<(EndedRun & { row: OutboxRow }) | undefined> {
  return db.transaction(async (tx) => {
    const run = await tx.maybeOne(statement(openRow)`
      SELECT workspace_id, resumed_count AS epoch FROM runs
      WHERE id = ${runId} AND status IN ('pending', 'running', 'paused') FOR UPDATE
    `);
    const due = await tx.any(statement(dueRow)`
      SELECT k.event_id, k.epoch, e.name FROM event_cancels k JOIN events e ON e.id = k.event_id
      WHERE k.run_id = ${runId} AND k.cancelled_at IS NULL AND k.refusal IS NULL
      ORDER BY e.created_at, k.created_at FOR UPDATE OF k
    `);
    const first = due.find(({ epoch }) => epoch === run?.epoch);
    await tx.query(statement(z.object({}))`
      DELETE FROM event_cancels
      WHERE run_id = ${runId} AND cancelled_at IS NULL AND refusal IS NULL AND event_id IS DISTINCT FROM ${first?.event_id ?? null}
    `);
    if (run === null || first === undefined) return undefined;
    await tx.query(statement(z.object({}))`
      UPDATE event_cancels SET cancelled_at = clock_timestamp() WHERE run_id = ${runId} AND event_id = ${first.event_id}
    `);
    const actor = { workspaceId: run.workspace_id, id: null, name: null };
    const event = { id: first.event_id, name: first.name };
    return settleCancelled(tx, {
      actor,
      runId,
      alerts,
      event,
      by: `event '${event.name}' (${event.id})`,
    });
  });
}

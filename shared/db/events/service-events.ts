import { z } from 'zod';
import { serviceEvents } from '#shared/contract/events/reserved-names.ts';
import { newId } from '#shared/crypto/ids.ts';
import { type Db, sql, statement, type Tx } from '#shared/db/pool.ts';
import type { EventName } from '#shared/db/waits/awaited-events.ts';
import { type OutboundEvent, queueEvents } from '#shared/db/webhooks/outbound-events.ts';
import { conflict } from '#shared/errors.ts';
import { depthOf, MAX_KEPT } from './events.ts';

/**
 * Events of the data API for webhook endpoints, and for waits and triggers: one transaction with the change itself.
 * `runId`: the run that makes it. Throws AppError `conflict` when too many events of a name are kept.
 */
export async function announceChanges(
  tx: Tx,
  workspaceId: string,
  events: readonly OutboundEvent[],
  runId: string | null = null,
): Promise<void> {
  await queueEvents(tx, workspaceId, events);
  const live = events.filter(
    ({ type, isDemo }) => isDemo === false && serviceEvents.includes(type),
  );
  if (live.length === 0) return;
  const names = await awaitedNames(tx, workspaceId, [...new Set(live.map(({ type }) => type))]);
  for (const name of names.toSorted()) {
    await storeEvents(
      tx,
      { workspaceId, name, runId },
      live.filter(({ type }) => type === name),
    );
  }
}

const nameRow = z.object({ name: z.string() });

/** The names that an enabled trigger, an open wait, or the graph of an open run has. */
async function awaitedNames(
  tx: Tx,
  workspaceId: string,
  names: readonly string[],
): Promise<string[]> {
  const rows = await tx.any(statement(nameRow)`
    SELECT n.name FROM unnest(${sql.array([...names], 'text')}) AS n (name)
    WHERE EXISTS (SELECT FROM awaited_events a WHERE a.workspace_id = ${workspaceId} AND a.name = n.name)
       OR EXISTS (SELECT FROM graph_events g WHERE g.workspace_id = ${workspaceId} AND g.name = n.name)
      AND EXISTS (
        SELECT FROM (
          SELECT r.id, r.workflow_id, r.workflow_version, r.graph IS NULL AS of_version FROM runs r
          WHERE r.workspace_id = ${workspaceId} AND r.status IN ('pending', 'running', 'paused') OFFSET 0
        ) AS r
        JOIN graph_events g ON g.workspace_id = ${workspaceId} AND g.name = n.name AND (
          g.run_id = r.id OR r.of_version AND g.workflow_id = r.workflow_id AND g.version = r.workflow_version))
  `);
  return rows.map(({ name }) => name);
}

const numberRow = z.object({ seq: z.number(), kept: z.number() });

/** Numbers the events and stores them in this order, and holds the name until the transaction ends. */
async function storeEvents(
  tx: Tx,
  { workspaceId, name, runId }: { workspaceId: string; name: string; runId: string | null },
  events: readonly OutboundEvent[],
): Promise<void> {
  const { seq, kept } = await tx.one(statement(numberRow)`
    WITH next AS (
      INSERT INTO event_names AS n (workspace_id, name, seq) VALUES (${workspaceId}, ${name}, ${events.length})
      ON CONFLICT (workspace_id, name) DO UPDATE SET seq = n.seq + excluded.seq
      RETURNING seq
    )
    SELECT seq, seq - coalesce((SELECT min(e.seq) FROM events e WHERE e.workspace_id = ${workspaceId} AND e.name = ${name}), seq) AS kept
    FROM next
  `);
  if (kept >= MAX_KEPT) {
    throw conflict(
      `At most ${MAX_KEPT} events '${name}' are kept: delete the triggers and end the runs that wait for them, or wait until the oldest are deleted`,
    );
  }
  const rows = events.map(({ data }, place) => ({
    ...{ id: newId('event'), seq: seq - events.length + 1 + place, data },
  }));
  await tx.query(statement(z.object({}))`
    INSERT INTO events (id, workspace_id, name, seq, data, source, run_id, depth)
    SELECT e.id, ${workspaceId}, ${name}, e.seq, e.data, 'data', ${runId}, d.depth
    FROM json_to_recordset(${JSON.stringify(rows)}::json) AS e (id text, seq bigint, data json)
    CROSS JOIN (SELECT ${depthOf(runId)} AS depth) AS d
    ORDER BY e.seq
  `);
}

const behindRow = z.object({ workspace_id: z.string(), name: z.string() });

/** The names of the data API's events of a workspace that were not compared with the waits and triggers yet. */
export const serviceNamesBehind = (db: Db, workspaceId: string): Promise<readonly EventName[]> =>
  db.any(statement(behindRow)`
    SELECT workspace_id, name FROM event_names
    WHERE workspace_id = ${workspaceId} AND name = ANY (${sql.array([...serviceEvents], 'text')}) AND matched < seq
  `);

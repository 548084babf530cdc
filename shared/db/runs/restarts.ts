import { z } from 'zod';
import { recordAudit } from '#shared/db/audit/audit.ts';
import { type Db, type Pool, sql } from '#shared/db/pool.ts';

const nothing = z.object({});

/** How many other sessions use the database. */
export const countOtherSessions = (db: Db): Promise<number> =>
  db.oneFirst(sql.type(z.object({ value: z.number() }))`
    SELECT count(*) AS value FROM pg_stat_activity
    WHERE datname = current_database() AND pid <> pg_backend_pid() AND backend_type = 'client backend'`);

/**
 * The ids of all open runs, and of those whose start may not have reached Temporal: it is in the outbox, or waits for a
 * slot or for the end of a debounce.
 */
export async function listRunsToStart(db: Db): Promise<{ open: string[]; unsent: string[] }> {
  const ids = z.object({ id: z.string(), unsent: z.boolean() });
  const rows = await db.any(sql.type(ids)`
    SELECT id, EXISTS (SELECT FROM outbox WHERE run_id = r.id AND kind = 'start')
        OR EXISTS (SELECT FROM run_places WHERE run_id = r.id AND kind = 'start' AND state IN ('waiting', 'debounced')) AS unsent
    FROM runs r WHERE status IN ('pending', 'running', 'paused')`);
  return {
    open: rows.map(({ id }) => id),
    unsent: rows.flatMap(({ id, unsent }) => (unsent ? [id] : [])),
  };
}

const restarted = z.object({ run_id: z.string(), workspace_id: z.string() });

/**
 * Queues a start from the ledger for every open run whose execution has been ended, in one transaction with an audit
 * entry for each. A run that waits for its slot restarts when it gets it. A run that has not started keeps its start. A
 * failed run also resumes from the ledger, because its history can be of another moment.
 */
export async function queueRestarts(db: Pool): Promise<void> {
  await db.transaction(async (tx) => {
    await tx.query(sql.type(nothing)`SET LOCAL statement_timeout = 0`);
    await tx.query(sql.type(nothing)`
      UPDATE outbox SET payload = json_build_object('n', payload -> 'n'), due_at = now(), leased_until = NULL
      WHERE kind = 'resume'`);
    await tx.query(sql.type(nothing)`
      UPDATE run_places p SET kind = 'resume', payload = json_build_object('n', r.resumed_count)
      FROM runs r
      WHERE r.id = p.run_id AND p.state = 'waiting' AND p.kind <> 'start' AND r.status IN ('pending', 'running', 'paused')`);
    const outboxed = await tx.any(sql.type(restarted)`
      WITH queued AS (
        INSERT INTO outbox (run_id, kind, payload)
        SELECT id, 'resume', json_build_object('n', resumed_count) FROM runs r
        WHERE status IN ('pending', 'running', 'paused')
          AND NOT EXISTS (SELECT FROM outbox o WHERE o.run_id = r.id AND o.kind IN ('start', 'resume'))
          AND NOT EXISTS (SELECT FROM run_places p WHERE p.run_id = r.id AND p.state IN ('waiting', 'debounced'))
        ORDER BY created_at
        RETURNING run_id
      )
      SELECT q.run_id, r.workspace_id FROM queued q JOIN runs r ON r.id = q.run_id ORDER BY r.created_at, r.id`);
    await tx.query(sql.type(nothing)`
      UPDATE runs r SET from_ledger = true, lost_since = NULL, resuming = status <> 'failed' AND (
        EXISTS (SELECT FROM outbox o WHERE o.run_id = r.id AND o.kind = 'resume')
        OR EXISTS (SELECT FROM run_places p WHERE p.run_id = r.id AND p.state = 'waiting' AND p.kind = 'resume'))
      WHERE status IN ('pending', 'running', 'paused', 'failed')
        AND NOT EXISTS (SELECT FROM outbox o WHERE o.run_id = r.id AND o.kind = 'start')
        AND NOT EXISTS (SELECT FROM run_places p WHERE p.run_id = r.id AND p.kind = 'start' AND p.state IN ('waiting', 'debounced'))`);
    for (const { run_id: targetId, workspace_id: workspaceId } of outboxed) {
      const actor = { workspaceId, id: null, name: 'operator' };
      const details = { from: 'ledger' };
      await recordAudit(tx, actor, { action: 'resume', targetType: 'run', targetId, details });
    }
  });
}

import { type Db, type FragmentSqlToken, sql, statement } from '#shared/db/pool.ts';
import { LEASE_MS, type OutboxRow, outboxRow } from '#shared/db/runs/outbox.ts';

/**
 * Limits how many children of a workspace start at the same time. Runs that start runs multiply, and servers and
 * workers would spend their time on this workspace's bookkeeping before that of others. So a child is sent to Temporal
 * only while fewer than this many earlier ones have not begun. The deepest come first, so that few runs are open at a
 * time. Other starts wait in the outbox and never become due on their own.
 *
 * There is no deadlock: a child has no children before it begins, and does not count once it has begun.
 */
export const MOST_PENDING = 4;

const pendingIn = (workspaceId: FragmentSqlToken) => sql.fragment`
  workspace_id = ${workspaceId} AND status = 'pending' AND parent_run_id IS NOT NULL`;

const waiting = sql.fragment`o.kind = 'start' AND o.due_at = 'infinity'`;

/** A CTE that removes the waiting start of `run`, which ends or is deleted, before a resume queues a new one. */
export const noStart = sql.fragment`
  no_start AS (DELETE FROM outbox o USING run WHERE o.run_id = run.id AND ${waiting})`;

/** Leases the waiting starts that can be sent now, including at least the `least` oldest of each workspace. */
export const takeStarts = (db: Db, least: number): Promise<readonly OutboxRow[]> =>
  db.any(statement(outboxRow)`
    UPDATE outbox SET due_at = now(), leased_until = now() + ${LEASE_MS}::int * interval '1 ms'
    WHERE id IN (
      SELECT o.id
      FROM (SELECT DISTINCT workspace_id FROM runs WHERE status = 'pending' AND parent_run_id IS NOT NULL) AS w
      CROSS JOIN LATERAL (
        (SELECT id FROM runs WHERE ${pendingIn(sql.fragment`w.workspace_id`)}
           AND NOT EXISTS (SELECT FROM run_places p WHERE p.run_id = runs.id AND p.state = 'waiting')
         ORDER BY depth DESC, id LIMIT ${MOST_PENDING}::int)
        UNION
        (SELECT r.id FROM runs r JOIN outbox o ON o.run_id = r.id AND ${waiting}
         WHERE ${pendingIn(sql.fragment`w.workspace_id`)} ORDER BY r.id LIMIT ${least}::int)
      ) AS r
      JOIN outbox o ON o.run_id = r.id AND ${waiting}
      FOR UPDATE OF o SKIP LOCKED)
    RETURNING id, run_id, kind, payload, attempts
  `);

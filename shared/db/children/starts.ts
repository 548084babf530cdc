import { type Db, type FragmentSqlToken, sql, statement } from '#shared/db/pool.ts';
import { LEASE_MS, type OutboxRow, outboxRow } from '#shared/db/runs/outbox.ts';

/**
 * Runs that start runs multiply, and servers and workers would do their bookkeeping before that of other workspaces. So a
 * child is sent to Temporal while fewer than so many before it in its workspace have not begun; the deepest come first, so
 * that few runs are open at the same time. The other starts wait in the outbox, and are never due by themselves.
 *
 * What was sent never waits for what was not: a child has no children before it begins, and does not count afterwards.
 */
export const MOST_PENDING = 4;

const pendingIn = (workspaceId: FragmentSqlToken) => sql.fragment`
  workspace_id = ${workspaceId} AND status = 'pending' AND parent_run_id IS NOT NULL`;

const waiting = sql.fragment`o.kind = 'start' AND o.due_at = 'infinity'`;

/** A CTE that removes the waiting start of `run`, which ends or is deleted: what a resume queues comes after it. */
export const noStart = sql.fragment`
  no_start AS (DELETE FROM outbox o USING run WHERE o.run_id = run.id AND ${waiting})`;

/** Leases the waiting starts that can be sent now, and at least the `least` oldest of each workspace. */
export const takeStarts = (db: Db, least: number): Promise<readonly OutboxRow[]> =>
  db.any(statement(outboxRow)`
    UPDATE outbox SET due_at = now(), leased_until = now() + ${LEASE_MS}::int * interval '1 ms'
    WHERE id IN (
      SELECT o.id
      FROM (SELECT DISTINCT workspace_id FROM runs WHERE status = 'pending' AND parent_run_id IS NOT NULL) AS w
      CROSS JOIN LATERAL (
        (SELECT id FROM runs WHERE ${pendingIn(sql.fragment`w.workspace_id`)} ORDER BY depth DESC, id LIMIT ${MOST_PENDING}::int)
        UNION
        (SELECT r.id FROM runs r JOIN outbox o ON o.run_id = r.id AND ${waiting}
         WHERE ${pendingIn(sql.fragment`w.workspace_id`)} ORDER BY r.id LIMIT ${least}::int)
      ) AS r
      JOIN outbox o ON o.run_id = r.id AND ${waiting}
      FOR UPDATE OF o SKIP LOCKED)
    RETURNING id, run_id, kind, payload, attempts
  `);

import { z } from 'zod';
import { type Db, type FragmentSqlToken, sql, statement } from '#shared/db/pool.ts';
import { LEASE_MS, type OutboxRow, outboxRow } from '#shared/db/runs/outbox.ts';
import { noStart } from './starts.ts';

/**
 * A CTE that queues a notice for the parent of `run`, if there is one, so that the parent's step reads the child again.
 * Requires a CTE `run` with the columns of an event. `when` is the condition under which the change concerns the
 * parent.
 */
export const parentNotice = (when: FragmentSqlToken = sql.fragment`true`) => sql.fragment`
  notice AS (
    INSERT INTO outbox (run_id, kind, payload)
    SELECT parent_run_id, 'child', json_build_object('step_key', parent_step_key)
    FROM run WHERE parent_run_id IS NOT NULL AND ${when}
  )`;

/** Leases the notices that are waiting for this run's parent, to send them immediately. */
export async function takeNotices(db: Db, childId: string): Promise<readonly OutboxRow[]> {
  return db.any(statement(outboxRow)`
    UPDATE outbox SET leased_until = now() + ${LEASE_MS}::int * interval '1 ms'
    WHERE id IN (
      SELECT o.id FROM runs c JOIN outbox o ON o.run_id = c.parent_run_id
      WHERE c.id = ${childId} AND o.kind = 'child' AND (o.leased_until IS NULL OR o.leased_until < now())
        AND o.payload ->> 'step_key' = c.parent_step_key
      FOR UPDATE OF o SKIP LOCKED)
    RETURNING id, run_id, kind, payload, attempts
  `);
}

/**
 * Notifies the parents of these runs, which are about to be deleted, and cancels the starts of those that have not
 * begun.
 */
export async function noticeDeletion(db: Db, runIds: readonly string[]): Promise<void> {
  await db.query(statement(z.object({}))`
    WITH run AS (
      SELECT id, parent_run_id, parent_step_key FROM runs WHERE id = ANY(${sql.array([...runIds], 'text')})
    ), ${parentNotice()}, ${noStart}
    SELECT
  `);
}

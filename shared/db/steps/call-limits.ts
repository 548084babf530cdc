import { z } from 'zod';
import { type Db, type Pool, statement, syncCommit } from '#shared/db/pool.ts';
import { LEASE_MS, type OutboxRow, outboxRow } from '#shared/db/runs/outbox.ts';
import type { LimitedCall } from './beginning.ts';

/**
 * The calls that limits of the policies count, and the queues of steps that wait for one. `begin_step_2` and `end_step_2`
 * take and free them.
 */

/** Takes further calls for a claim. Returns false, with none of them taken, if a limit has no free call. */
export async function takeFurtherCalls(
  db: Pool,
  step: { runId: string; workspaceId: string; stepKey: string; claim: string },
  calls: readonly LimitedCall[],
): Promise<boolean> {
  const { taken } = await db.one(statement(
    z.object({ taken: z.boolean(), set_config: z.unknown() }),
  )`
    SELECT ${syncCommit(true)}, t.taken
    FROM take_calls_1(
      run => ${step.runId}, workspace => ${step.workspaceId}, step => ${step.stepKey}, claim => ${step.claim},
      node => '', label => '', calls => ${JSON.stringify(calls)}, waits => false, lease_ms => ${LEASE_MS}) AS t
  `);
  return taken;
}

/** Takes a step out of its queue. Returns the notices for those behind it. */
export const leaveQueue = (
  db: Pool,
  { runId, stepKey }: { runId: string; stepKey: string },
): Promise<readonly OutboxRow[]> =>
  db.transaction(async (tx) => {
    const scope = await tx.maybeOneFirst(statement(z.object({ scope: z.string() }))`
      DELETE FROM call_waits WHERE run_id = ${runId} AND step_key = ${stepKey} RETURNING scope
    `);
    if (scope === null) return [];
    return tx.oneFirst(statement(z.object({ woken: z.array(outboxRow) }))`
      SELECT wake_calls_1(ARRAY[${scope}], ${LEASE_MS}) AS woken
    `);
  });

const DELETED_AT_ONCE = 1_000;

/** Deletes a batch of calls that count no longer, for keys that were not used again. Returns how many. */
export async function deleteOldCalls(db: Pool, workspaceId: string): Promise<number> {
  const { rowCount } = await db.query(statement(z.object({}))`
    DELETE FROM limited_calls WHERE (run_id, step_key, claim, scope) IN (
      SELECT c.run_id, c.step_key, c.claim, c.scope FROM limited_calls c
      WHERE c.workspace_id = ${workspaceId} AND c.taken_at < now() - interval '1 hour'
        AND (c.ended OR NOT EXISTS (SELECT FROM steps s WHERE s.run_id = c.run_id AND s.step_key = c.step_key
                                      AND s.claim = c.claim AND s.claim_until > clock_timestamp()))
      LIMIT ${DELETED_AT_ONCE})
  `);
  return rowCount;
}

/**
 * Lets all steps that wait in a workspace try again, because its limits have changed. The reconciler wakes their
 * executions.
 */
export async function wakeCallWaits(tx: Db, workspaceId: string): Promise<void> {
  await tx.query(statement(z.object({}))`
    WITH waiting AS (
      SELECT run_id, step_key FROM call_waits WHERE workspace_id = ${workspaceId} ORDER BY seq FOR UPDATE SKIP LOCKED
    ), woken AS (
      UPDATE call_waits w SET woken_at = clock_timestamp() FROM waiting g
      WHERE w.run_id = g.run_id AND w.step_key = g.step_key
      RETURNING w.run_id, w.step_key
    )
    INSERT INTO outbox (run_id, kind, payload)
    SELECT run_id, 'waited', json_build_object('step_key', step_key) FROM woken
  `);
}
